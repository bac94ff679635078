/**
 * Carries out one poll: asks, reads, and tells the board how it ended. The one place that catches; it logs a change of
 * state once, and says what happens next.
 */
import type { Logger } from 'pino';
import type { Request } from '../api/client.ts';
import { type Answer, ApiError, type PollFailure, type PollResult } from '../api/errors.ts';
import type { Permit } from '../api/pacer.ts';
import { type ApiName, type Get, type Notes, ReadingError } from '../resources/resource.ts';
import type { Poll, Target } from './plan.ts';
import type { Board, Failure } from './target-states.ts';

/** What polling tells of itself. */
export interface PollObserver {
  polled(kind: string, result: PollResult, durationSeconds: number): void;
  mismatched(kind: string, field: string): void;
  unrecognized(kind: string, field: string): void;
}

/** What asks the API. */
export interface Client {
  get(request: Request, signal: AbortSignal): Promise<unknown>;
}

export interface PollerOptions {
  readonly clientOf: (api: ApiName) => Client;
  readonly board: Board;
  readonly observer: PollObserver;
  readonly log: Logger;
  /** Takes keys out of what the API wrote: an answer may repeat them. */
  readonly redact: (text: string) => string;
  /** Told the ids that a complete listing of a credential has; answers with the targets that it feeds now. */
  readonly onListing: (credential: string, ids: readonly string[]) => readonly Target[];
  /** Unix time. */
  readonly now: () => number;
}

/** The most intervals between two polls of what is refused, absent or not in the plan. */
const maxSlowdown = 10;

/** Errors in a body that will be the same next time: what is asked for is not there, or not paid for. */
const lastingErrorKeys = /^(not_found|invalid_plan_type|feature_not_available)/;

interface Health {
  failing: boolean;
  /** Polls in a row that failed for a reason that will last. */
  lasting: number;
}

interface Failed {
  readonly result: PollFailure;
  readonly message: string;
  readonly answer: Answer;
  /** What the API asked for in Retry-After. A 429 has paused the whole API for it already. */
  readonly retryAfterMs?: number | undefined;
}

/** The most characters of a text of others that are looked at, and that are passed on. */
const maxRead = 2000;
const maxPassedOn = 300;

