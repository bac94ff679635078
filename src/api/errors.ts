/**
 * The ways in which a request can fail. They differ by what the exporter does next: `retryable` ones are tried again
 * within the poll; a refused key and an absent target are asked less and less often; a 429 pauses the whole API.
 */

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

export interface Answer {
  readonly status?: number | undefined;
  /** The API's header `cdn-requestid`, by which the vendor finds the request. */
  readonly requestId?: string | undefined;
  /** The API's own name of the error (reference 2.3). */
  readonly errorKey?: string | undefined;
}

/** A request that gave no body to read. */
export abstract class ApiError extends Error {
  abstract readonly result: PollFailure;
  abstract readonly retryable: boolean;
  readonly answer: Answer;

  constructor(message: string, answer: Answer = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.answer = answer;
  }
}

/** 401 or 403, or a key that cannot be read: the same key will be refused again. */
export class KeyRefusedError extends ApiError {
  readonly result = 'auth';
  readonly retryable = false;
}

/** 404 or 410: what is asked for is not there. */
export class AbsentError extends ApiError {
  readonly result = 'not_found';
  readonly retryable = false;
}

/** 429: asking anything more would make it worse. */
export class RateLimitedError extends ApiError {
  readonly result = 'rate_limited';
  readonly retryable = true;
  /** From the header Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, answer: Answer, retryAfterMs: number | undefined) {
    super(message, answer);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The deadline passed here, or the API says 408. */
export class DeadlineError extends ApiError {
  readonly result = 'timeout';
  readonly retryable = true;
}

/** No whole answer came: refused, reset, closed early, unknown host, TLS. */
export class ConnectionError extends ApiError {
  readonly result = 'network';
  readonly retryable = true;
}

/** 5xx. */
export class ServerFailureError extends ApiError {
  readonly result = 'server_error';
  readonly retryable = true;
  /** From the header Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, answer: Answer, retryAfterMs: number | undefined) {
    super(message, answer);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Another status that is no success, a redirect among them: the request itself is wrong. */
export class RequestRejectedError extends ApiError {
  readonly result = 'rejected';
  readonly retryable = false;
}

/** A success whose body is no JSON, too large or coded wrongly. */
export class UnreadableBodyError extends ApiError {
  readonly result = 'schema';
  readonly retryable = false;
}
