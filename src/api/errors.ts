/** The error of a failed request, and what the exporter does about each kind of failure. */

/** The outcomes of a poll: the values of the label `result`. */
export const pollResults = [
  'success',
  'auth',
  'not_found',
  'rate_limited',
  'timeout',
  'network',
  'server_error',
  'rejected',
  'schema',
] as const;
export type PollResult = (typeof pollResults)[number];
export type PollFailure = Exclude<PollResult, 'success'>;

/** Whether a request that failed so is tried again within the poll. */
const retryable: Readonly<Record<PollFailure, boolean>> = {
  /** 401 or 403, or a key that cannot be read: the same key will be refused again. */
  auth: false,
  /** What is asked for is not there. */
  not_found: false,
  /** 429: the whole API is paused first. */
  rate_limited: true,
  /** The deadline passed here, or the API says 408. */
  timeout: true,
  /** No complete answer: refused, reset, closed early, unknown host, TLS. */
  network: true,
  server_error: true,
  /** Any other status that is no success, a redirect among them: the request itself is wrong. */
  rejected: false,
  /** A success whose body is not JSON, too large or encoded wrongly. */
  schema: false,
};

const statuses: Readonly<Record<number, PollFailure>> = {
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  408: 'timeout',
  410: 'not_found',
  429: 'rate_limited',
};

/** What a status other than a success means (reference 7). */
export function failureOf(status: number): PollFailure {
  return statuses[status] ?? (status >= 500 ? 'server_error' : 'rejected');
}

export interface Answer {
  readonly status?: number | undefined;
  /** The API's header `cdn-requestid`, by which the vendor finds the request. */
  readonly requestId?: string | undefined;
  /** The API's own name of the error (reference 2.3). */
  readonly errorKey?: string | undefined;
}

interface ApiErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
}

/** A request that gave no body to read. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly result: PollFailure;
  readonly retryable: boolean;
  readonly answer: Answer;
  /** From the header Retry-After of a failure. */
  readonly retryAfterMs: number | undefined;

  constructor(result: PollFailure, message: string, answer: Answer = {}, options: ApiErrorOptions = {}) {
    super(message, options);
    this.result = result;
    this.retryable = retryable[result];
    this.answer = answer;
    this.retryAfterMs = options.retryAfterMs;
  }
}