function describe(error: unknown): Failed {
  if (error instanceof ApiError) {
    const retryAfterMs = error.result === 'server_error' ? error.retryAfterMs : undefined;
    return { result: error.result, message: error.message, answer: error.answer, retryAfterMs };
  }
  if (error instanceof ReadingError) {
    return { result: error.result, message: error.message, answer: { errorKey: error.errorKey } };
  }
  // A fault of the exporter itself. It must not end the process, nor stay unseen.
  const message = `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  return { result: 'schema', message, answer: {} };
}

function willLast({ result, answer }: Failed): boolean {
  return result === 'auth' || result === 'not_found' || lastingErrorKeys.test(answer.errorKey ?? '');
}

function inSeconds(durationMs: number): string {
  return `${Math.round(durationMs / 1000)} s`;
}

export class Poller {
  readonly #options: PollerOptions;
  readonly #health = new Map<string, Health>();

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Whether the poll with this key has come to an end at least once. */
  hasPolled(key: string): boolean {
    return this.#health.has(key);
  }

  isFailing(key: string): boolean {
    return this.#health.get(key)?.failing ?? false;
  }

  /** Whether the last poll failed for a reason that lasts until somebody changes something. */
  awaitsChange(key: string): boolean {
    return (this.#health.get(key)?.lasting ?? 0) > 0;
  }

  /** Forgets the polls that are wanted no more. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#health.keys()) if (!keys.has(key)) this.#health.delete(key);
  }

  /** Polls once. Resolves with how many intervals the next poll may be away; never rejects. */
  async poll(poll: Poll, permit: Permit, signal: AbortSignal): Promise<number> {
    const startedMs = performance.now();
    const took = () => (performance.now() - startedMs) / 1000;
    try {
      const readings = await this.#read(poll, permit, signal);
      this.#succeed(poll, readings, took());
      return 1;
    } catch (error) {
      return signal.aborted ? 1 : this.#fail(poll, describe(error), took());
    } finally {
      permit.release();
    }
  }

  /** The readings that one poll gives, by the key of the target in the listing or of the only one. */
  async #read(poll: Poll, permit: Permit, signal: AbortSignal): Promise<ReadonlyMap<string, unknown>> {
    const { clientOf, observer } = this.#options;
    const { resource, kind, credential, intervalMs } = poll;
    const notes: Notes = {
      mismatch: (field) => observer.mismatched(kind, field),
      unrecognized: (field) => observer.unrecognized(kind, field),
    };
    let first: Permit | undefined = permit;
    const endsAtMs = performance.now() + intervalMs;
    const get: Get = (path) => {
      const budgetMs = endsAtMs - performance.now();
      const request = { path, queue: kind, credential, budgetMs, permit: first };
      first = undefined;
      return clientOf(resource.api).get(request, signal);
    };
    if (resource.mode === 'listing') return await resource.list(get, notes);
    const [target] = poll.targets;
    if (!target) return new Map();
    try {
      return new Map([[idIn(target), await resource.read(get, target.ids, notes)]]);
    } catch (error) {
      const { errorKey } = describe(error).answer;
      if (!resource.empty || !errorKey || !resource.emptyOn.includes(errorKey)) throw error;
      return new Map([[idIn(target), resource.empty()]]);
    }
  }

  #succeed(poll: Poll, readings: ReadonlyMap<string, unknown>, durationSeconds: number): void {
    const { board, observer, log, onListing, now } = this.#options;
    const atMs = now();
    const isListing = poll.resource.mode === 'listing';
    for (const target of isListing ? onListing(poll.credential, [...readings.keys()]) : poll.targets) {
      if (!readings.has(idIn(target))) {
        this.#absent(poll, target, durationSeconds, atMs);
        continue;
      }
      const wasAbsent = board.status(target.key)?.state === 'absent';
      if (wasAbsent) log.info(aboutTarget(target), 'the listing has it again; values are fresh');
      board.succeeded(target, readings.get(idIn(target)), durationSeconds, atMs);
    }
    observer.polled(poll.kind, 'success', durationSeconds);
    const wasFailing = this.#health.get(poll.key)?.failing;
    if (wasFailing) log.info(aboutPoll(poll), 'polls succeed again; values are fresh');
    this.#health.set(poll.key, { failing: false, lasting: 0 });
  }

  #absent(poll: Poll, target: Target, durationSeconds: number, atMs: number): void {
    const { board, log } = this.#options;
    const message = 'the complete listing does not have it';
    if (board.status(target.key)?.state !== 'absent') {
      const next = `its values have left the page; the listing is read again in ${inSeconds(poll.intervalMs)}`;
      log.warn({ ...aboutTarget(target), result: 'not_found', reason: message }, `${message}; ${next}`);
    }
    board.absent(target, { result: 'not_found', message, atMs }, durationSeconds);
  }

  #fail(poll: Poll, failed: Failed, durationSeconds: number): number {
    const { board, observer, log, now } = this.#options;
    const { result, answer } = failed;
    const message = this.#toLine(failed.message);
    observer.polled(poll.kind, result, durationSeconds);
    const failure: Failure = { result, message, atMs: now() };
    for (const target of poll.targets) board.failed(target, failure, durationSeconds);

    const before = this.#health.get(poll.key);
    const lasting = willLast(failed) ? (before?.lasting ?? 0) + 1 : 0;
    const slowdown = Math.min(maxSlowdown, 2 ** Math.max(0, lasting - 1));
    this.#health.set(poll.key, { failing: true, lasting });
    if (!before?.failing) {
      const hasValues = poll.targets.some(({ key }) => board.status(key)?.lastSuccessMs !== undefined);
      const values = hasValues ? 'values stay until they are stale' : 'there are no values yet';
      log.warn(
        {
          ...aboutPoll(poll),
          result,
          reason: message,
          status: answer.status,
          error_key: this.#toLine(answer.errorKey),
          request_id: this.#toLine(answer.requestId),
        },
        `poll failed: ${message}; ${values}, ${whatNext(poll, result, lasting > 0)}`,
      );
    }
    // The next poll is at least half an interval less than the slowdown away.
    return Math.max(
      slowdown,
      failed.retryAfterMs === undefined ? 1 : failed.retryAfterMs / poll.intervalMs + 0.5,
    );
  }

  /** One line without keys and of bounded length: what answers say is not to be trusted. */
  #toLine<Text extends string | undefined>(text: Text): Text | string {
    if (text === undefined) return text;
    const safe = this.#options.redact(text.slice(0, maxRead));
    return safe.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, maxPassedOn);
  }
}

/** What a listing calls the target; the one id of a target that is read alone does as well. */
function idIn(target: Target): string {
  return Object.values(target.ids).join('/');
}

function whatNext({ credential, intervalMs }: Poll, result: PollFailure, isLasting: boolean): string {
  if (result === 'rate_limited') return 'asking again when the pause of its API is over';
  const again = `asking again in ${inSeconds(intervalMs)}`;
  if (result === 'auth') return `${again}, then less and less often until the key of ${credential} changes`;
  return isLasting ? `${again}, then less and less often` : again;
}

function aboutTarget({ kind, ids, name }: Target) {
  return { kind, target: ids, name };
}

function aboutPoll({ kind, credential, resource, targets }: Poll) {
  const [target] = targets;
  const about = resource.mode === 'single' && target ? aboutTarget(target) : { kind, listing_of: credential };
  return { ...about, credential };
}
