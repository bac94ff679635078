/**
 * Carries out one poll: asks, reads, and tells the target states how it ended. The one place that catches; it logs a change
 * of state once, and says what happens next.
 */
import type { Logger } from 'pino';
import type { Request } from '../api/client.ts';
import { type Answer, ApiError, type PollFailure, type PollResult } from '../api/errors.ts';
import type { Permit } from '../api/pacer.ts';
import { type Discovered, idText, isExchanged } from '../discovery/discovered.ts';
import type { ListingPoll } from '../discovery/provider.ts';
import { type ApiName, type Diagnostics, type Found, type Get, ReadingError } from '../resources/resource.ts';
import { collect } from '../turns.ts';
import type { FailureLog } from './failure-log.ts';
import type { KeyCheck } from './key-check.ts';
import type { Loop, PollHealth } from './loop.ts';
import type { Poll, ReadPoll, Target } from './target.ts';
import type { TargetStates } from './target-states.ts';

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
  readonly states: TargetStates;
  readonly observer: PollObserver;
  readonly log: Logger;
  readonly failureLog: FailureLog;
  readonly keyCheck: KeyCheck;
  /** Where the key of a credential comes from, in words: `from $VARIABLE`. */
  readonly keySource: (credential: string) => string;
  /** Whether everything is asked just once (`--once`). */
  readonly isOnce?: boolean | undefined;
  /** Takes keys out of what the API wrote: an answer may repeat them. */
  readonly redact: (text: string) => string;
  /** What the last complete listing had. */
  readonly foundBefore: (poll: ListingPoll) => readonly Discovered[] | undefined;
  /** Unix time. */
  readonly now: () => number;
}

/** What a poll needs of the loop that carries it out. */
export type PollingLoop = Pick<Loop, 'health' | 'signal' | 'isStopped'>;

export interface Outcome {
  /** How many intervals the next poll may be away. */
  readonly backoffFactor: number;
  /** What a listing has, where the poll was one and succeeded. */
  readonly found?: readonly Found[];
  readonly durationSeconds: number;
  /** Whether it got HTTP 404 without a reason: the path may be wrong. */
  readonly isMissing: boolean;
}

/** The most intervals between two polls of what is refused, absent or not in the plan. */
const maxBackoffFactor = 10;

/** Errors in a body that will be the same next time: what is asked for is not there, or not paid for. */
const lastingErrorKeys = /^(not_found|invalid_plan_type|feature_not_available)/;

interface Failed {
  readonly result: PollFailure;
  readonly message: string;
  readonly answer: Answer;
  /** What the API asked for in Retry-After. A 429 has paused the whole API for it already. */
  readonly retryAfterMs?: number | undefined;
}

/** How much of a foreign text is looked at, and how much is passed on. */
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

/** Why a key was refused, and which key is needed. source: where it comes from, in words. */
export function refusedKeyText(credential: string, source: string, api: ApiName, message: string): string {
  const needed =
    api === 'video'
      ? "the library's own key, not the account's, and not the read-only one"
      : "the account's API key";
  return `the key of ${credential} (${source}) was refused: ${message}; it must be ${needed}`;
}

/** Why one thing cannot be read with a key that reads others. */
function notAllowedText(credential: string, api: ApiName, message: string): string {
  const why = api === 'video' ? 'it may be a read-only one' : "it is the plan or the key's rights";
  return `not allowed to read this: ${message}; the key of ${credential} reads other things, so ${why}`;
}

