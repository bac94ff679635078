/** Carries out one poll and tells the target states how it ended. Only it decides what becomes of what a poll throws. */
import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { type Answer, ApiError, type PollFailure, type PollResult } from '../api/errors.ts';
import type { Permit } from '../api/pacer.ts';
import { type Discovered, idText, isExchanged } from '../discovery/discovered.ts';
import type { ListingPoll } from '../discovery/provider.ts';
import { type ApiName, type Diagnostics, type Found, type Get, ReadingError } from '../resources/resource.ts';
import { collect } from '../turns.ts';
import type { FailureLog } from './failure-log.ts';
import type { KeyCheck } from './key-check.ts';
import type { Loop } from './loop.ts';
import { isCounted, type Poll, type ReadPoll, type Target } from './target.ts';
import type { Failure, TargetStates } from './target-states.ts';

export interface PollObserver {
  polled(kind: string, result: PollResult, durationSeconds: number): void;
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
  mismatched(kind: string, field: string): void;
  /** value: what it is, in one safe line; undefined where more values than can be named were unrecognized before. */
  unrecognized(kind: string, field: string, value: string | undefined): void;
}

export interface PollerOptions {
  readonly clientOf: (api: ApiName) => Pick<ApiClient, 'get'>;
  readonly states: TargetStates;
  readonly observer: PollObserver;
  readonly log: Logger;
  readonly failureLog: FailureLog;
  readonly keyCheck: KeyCheck;
  /** Where the key of a credential comes from, in words: `from $VARIABLE`. */
  readonly keySource: (credential: string) => string;
  /** Whether everything is polled only once (`--once`). */
  readonly isOnce?: boolean | undefined;
  /** Removes keys, which answers may repeat, from the first `maxLength` characters of a text, and cuts off the rest. */
  readonly redact: (text: string, maxLength: number) => string;
  /** What the last complete listing had. */
  readonly foundBefore: (poll: ListingPoll) => readonly Discovered[] | undefined;
  readonly targetsOf: (poll: Poll) => Iterable<Target>;
  /** Unix time. */
  readonly now: () => number;
}

export type PollingLoop = Pick<Loop, 'health' | 'signal' | 'isStopped'>;

export interface Outcome {
  /** How many intervals later the next poll is. */
  readonly backoffFactor: number;
  /** What a listing has, if it succeeded. */
  readonly found?: readonly Found[] | undefined;
}

/** The most intervals between two polls of what is refused or absent. */
const maxBackoffFactor = 10;

/** Errors in a body that will be the same next time: it does not exist, or is not paid for. */
const lastingErrorKeys = /^(not_found|invalid_plan_type|feature_not_available)/;

/** How much of a text from an answer is looked at, and how much is passed on. */
const maxRead = 2000;
const maxPassedOn = 300;

/** How many unrecognized values are named in the log and on the status page. */
const maxNamedValues = 200;

interface Failed {
  readonly result: PollFailure;
  readonly message: string;
  readonly answer: Answer;
}

