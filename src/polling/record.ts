/** How the polls of a task went. Everything else that is known of them follows from it. */
import type { Spec } from './spec.ts';

/** Why a poll failed, as its record has it. */
export interface Failure {
  /** The value of the label `result`. */
  readonly result: string;
  /** One line, without keys. */
  readonly message: string;
  /** The HTTP status, if there was an answer. */
  readonly status?: number | undefined;
  /** The API's own name of the error. */
  readonly errorKey?: string | undefined;
  /** As in `Answer`. */
  readonly isOfApi?: boolean | undefined;
  /**
   * Why a 401 says nothing of the key. new_key: nothing was ever read with it, so that it may be too new. asking: it may be about the
   * id that was requested, and something else is requested to know. undecided: the same, but what was requested tells nothing.
   */
  readonly doubt?: 'new_key' | 'asking' | 'undecided' | undefined;
  /** What to do about it, as sentences, where more is known than the result. */
  readonly advice?: string | undefined;
  /** Unix time. */
  readonly atMs: number;
  /** When the first failure in a row for this reason was. Unix time. */
  readonly sinceMs: number;
}

const hostFailures: readonly string[] = ['network', 'timeout', 'server_error', 'schema'];

/** Whether the host is to blame rather than what was asked of it. In an outage, one of these failures follows another. */
export function isHostFailure({ result }: Pick<Failure, 'result'>): boolean {
  return hostFailures.includes(result);
}

/** Whether the API refuses the key. A page in HTML with 401 is no answer of the API. */
export function isRefusal({ result, status, doubt }: Failure): boolean {
  return result === 'auth' && status === 401 && doubt === undefined;
}

/** Whether the API answered that the key may not read this, whatever it is about. */
export function isDenial({ result, status }: Pick<Failure, 'result' | 'status'>): boolean {
  return result === 'auth' && (status === 401 || status === 403);
}

/** A 401 of which it is known whose fault it is, or that nothing tells. Of a key that is good, it means that there is no such thing. */
export function withFault(failure: Failure, fault: 'id' | 'key' | 'undecided'): Failure {
  if (fault === 'id') return { ...failure, result: 'not_found', doubt: undefined };
  return {
    ...failure,
    result: 'auth',
    doubt: fault === 'undecided' ? fault : undefined,
    // It was about the id until now.
    sinceMs: failure.result === 'auth' ? failure.sinceMs : failure.atMs,
  };
}

type Bare = Pick<Failure, 'result' | 'status' | 'errorKey' | 'doubt'>;

/** Whether it is a 401 that does not say what it is about. */
export function isBare401<Of extends Bare>(failure: Of | undefined): failure is Of {
  const { result = '', status, errorKey, doubt }: Partial<Bare> = failure ?? {};
  const isOfStatus = result === 'auth' || result === 'not_found';
  return isOfStatus && status === 401 && errorKey === undefined && doubt !== 'new_key';
}

/** Whether a 401 was found to be about an id. */
export function isUnknownId(failure: Failure | undefined): boolean {
  return failure?.result === 'not_found' && failure.status === 401;
}

/** The same text for failures that have the same reason, though their messages may differ. */
function reasonKeyOf(failure: Omit<Failure, 'sinceMs'>): string {
  const { result, status, message } = failure;
  if (isHostFailure(failure)) return 'host';
  if (result === 'auth') return `auth ${status}`;
  return result === 'rate_limited' ? result : `${result} ${message}`;
}

/** The failure after another one, or after a success. */
export function nextFailure(before: Failure | undefined, failure: Omit<Failure, 'sinceMs'>): Failure {
  const isSame = before !== undefined && reasonKeyOf(before) === reasonKeyOf(failure);
  return { ...failure, sinceMs: isSame ? before.sinceMs : failure.atMs };
}

/**
 * Whether the API answered, although the poll failed: a refusal is an answer, too. Undefined if nothing was sent, or if that is not
 * known. A 404 that has no form of the API's errors may come from anything that has taken its address.
 *
 * @param isTransient whether it is a failure on the way to an answer
 */