export class Poller {
  readonly #options: PollerOptions;
  /** The fields of each kind that were not as documented, as far as the log has them. */
  readonly #drifted = new Set<string>();

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /**
   * Polls once; never rejects. A failure is that of all its targets, which are asked for when it is known. The readings of
   * a listing are for `deliver`, once its targets are known.
   */
  async poll(
    poll: Poll,
    targets: () => Iterable<Target>,
    loop: PollingLoop,
    permit: Permit,
  ): Promise<Outcome> {
    const { health } = loop;
    const startedMs = performance.now();
    const took = () => (performance.now() - startedMs) / 1000;
    try {
      const get = this.#getFor(poll, permit, loop);
      if (poll.type === 'listing') {
        const found = await this.#discover(poll, get);
        const durationSeconds = took();
        this.#succeed(poll, health, durationSeconds);
        return { backoffFactor: 1, found, durationSeconds, isMissing: false };
      }
      const reading = await this.#read(poll, get);
      const durationSeconds = took();
      const { states, now } = this.#options;
      states.succeeded(poll.target, reading, durationSeconds, now(), this.#notFiniteIn(poll.target));
      this.#succeed(poll, health, durationSeconds);
      return { backoffFactor: 1, durationSeconds, isMissing: false };
    } catch (error) {
      const durationSeconds = took();
      if (loop.isStopped) return { backoffFactor: 1, durationSeconds, isMissing: false };
      const failed = describe(error);
      const { status, errorKey } = failed.answer;
      const backoffFactor = this.#fail(poll, targets(), health, failed, durationSeconds);
      return { backoffFactor, durationSeconds, isMissing: status === 404 && errorKey === undefined };
    } finally {
      permit.release();
    }
  }

  /** Hands a target its reading out of a listing; one that the listing lacks is absent. */
  deliver(poll: ListingPoll, target: Target, found: Found | undefined, durationSeconds: number): void {
    const { states, log, now } = this.#options;
    const wasAbsent = states.status(target.key)?.state === 'absent';
    if (!found) {
      const message = 'the complete listing does not have it';
      if (!wasAbsent) {
        const again = this.#options.isOnce
          ? ''
          : `; its values have left the page; the listing is read again in ${inSeconds(poll.intervalMs)}`;
        log.warn({ ...aboutTarget(target), result: 'not_found', reason: message }, `${message}${again}`);
      }
      const atMs = now();
      const sinceMs = states.status(target.key)?.lastFailure?.sinceMs ?? atMs;
      states.absent(target, { result: 'not_found', message, atMs, sinceMs }, durationSeconds);
      return;
    }
    try {
      states.succeeded(target, found.reading, durationSeconds, now(), this.#notFiniteIn(target));
      if (wasAbsent) log.info(aboutTarget(target), 'the listing has it again; values are fresh');
    } catch (error) {
      const { result, message } = describe(error);
      const reason = this.#toLine(message);
      states.failed(target, { result, message: reason, atMs: now() }, durationSeconds);
      log.error({ ...aboutTarget(target), result, reason }, `its reading cannot be used: ${reason}`);
    }
  }

  #diagnosticsOf(poll: Poll): Diagnostics {
    const { kind } = poll;
    return {
      mismatch: (field, expected, received) =>
        this.#noteDrift(kind, aboutPoll(poll), field, expected, received),
      unrecognized: (field) => this.#options.observer.unrecognized(kind, field),
    };
  }

  /** Told of the API field of a sample that is left out, because its value is no finite number. */
  #notFiniteIn(target: Target): (field: string) => void {
    return (field) =>
      this.#noteDrift(
        target.kind,
        aboutTarget(target),
        field,
        'a finite number',
        'a number that is too large',
      );
  }

  #noteDrift(kind: string, about: object, field: string, expected?: string, received?: string): void {
    const { observer, log } = this.#options;
    observer.mismatched(kind, field);
    const key = `${kind} ${field}`;
    if (this.#drifted.has(key)) return;
    this.#drifted.add(key);
    const how = expected === undefined ? '' : `: expected ${expected}, received ${received}`;
    log.warn(
      { ...about, field, expected, received },
      `the field ${field} is not as documented${how}; its series are left out, here and wherever it is so`,
    );
  }

  /** Asks with the permit that the poll holds, then with one for each further page; for an interval at most. */
  #getFor({ api, queue, credential, intervalMs }: Poll, permit: Permit, loop: PollingLoop): Get {
    const client = this.#options.clientOf(api);
    const endsAtMs = performance.now() + intervalMs;
    let held: Permit | undefined = permit;
    return (path) => {
      // Its further pages may be those of another key by now.
      if (loop.isStopped) throw new Error('it is wanted no more');
      const request = { path, queue, credential, budgetMs: endsAtMs - performance.now(), permit: held };
      held = undefined;
      return client.get(request, loop.signal);
    };
  }

  async #read(poll: ReadPoll, get: Get): Promise<unknown> {
    const { resource, target } = poll;
    const { states, now } = this.#options;
    const context = { nowMs: now(), lastSuccessMs: states.status(target.key)?.lastSuccessMs };
    try {
      return await resource.read(get, target.ids, this.#diagnosticsOf(poll), context);
    } catch (error) {
      const { result, answer } = describe(error);
      if (!resource.empty?.is({ result, errorKey: answer.errorKey })) throw error;
      return resource.empty.reading();
    }
  }

  async #discover(poll: ListingPoll, get: Get): Promise<readonly Found[]> {
    const found = await this.#list(poll, get);
    return isExchanged(this.#options.foundBefore(poll), found) ? this.#list(poll, get) : found;
  }

  async #list(poll: ListingPoll, get: Get): Promise<readonly Found[]> {
    const { listing, parent } = poll;
    try {
      return await collect(await listing.discover(get, parent?.ids, this.#diagnosticsOf(poll)));
    } catch (error) {
      const { result, answer } = describe(error);
      if (listing.isEmpty?.({ result, errorKey: answer.errorKey })) return [];
      throw error;
    }
  }

  #succeed(poll: Poll, health: PollHealth, durationSeconds: number): void {
    const { observer, failureLog, keyCheck } = this.#options;
    if (isCounted(poll)) observer.polled(poll.kind, 'success', durationSeconds);
    keyCheck.succeeded(poll);
    failureLog.succeeded(poll.key, () => aboutPoll(poll));
    health.lastFailure = undefined;
    health.lasting = 0;
  }

  #fail(
    poll: Poll,
    targets: Iterable<Target>,
    health: PollHealth,
    failed: Failed,
    durationSeconds: number,
  ): number {
    const { states, observer, now } = this.#options;
    const { result } = failed;
    if (isCounted(poll)) observer.polled(poll.kind, result, durationSeconds);
    const atMs = now();
    const sinceMs = health.lastFailure?.sinceMs ?? atMs;
    const failure = { result, message: this.#toLine(failed.message), atMs, sinceMs, isKeyRefused: false };
    let hasValues = false;
    for (const target of targets) {
      states.failed(target, failure, durationSeconds);
      hasValues ||= states.status(target.key)?.lastSuccessMs !== undefined;
    }
    health.lastFailure = failure;
    health.lasting = willLast(failed) ? health.lasting + 1 : 0;
    const isLasting = health.lasting > 0;
    this.#explain(poll, failed, (reason, isKeyRefused) => {
      Object.assign(failure, { message: reason, isKeyRefused });
      this.#logFailure(poll, failed, reason, isKeyRefused, hasValues, isLasting);
    });
    const backoffFactor = Math.min(maxBackoffFactor, 2 ** Math.max(0, health.lasting - 1));
    const { retryAfterMs } = failed;
    // The next poll may begin a tenth of an interval early.
    return retryAfterMs === undefined
      ? backoffFactor
      : Math.max(backoffFactor, retryAfterMs / poll.intervalMs + 0.1);
  }

  /** Gives the reason in words: of a 401 or 403 once it is known whether the key is refused as a whole. */
  #explain(poll: Poll, failed: Failed, tell: (reason: string, isKeyRefused: boolean) => void): void {
    const { keyCheck, keySource } = this.#options;
    const { credential, api } = poll;
    const reason = this.#toLine(failed.message);
    if (failed.result !== 'auth') {
      keyCheck.failed(poll);
      tell(reason, false);
      return;
    }
    keyCheck.refused(poll, (isKeyRefused) => {
      // Without a status it was not sent: the key cannot be read.
      if (failed.answer.status === undefined) tell(reason, isKeyRefused);
      else if (isKeyRefused) tell(refusedKeyText(credential, keySource(credential), api, reason), true);
      else tell(notAllowedText(credential, api, reason), false);
    });
  }

  #logFailure(
    poll: Poll,
    failed: Failed,
    reason: string,
    isKeyRefused: boolean,
    hasValues: boolean,
    isLasting: boolean,
  ): void {
    const { failureLog, isOnce } = this.#options;
    const { kind, credential, api } = poll;
    const { result, answer } = failed;
    const isRefused = isKeyRefused && answer.status !== undefined;
    const what = poll.type === 'listing' ? `${kind} listing` : kind;
    const values = hasValues ? 'values stay until they are stale' : 'there are no values yet';
    const next = isOnce ? '' : `; ${values}, ${whatNext(poll, isKeyRefused, result, isLasting)}`;
    failureLog.failed(
      poll.key,
      {
        key: isRefused
          ? `${credential} ${api === 'video'} ${answer.status}`
          : `${what} ${credential} ${result}`,
        what,
        result,
        message: reason,
        fields: isRefused ? { credential } : { kind, credential },
        refused: isRefused ? credential : undefined,
      },
      {
        ...aboutPoll(poll),
        result,
        reason,
        status: answer.status,
        error_key: this.#toLine(answer.errorKey),
        request_id: this.#toLine(answer.requestId),
      },
      `poll failed: ${reason}${next}`,
    );
  }

  /** One line without keys and of bounded length: what answers say is not to be trusted. */
  #toLine<Text extends string | undefined>(text: Text): Text | string {
    if (text === undefined) return text;
    const safe = this.#options.redact(text.slice(0, maxRead));
    return safe.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, maxPassedOn);
  }
}

/** A listing that only finds targets is no poll of a kind. */
export function isCounted(poll: Poll): boolean {
  return poll.type === 'read' || poll.isRead;
}

function whatNext(
  { credential, intervalMs }: Poll,
  isKeyRefused: boolean,
  result: PollFailure,
  isLasting: boolean,
): string {
  if (result === 'rate_limited') return 'asking again when the pause of its API is over';
  const again = `asking again in ${inSeconds(intervalMs)}`;
  if (isKeyRefused) return `${again}, then less and less often until the key of ${credential} changes`;
  return isLasting ? `${again}, then less and less often` : again;
}

function aboutTarget({ kind, ids, name }: Target) {
  return { kind, target: ids, name };
}

function aboutPoll(poll: Poll) {
  const { kind, credential } = poll;
  if (poll.type === 'read') return { ...aboutTarget(poll.target), credential };
  const parent = poll.parent && (poll.parent.name ?? idText(poll.parent.ids));
  return { kind, listing_of: credential, ...(parent === undefined ? {} : { parent }), credential };
}