function describe(error: unknown): Failed {
  if (error instanceof ApiError) return error;
  if (error instanceof ReadingError) {
    return { result: error.result, message: error.message, answer: { errorKey: error.errorKey } };
  }
  // A bug in the exporter. It must neither end the process nor go unnoticed.
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
  /** The fields that the log has already reported, each after its kind. */
  readonly #drifted = new Set<string>();
  /** The unrecognized values that the log has named, in one safe line, by kind, field and value. */
  readonly #namedValues = new Map<string, string>();

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /**
   * Polls once; never rejects. A failure counts for all targets of the poll. The readings of a listing are left to `deliver`,
   * once its targets are known.
   */
  async poll(poll: Poll, loop: PollingLoop, permit: Permit): Promise<Outcome> {
    const startedMs = performance.now();
    const took = () => (performance.now() - startedMs) / 1000;
    try {
      const get = this.#getFor(poll, permit, loop);
      let found: readonly Found[] | undefined;
      if (poll.type === 'listing') found = await this.#discover(poll, get);
      else this.#keep(poll.target, await this.#read(poll, get), took());
      this.#succeed(poll, loop, took());
      return { backoffFactor: 1, found };
    } catch (error) {
      if (loop.isStopped) return { backoffFactor: 1 };
      return { backoffFactor: this.#fail(poll, loop, describe(error), took()) };
    } finally {
      permit.release();
    }
  }

  /** What a listing found could not be taken over. Returns how many intervals later the next poll is. */
  failed(poll: Poll, loop: PollingLoop, error: unknown): number {
    return loop.isStopped ? 1 : this.#fail(poll, loop, describe(error), 0);
  }

  /** Gives a target its reading from a listing. found: undefined if it is absent. */
  deliver(poll: ListingPoll, target: Target, found: Found | undefined, durationSeconds = 0): void {
    const { states, log, now, isOnce } = this.#options;
    const before = states.status(target.key);
    const wasAbsent = before?.state === 'absent';
    if (!found) {
      const message = 'the complete listing does not have it';
      const again = `; its values have left the page; the listing is read again in ${inSeconds(poll.intervalMs)}`;
      if (!wasAbsent)
        log.warn(
          { ...aboutTarget(target), result: 'not_found', reason: message },
          `${message}${isOnce ? '' : again}`,
        );
      const atMs = now();
      const sinceMs = before?.lastFailure?.sinceMs ?? atMs;
      states.absent(target, { result: 'not_found', message, atMs, sinceMs }, durationSeconds);
      return;
    }
    try {
      this.#keep(target, found.reading, durationSeconds);
      if (wasAbsent) log.info(aboutTarget(target), 'the listing has it again; values are fresh');
    } catch (error) {
      const { result, message } = describe(error);
      const reason = this.#toLine(message);
      states.failed(target, { result, message: reason, atMs: now() }, durationSeconds);
      log.error({ ...aboutTarget(target), result, reason }, `its reading cannot be used: ${reason}`);
    }
  }

  /** A sample without a finite number is left out, and reported as drift. */
  #keep(target: Target, reading: unknown, durationSeconds: number): void {
    const { states, now } = this.#options;
    states.succeeded(target, reading, durationSeconds, now(), (field) =>
      this.#noteDrift(
        target.kind,
        aboutTarget(target),
        field,
        'a finite number',
        'a number that is too large',
      ),
    );
  }

  #diagnosticsOf(poll: Poll): Diagnostics {
    const { kind } = poll;
    return {
      mismatch: (field, expected, received) =>
        this.#noteDrift(kind, aboutPoll(poll), field, expected, received),
      unrecognized: (field, value) => this.#noteUnrecognized(kind, aboutPoll(poll), field, value),
    };
  }

  #noteUnrecognized(kind: string, about: object, field: string, given: string): void {
    const { observer, log } = this.#options;
    const key = `${kind} ${field} ${given.slice(0, maxRead)}`;
    let value = this.#namedValues.get(key);
    if (value === undefined && this.#namedValues.size < maxNamedValues) {
      value = this.#toLine(given);
      this.#namedValues.set(key, value);
      log.warn(
        { ...about, field, value },
        `the API reference does not list this value of ${field}: ${value}`,
      );
    }
    observer.unrecognized(kind, field, value);
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

  /** Asks with the permit of the poll, and for further pages with others, for one interval at most. */
  #getFor({ api, queue, credential, intervalMs }: Poll, permit: Permit, loop: PollingLoop): Get {
    const client = this.#options.clientOf(api);
    const endsAtMs = performance.now() + intervalMs;
    let held: Permit | undefined = permit;
    return (path) => {
      // The next page might be read with another key.
      if (loop.isStopped) throw new Error('it is no longer wanted');
      const request = {
        path,
        queue,
        credential,
        budgetMs: endsAtMs - performance.now(),
        permit: held,
        isStopped: () => loop.isStopped,
      };
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
      if (!resource.isEmpty?.({ result, errorKey: answer.errorKey })) throw error;
      return resource.nothing;
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

  #succeed(poll: Poll, { health }: PollingLoop, durationSeconds: number): void {
    const { observer, failureLog, keyCheck, now } = this.#options;
    if (isCounted(poll)) observer.polled(poll.kind, 'success', durationSeconds);
    keyCheck.succeeded(poll);
    failureLog.succeeded(poll.key, () => aboutPoll(poll));
    health.lastSuccessMs = now();
    health.lastDurationSeconds = durationSeconds;
    health.lastFailure = undefined;
    health.lasting = 0;
    health.isMissing = false;
  }

  /** Returns how many intervals later the next poll is. */
  #fail(poll: Poll, { health }: PollingLoop, failed: Failed, durationSeconds: number): number {
    const { states, observer, now, targetsOf } = this.#options;
    const { result, answer } = failed;
    if (isCounted(poll)) observer.polled(poll.kind, result, durationSeconds);
    const atMs = now();
    const sinceMs = health.lastFailure?.sinceMs ?? atMs;
    const failure = { result, message: this.#toLine(failed.message), atMs, sinceMs, isKeyRefused: false };
    let hasValues = false;
    for (const target of targetsOf(poll)) {
      states.failed(target, failure, durationSeconds);
      hasValues ||= states.status(target.key)?.lastSuccessMs !== undefined;
    }
    health.lastFailure = failure;
    health.lasting = willLast(failed) ? health.lasting + 1 : 0;
    health.isMissing = answer.status === 404 && answer.errorKey === undefined;
    const { lasting } = health;
    const values = hasValues ? 'values stay until they are stale' : 'there are no values yet';
    const explain = (isKeyRefused: boolean) => {
      failure.isKeyRefused = isKeyRefused;
      failure.message = this.#reasonOf(poll, failed, isKeyRefused);
      this.#logFailure(poll, failed, failure, `${values}, ${whatNext(poll, failure, lasting > 0)}`);
    };
    // Whether it is the key is often only known when other polls have ended.
    if (result === 'auth') this.#options.keyCheck.refused(poll, explain);
    else {
      this.#options.keyCheck.failed(poll);
      explain(false);
    }
    const backoffFactor = Math.min(maxBackoffFactor, 2 ** Math.max(0, lasting - 1));
    // After a 429, the whole API is paused anyway.
    const pauseMs = result === 'server_error' ? (answer.retryAfterMs ?? 0) : 0;
    // The next poll may begin a tenth of an interval early.
    return Math.max(backoffFactor, pauseMs / poll.intervalMs + 0.1);
  }

  /** Why it failed, and what to do if it is the key or its rights. */
  #reasonOf({ credential, api }: Poll, failed: Failed, isKeyRefused: boolean): string {
    const reason = this.#toLine(failed.message);
    // Without a status nothing was sent: the key cannot be read.
    if (failed.result !== 'auth' || failed.answer.status === undefined) return reason;
    const isVideo = api === 'video';
    if (!isKeyRefused) {
      const why = isVideo ? 'it may be a read-only one' : "it is the plan or the key's rights";
      return `not allowed to read this: ${reason}; the key of ${credential} reads other things, so ${why}`;
    }
    const ofLibrary = "the library's own key, not the account's, and not the read-only one";
    const needed = isVideo ? ofLibrary : "the account's API key";
    const source = this.#options.keySource(credential);
    return `the key of ${credential} (${source}) was refused: ${reason}; it must be ${needed}`;
  }

  #logFailure(poll: Poll, { answer }: Failed, failure: Failure, next: string): void {
    const { failureLog, isOnce } = this.#options;
    const { kind, credential, api } = poll;
    const { status } = answer;
    const { result, message, isKeyRefused } = failure;
    const isRefused = isKeyRefused && status !== undefined;
    const what = poll.type === 'listing' ? `${kind} listing` : kind;
    const group = isRefused
      ? { key: `${credential} ${api === 'video'} ${status}`, fields: { credential }, refused: credential }
      : { key: `${what} ${credential} ${result}`, fields: { kind, credential } };
    const fields = {
      ...aboutPoll(poll),
      result,
      reason: message,
      status,
      error_key: this.#toLine(answer.errorKey),
      request_id: this.#toLine(answer.requestId),
    };
    const line = `poll failed: ${message}${isOnce ? '' : `; ${next}`}`;
    failureLog.failed(poll.key, { ...group, what, result, message }, fields, line);
  }

  /** One line without keys and of bounded length: what answers say is not to be trusted. */
  #toLine<Text extends string | undefined>(text: Text): Text | string {
    if (text === undefined) return text;
    const safe = this.#options.redact(text, maxRead);
    return safe.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, maxPassedOn);
  }
}

function whatNext({ credential, intervalMs }: Poll, failure: Failure, isLasting: boolean): string {
  if (failure.result === 'rate_limited') return 'asking again when the pause of its API is over';
  const again = `asking again in ${inSeconds(intervalMs)}`;
  if (!isLasting) return again;
  const until = failure.isKeyRefused ? ` until the key of ${credential} changes` : '';
  return `${again}, then less and less often${until}`;
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
