/** Carries out one poll and records how it ended. Only this file catches what the handling of an answer throws. */
import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { type Answer, ApiError, type PollFailure, type PollResult } from '../api/errors.ts';
import type { Permit } from '../api/pacer.ts';
import { type Discovered, isExchanged, nameOf } from '../discovery/discovered.ts';
import { type ApiName, type Diagnostics, type Found, type Get, ReadingError } from '../resources/resource.ts';
import { type Redact, safeLine } from '../text.ts';
import { collect } from '../turns.ts';
import { type Loop, neverPolled, nextFailure } from './loop.ts';
import { isCounted, type ListingPoll, type Poll, type ReadPoll, type Target } from './target.ts';
import type { TargetStates } from './target-states.ts';

export interface PollObserver {
  polled(kind: string, result: PollResult, durationSeconds: number): void;
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
  /** A field is not of the type that the reference says. about: as in a log line; expected, received: as in `Diagnostics`. */
  mismatched(about: AboutPoll, field: string, expected?: string, received?: string): void;
  /** The reference does not list this value of a field. */
  unrecognized(about: AboutPoll, field: string, value: string): void;
}

export interface PollerOptions {
  readonly clientOf: (api: ApiName) => Pick<ApiClient, 'get'>;
  readonly states: TargetStates;
  readonly observer: PollObserver;
  readonly log: Logger;
  readonly redact: Redact;
  /** What the last complete run of a listing had. */
  readonly foundBefore: (poll: ListingPoll) => readonly Discovered[] | undefined;
  /** The targets that a poll reads. */
  readonly targetsOf: (poll: Poll) => Iterable<Target>;
  /**
   * Takes over what a complete run of a listing has. The poll fails with what it throws.
   *
   * @param counts whether the run still counts
   */
  readonly onFound: (poll: ListingPoll, found: readonly Found[], counts: () => boolean) => Promise<void>;
  /** Unix time. */
  readonly now: () => number;
}

/** The most intervals between two polls of what fails permanently. */
const maxBackoffFactor = 10;

/** Errors in a body that will be the same next time: it does not exist, or is not paid for. */
const permanentErrorKeys = /^(not_found|invalid_plan_type|feature_not_available)/;

interface Thrown {
  readonly result: PollFailure;
  readonly message: string;
  readonly answer: Answer;
  readonly advice?: string | undefined;
}