export function isAnswer(
  { result, status, errorKey, isOfApi }: Pick<Failure, 'result' | 'status' | 'errorKey' | 'isOfApi'>,
  isTransient: boolean,
): boolean | undefined {
  if (isHostFailure({ result })) return isTransient ? false : undefined;
  if (errorKey !== undefined || isOfApi) return true;
  if (status === undefined) return undefined;
  // A 401 is one, also where it turned out to be about an id.
  return status === 401 || (result !== 'not_found' && result !== 'rejected');
}

/** Requests in a row that got no answer, by the machine's uptime. */
export interface Unanswered {
  /** With retries. */
  readonly requests: number;
  /** When the first poll ended with one. */
  readonly sinceMs: number;
}

export interface PollRecord {
  /** When the last success was. Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  /** When the last poll ended, by the machine's uptime; minus infinity before the first. */
  readonly endedMs: number;
  /** Of the last poll; undefined if that succeeded. */
  readonly lastFailure: Failure | undefined;
  /** When the first of the failures in a row was, whatever their reasons, by the machine's uptime; undefined if the last poll succeeded. */
  readonly failingSinceMs: number | undefined;
  /** The failures in a row, with the same key and settings, that a retry does not mend: somebody has to change something. */
  readonly permanentFailures: number;
  /** The failures in a row on the way to an answer. They are tried again soon. */
  readonly transientFailures: number;
  /** When the API last answered, with a reading or a refusal. By the machine's uptime; minus infinity before that. */
  readonly answeredMs: number;
  /** Undefined if the last poll was answered. */
  readonly unanswered: Unanswered | undefined;
  /** The least time until the next poll, as the API asked for it in its last answer. */
  readonly retryAfterMs: number;
  /** When the poll of the last success began, by the machine's uptime; minus infinity before that. */
  readonly readBeganMs: number;
  /** Since when each poll with this key was answered 401 or 403, by the machine's uptime; undefined if the last one was not. */
  readonly deniedSinceMs: number | undefined;
  /** The id of the key that was sent last. What failed with another one says nothing of this one. */
  readonly askedWith: string | undefined;
  /** The id of the key that was sent when it was last read. */
  readonly readWith: string | undefined;
  /** The key that was refused before anything was read here with it, and since when, by the machine's uptime; undefined if there is none. */
  readonly newKey: { readonly keyId: string; readonly sinceMs: number } | undefined;
}

/** What is polled, and how its polls went. */
export interface Polled {
  readonly spec: Pick<Spec, 'api' | 'credential' | 'account'>;
  /** What is requested: the path of its kind or listing. */
  readonly operation: string;
  readonly record: PollRecord;
  /** When it last was to tell whether its API is down, by the machine's uptime. */
  readonly probedMs?: number | undefined;
  /** When it last was to tell whether its account can be read, by the machine's uptime. */
  readonly accountProbedMs?: number | undefined;
  /** Since when the API answers that the plan lacks it. Unix time. */
  readonly lackingSinceMs?: number | undefined;
}

export const neverPolled: PollRecord = {
  lastSuccessMs: undefined,
  lastDurationSeconds: undefined,
  endedMs: Number.NEGATIVE_INFINITY,
  lastFailure: undefined,
  failingSinceMs: undefined,
  permanentFailures: 0,
  transientFailures: 0,
  answeredMs: Number.NEGATIVE_INFINITY,
  unanswered: undefined,
  retryAfterMs: 0,
  readBeganMs: Number.NEGATIVE_INFINITY,
  deniedSinceMs: undefined,
  askedWith: undefined,
  readWith: undefined,
  newKey: undefined,
};

/** Whether a poll has ended, whatever the outcome. */
export function hasEnded({ lastSuccessMs, lastFailure }: PollRecord): boolean {
  return lastSuccessMs !== undefined || lastFailure !== undefined;
}
