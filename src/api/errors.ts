/** The error of a failed request, and which failures are retried. */
import { ReadingError } from '../resources/fields.ts';
import { andList } from '../text.ts';

/** Why a request can fail, and whether the poll retries it. */
const retryable = {
  /** 401, 403, or a key that cannot be read. */
  auth: false,
  /** The API answered 404 or 410: it has no such thing. */
  not_found: false,
  /** 429, which also pauses the key at that API. */
  rate_limited: true,
  /** Our deadline passed, or the API answered 408. */
  timeout: true,
  /** No complete answer: connection refused, reset or closed early, unknown host, TLS. */
  network: true,
  server_error: true,
  /** Any other status, redirects included: the request itself is wrong. */
  rejected: false,
  /** A 2xx whose body is not JSON, too large or wrongly encoded; or what answered is no API. */
  schema: false,
};
export type PollFailure = keyof typeof retryable;
/** The label `result`. */
export type PollResult = 'success' | PollFailure;

const failures = Object.keys(retryable) as readonly PollFailure[];
export const pollResults: readonly PollResult[] = ['success', ...failures];

const statuses: Readonly<Record<number, PollFailure>> = {
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  408: 'timeout',
  410: 'not_found',
  429: 'rate_limited',
};

/** What a status other than 2xx means. */
export function resultOfStatus(status: number): PollFailure {
  return statuses[status] ?? (status >= 500 ? 'server_error' : 'rejected');
}

export interface Answer {
  readonly status?: number | undefined;
  /** The header `cdn-requestid`, by which the vendor can find the request. */
  readonly requestId?: string | undefined;
  /** The API's own name for the error, such as `pullZone.not_found`. */
  readonly errorKey?: string | undefined;
  /** Whether the API itself refuses what was asked, by the form of the body: nothing else on the way answers so. */
  readonly isOfApi?: boolean | undefined;
  /** From the header Retry-After. */
  readonly retryAfterMs?: number | undefined;
}

export interface ApiErrorOptions extends ErrorOptions {
  /** What to do about it, as sentences, where more is known than the result. The message says only what happened. */
  readonly advice?: string | undefined;
  /** Whether the failure is one on the way to an answer, where that is not what the result says. */
  readonly isTransient?: boolean | undefined;
}

/** What to check, as a sentence; undefined if it is nothing. */
export function checkAdvice(...things: readonly string[]): string | undefined {
  return things.length === 0 ? undefined : `Check ${andList(things)}.`;
}

/** A request that returned no usable body. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly result: PollFailure;
  readonly retryable: boolean;
  /** Whether the API gave no answer that says something: then the next poll comes soon. */
  readonly isTransient: boolean;
  readonly answer: Answer;
  readonly advice: string | undefined;
  /** How many requests failed: the first one, and its retries. */
  requests = 1;

  constructor(result: PollFailure, message: string, answer: Answer = {}, options: ApiErrorOptions = {}) {
    super(message, options);
    this.result = result;
    this.retryable = retryable[result];
    this.isTransient = options.isTransient ?? this.retryable;
    this.answer = answer;
    this.advice = options.advice;
  }
}

/** The body has more than max_response_bytes, or more values than go with that. `pages.ts` then requests fewer elements. */
export class TooLargeError extends ApiError {
  readonly isTooLarge = true;

  constructor(message: string, answer: Answer) {
    super('schema', message, answer, { advice: 'Raise max_response_bytes of this API.' });
  }
}

/** Whether a failure says nothing about what was requested, so that the same request may succeed later. */
export function isRetryable(result: PollFailure): boolean {
  return retryable[result];
}

/** What is known of something that was thrown. */
export type Thrown = Pick<ApiError, 'result' | 'message' | 'answer'> &
  Partial<Pick<ApiError, 'isTransient' | 'requests' | 'advice'>>;

/** How a request or a reading failed; undefined for what is no failure of either, such as a bug. */
export function failureIn(error: unknown): Thrown | undefined {
  if (error instanceof ApiError) return error;
  if (!(error instanceof ReadingError)) return undefined;
  return { result: error.result, message: error.message, answer: { errorKey: error.errorKey } };
}