function describe(error: unknown): Thrown {
  if (error instanceof ApiError) return error;
  if (error instanceof ReadingError) {
    return { result: error.result, message: error.message, answer: { errorKey: error.errorKey } };
  }
  // A bug in the exporter. It must neither end the process nor go unnoticed.
  const message = `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  return { result: 'schema', message, answer: {} };
}

function isPermanent({ result, answer }: Thrown): boolean {
  return result === 'auth' || result === 'not_found' || permanentErrorKeys.test(answer.errorKey ?? '');
}

export class Poller {
  readonly #options: PollerOptions;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /**
   * Polls once; never rejects. A poll that was stopped, or must be read again, leaves no record. Resolves with how many
   * intervals later the next poll is.
   */
  async poll(loop: Loop, permit: Permit): Promise<number> {
    const { poll } = loop;
    const counts = loop.begin();
    const startedMs = performance.now();
    let endedMs: number | undefined;
    const took = () => ((endedMs ?? performance.now()) - startedMs) / 1000;
    try {
      const get = this.#getFor(poll, permit, loop, counts);
      if (poll.type === 'listing') {
        const found = await this.#discover(poll, get);
        endedMs = performance.now();
        // What follows may wait for another listing, which needs a permit, too.
        permit.release();
        if (counts()) await this.#options.onFound(poll, found, counts);
      } else {
        const beganMs = this.#options.now();
        const reading = await this.#read(poll, get, beganMs);
        if (counts()) this.#keep(poll, poll.key, reading, beganMs);
      }
      if (counts()) this.#succeed(loop, took());
      return 1;
    } catch (error) {
      return counts() ? this.#fail(loop, describe(error), took()) : 1;
    } finally {
      permit.release();
    }
  }

  /** Gives a target its reading from a listing. found: undefined if the complete listing lacks it. */
  deliver(poll: ListingPoll, key: string, found: Found | undefined): void {
    const { states, now } = this.#options;
    const atMs = now();
    if (!found) {
      const message = `target is not in the listing of ${poll.listing.nouns}`;
      states.absent(key, { result: 'not_found', message, atMs });
      return;
    }
    try {
      this.#keep(poll, key, found.reading);
    } catch (error) {
      const { result, message } = describe(error);
      states.failed(key, { result, message: this.#toLine(message), atMs });
    }
  }

  /** Shows a reading. A sample without a finite number is left out, and reported as drift. */
  #keep(poll: Poll, key: string, reading: unknown, beganMs?: number): void {
    const { states, now, observer } = this.#options;
    const onNotFinite = (field: string) =>
      observer.mismatched(aboutPoll(poll), field, 'a finite number', 'a number that is too large');
    states.succeeded(key, reading, now(), onNotFinite, beganMs);
  }

  #diagnosticsOf(poll: Poll): Diagnostics {
    const { observer } = this.#options;
    return {
      mismatch: (...drift) => observer.mismatched(aboutPoll(poll), ...drift),
      unrecognized: (...drift) => observer.unrecognized(aboutPoll(poll), ...drift),
    };
  }

  /** Requests with the permit of the poll, and further pages with others, for one interval at most. */
  #getFor(
    { api, queue, credential, intervalMs }: Poll,
    permit: Permit,
    loop: Loop,
    counts: () => boolean,
  ): Get {
    const client = this.#options.clientOf(api);
    const endsAtMs = performance.now() + intervalMs;
    let held: Permit | undefined = permit;
    return (path) => {
      // The next page might be read with another key.
      if (!counts()) throw new Error('the poll is no longer wanted');
      const budgetMs = endsAtMs - performance.now();
      const request = { path, queue, credential, budgetMs, permit: held, isStopped: () => !counts() };
      held = undefined;
      return client.get(request, loop.signal);
    };
  }

  async #read(poll: ReadPoll, get: Get, nowMs: number): Promise<unknown> {
    const { resource, target } = poll;
    const context = { nowMs, lastBeganMs: this.#options.states.status(target.key)?.lastBeganMs };
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
      const { found, moved } = await listing.discover(get, parent?.ids, this.#diagnosticsOf(poll));
      if (moved !== undefined) throw new ReadingError('schema', moved);
      return await collect(found);
    } catch (error) {
      const { result, answer } = describe(error);
      if (listing.isEmpty?.({ result, errorKey: answer.errorKey })) return [];
      throw error;
    }
  }

  #succeed(loop: Loop, durationSeconds: number): void {
    const { poll, record } = loop;
    const { observer, log, now } = this.#options;
    if (isCounted(poll)) observer.polled(poll.kind, 'success', durationSeconds);
    if (record.lastFailure) log.debug(aboutPoll(poll), 'the poll succeeds again');
    loop.record = { ...neverPolled, lastSuccessMs: now(), lastDurationSeconds: durationSeconds };
  }

  #fail(loop: Loop, thrown: Thrown, durationSeconds: number): number {
    const { poll, record } = loop;
    const { states, observer, log, now, targetsOf } = this.#options;
    const { result, answer } = thrown;
    if (isCounted(poll)) observer.polled(poll.kind, result, durationSeconds);
    const atMs = now();
    const lastFailure = nextFailure(record.lastFailure, {
      result,
      message: this.#toLine(thrown.message),
      status: answer.status,
      errorKey: this.#toLine(answer.errorKey),
      advice: thrown.advice,
      atMs,
    });
    const permanentFailures = isPermanent(thrown) ? record.permanentFailures + 1 : 0;
    loop.record = {
      ...record,
      lastDurationSeconds: durationSeconds,
      lastFailure,
      failingSinceMs: record.failingSinceMs ?? atMs,
      permanentFailures,
    };
    for (const { key } of targetsOf(poll)) states.pollFailed(key);
    const { message, status, errorKey } = lastFailure;
    const fields = {
      result,
      reason: message,
      status,
      error_key: errorKey,
      request_id: this.#toLine(answer.requestId),
    };
    log.debug({ ...aboutPoll(poll), ...fields }, `poll failed: ${message}`);
    const backoffFactor = Math.min(maxBackoffFactor, 2 ** Math.max(0, permanentFailures - 1));
    // After a 429, the whole API is paused anyway.
    const pauseMs = result === 'server_error' ? (answer.retryAfterMs ?? 0) : 0;
    // The next poll may begin a tenth of an interval early.
    return Math.max(backoffFactor, pauseMs / poll.intervalMs + 0.1);
  }

  #toLine<Text extends string | undefined>(text: Text): Text | string {
    return text === undefined ? text : safeLine(text, this.#options.redact);
  }
}

/** The fields of a log line about a poll. */
type AboutPoll = ReturnType<typeof aboutPoll>;

function aboutPoll(poll: Poll) {
  const { kind, credential } = poll;
  if (poll.type === 'read') return { kind, target: poll.target.ids, name: poll.target.name, credential };
  const parent = poll.parent && nameOf(poll.parent);
  return { kind, listing_of: credential, ...(parent === undefined ? {} : { parent }), credential };
}
