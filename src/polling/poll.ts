/** Reads what a task polls, shows readings, and records how a poll ended. Knows neither the plan nor the timetable. */
import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { failureIn, type PollResult, type Thrown } from '../api/errors.ts';
import type { Permit } from '../api/pacer.ts';
import { isNotInPlan } from '../resources/envelope.ts';
import {
  type ApiName,
  type Diagnostics,
  type FailureOf,
  type Found,
  type Get,
  isReadAlone,
  type Readings,
  type UntoldDay,
} from '../resources/resource.ts';
import { safeLine } from '../text.ts';
import { collect } from '../turns.ts';
import { isKeyGood, mayBeAboutId } from './doubts.ts';
import { isExchanged, nameOf } from './listed-things.ts';
import {
  isAnswer,
  isBare401,
  isDenial,
  isHostFailure,
  neverPolled,
  nextFailure,
  type PollRecord,
} from './record.ts';
import { newKeyMs } from './schedule.ts';
import { addressOf, hasPollMetrics, isFoundKey, type Spec, type Target } from './spec.ts';
import type { TargetTask, Task } from './target-task.ts';
import type { ListingTask } from './task.ts';

export interface PollObserver {
  polled(kind: string, result: PollResult, durationSeconds: number): void;
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
  /** A field is not of the type that the API documents. about: as in a log line; expected, received: as in `Diagnostics`. */
  mismatched(about: AboutPoll, field: string, expected?: string, received?: string): void;
  /** The reference does not list this value of a field. */
  unrecognized(about: AboutPoll, field: string, value: string): void;
}

interface Dated {
  /** When it was answered, by the clock of the API; undefined where that does not say so. Unix time. */
  sentAtMs?: number;
}

/** What one run of a listing had. */
export interface Run extends Readonly<Dated> {
  readonly found: readonly Found[];
  /** What it says of its parent. */
  readonly about?: unknown;
  /** Whether the listing changed while it was read: then it may have more than was found. */
  readonly isMoved: boolean;
  /** Whether the plan lacks all of it. */
  readonly isNotInPlan?: true;
  /** Unix time. */
  readonly beganUnixMs: number;
}

export interface PollerOptions {
  readonly clientOf: (api: ApiName) => Pick<ApiClient, 'get'>;
  readonly observer: PollObserver;
  readonly log: Logger;
  /** Unix time. */
  readonly now: () => number;
  /** A clock that goes on while the machine sleeps. */
  readonly uptimeMs: () => number;
  /** Whether a failure with this status means that the account lacks the product of a target. */
  readonly lacksProduct: (task: TargetTask, status: number | undefined) => boolean;
  /** Whether everything is polled only once: then nothing waits for what may be better in a while. Default false. */
  readonly pollsOnce?: boolean | undefined;
}

/** What one read of a target had. */
export interface TargetReading extends Readings, Readonly<Dated> {
  /** Unix time. */
  readonly beganUnixMs: number;
  /** Whether the plan lacks it, or the account lacks the product. */
  readonly isNotInPlan?: true;
  /** Whether that is only told by a refusal, which says nothing good of the key. */
  readonly isDenied?: true;
}

/** How a poll began. */
export interface Begun {
  /** When, by the machine's uptime. */
  readonly startedMs: number;
  /** The id that its key had then. */
  readonly keyId: string;
}

/** How a task is read. */
export interface ReadOptions {
  /** For the first request; undefined if the client has to ask for one. */
  readonly permit: Permit | undefined;
  /** Whether the client retries nothing. */
  readonly withoutRetries: boolean;
}

/** Errors in a body that will be the same next time: it does not exist, or is not paid for. */
const permanentErrorKeys = /^(not_found|invalid_plan_type|feature_not_available)/;

function describe(error: unknown): Thrown {
  const failure = failureIn(error);
  if (failure) return failure;
  // A bug in the exporter. It must neither end the process nor go unnoticed.
  const message = `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  return { result: 'schema', message, answer: {} };
}

/** What a kind knows of a failure. */
function failureForKind(error: unknown): FailureOf {
  const { result, answer } = describe(error);
  return { result, errorKey: answer.errorKey };
}

function isPermanent({ result, answer }: Thrown): boolean {
  return result === 'auth' || result === 'not_found' || permanentErrorKeys.test(answer.errorKey ?? '');
}

export class Poller {
  readonly #options: PollerOptions;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Reads a target. Rejects if it cannot be read, or if the poll no longer counts. */
  async read(task: TargetTask, options: ReadOptions, signal: AbortSignal): Promise<TargetReading> {
    const { spec } = task;
    const { resource, ids } = spec;
    if (!isReadAlone(resource)) throw new Error(`${spec.key} is not read alone`);
    const beganUnixMs = this.#options.now();
    const dated: Dated = {};
    const get = this.#getFor(spec, options, signal, dated);
    try {
      const context = task.contextAt(beganUnixMs);
      return {
        ...(await resource.read(get, ids, this.#diagnosticsOf(spec), context)),
        beganUnixMs,
        ...dated,
      };
    } catch (error) {
      const failure = failureForKind(error);
      const nothing = { shown: resource.nothing, counted: [{ reading: resource.nothing }], beganUnixMs };
      if (isNotInPlan(resource, failure)) return { ...nothing, isNotInPlan: true };
      if (this.#options.lacksProduct(task, describe(error).answer.status))
        return { ...nothing, isNotInPlan: true, isDenied: true };
      if (!resource.isEmpty?.(failure)) throw error;
      return nothing;
    }
  }

  /** Reads a listing to its end; once more if it has as many things as before, but others. Rejects as `read` does. */
  async list({ spec, snapshot }: ListingTask, options: ReadOptions, signal: AbortSignal): Promise<Run> {
    const dated: Dated = {};
    const get = this.#getFor(spec, options, signal, dated);
    const run = await this.#list(spec, get);
    const isAgain = !run.isMoved && isExchanged(snapshot?.entries, run.found);
    return { ...(isAgain ? await this.#list(spec, get) : run), ...dated };
  }

  /** Gives a target its reading from a run of a listing. found: undefined if it is missing from the complete listing. */
  deliver(
    task: TargetTask,
    { spec }: ListingTask,
    found: Pick<Found, 'reading'> | undefined,
    { beganUnixMs, sentAtMs, isNotInPlan }: Pick<Run, 'beganUnixMs' | 'sentAtMs' | 'isNotInPlan'>,
  ): void {
    const atMs = this.#options.now();
    if (isNotInPlan) {
      this.#lack(task);
      return;
    }
    if (!found) {
      const message = `target is not in the listing of ${spec.listing.nouns}`;
      task.absent({ result: 'not_found', message, atMs });
      return;
    }
    try {
      const { reading } = found;
      this.show(task, { shown: reading, counted: [{ reading }], beganUnixMs, ...(sentAtMs && { sentAtMs }) });
    } catch (error) {
      const { result, message } = describe(error);
      task.failed({ result, message: safeLine(message), atMs });
    }
  }

  /** Shows a reading. A sample without a finite number is left out, and reported as drift. Throws if it cannot be shown. */
  show(task: TargetTask, { beganUnixMs, sentAtMs, isNotInPlan, ...readings }: TargetReading): void {
    if (isNotInPlan) {
      this.#lack(task);
      return;
    }
    const { now, uptimeMs, observer, log } = this.#options;
    const times = { beganUnixMs, sentAtMs, atMs: now(), uptimeMs: uptimeMs() };
    const lost = task.succeeded(readings, times, (field) =>
      observer.mismatched(
        aboutPoll(task.poller.spec),
        field,
        'a finite number',
        'a number that is too large',
      ),
    );
    if (lost.length > 0) log.warn(aboutPoll(task.spec), lostText(task.spec, lost));
  }

  /** The plan lacks a target. That is logged once of each that had figures. */
  #lack(task: TargetTask): void {
    const { now, uptimeMs, log } = this.#options;
    const isNew = task.lastSuccessMs !== undefined && task.lackingSinceMs === undefined;
    task.lacks(now(), uptimeMs());
    const { spec } = task;
    if (isNew)
      log.warn(
        aboutPoll(spec),
        `the plan of ${nameOf(spec)} does not include ${spec.resource.noun}: its series end until it does`,
      );
  }

  /** Notes whether the plan lacks what is listed below a thing, and logs that once of each that had something. */
  noteLacking(task: ListingTask, run: Run): void {
    const { spec, lackingSinceMs, snapshot } = task;
    task.lackingSinceMs = run.isNotInPlan && (lackingSinceMs ?? run.beganUnixMs);
    if (!run.isNotInPlan || lackingSinceMs !== undefined || !snapshot?.entries.length) return;
    const of = spec.parent ? nameOf(spec.parent) : spec.account;
    this.#options.log.warn(
      aboutPoll(spec),
      `the plan of ${of} does not include ${spec.listing.nouns}: their series end until it does`,
    );
  }

  #diagnosticsOf(spec: Spec): Diagnostics {
    const { observer } = this.#options;
    return {
      mismatch: (...drift) => observer.mismatched(aboutPoll(spec), ...drift),
      unrecognized: (...drift) => observer.unrecognized(aboutPoll(spec), ...drift),
    };
  }

  #getFor(spec: Spec, { permit, withoutRetries }: ReadOptions, signal: AbortSignal, dated: Dated = {}): Get {
    const client = this.#options.clientOf(spec.api);
    const address = addressOf(spec);
    const endsAtMs = this.#options.pollsOnce ? Number.POSITIVE_INFINITY : performance.now() + spec.intervalMs;
    let held = permit;
    return (path, { withoutRetries: once = false } = {}) => {
      // The next page might be read with another key.
      signal.throwIfAborted();
      const budgetMs = endsAtMs - performance.now();
      const request = {
        ...address,
        path,
        budgetMs,
        withoutRetries: withoutRetries || once,
        permit: held,
        onDated: (sentAtMs: number) => {
          dated.sentAtMs = sentAtMs;
        },
      };
      held = undefined;
      return client.get(request, signal);
    };
  }

  /** See {@link isKeyGood}. Never rejects. */
  async isKeyGood(spec: Spec, signal: AbortSignal): Promise<boolean | undefined> {
    const get = this.#getFor(spec, { permit: undefined, withoutRetries: false }, signal);
    return await isKeyGood(spec, get, this.#options.now());
  }

  async #list(spec: ListingTask['spec'], get: Get): Promise<Run> {
    const { listing, parent } = spec;
    const beganUnixMs = this.#options.now();
    try {
      const { found, about, moved } = await listing.discover(
        get,
        parent?.ids,
        this.#diagnosticsOf(spec),
        beganUnixMs,
      );
      if (moved !== undefined) this.#options.log.debug(aboutPoll(spec), moved);
      return { found: await collect(found), about, isMoved: moved !== undefined, beganUnixMs };
    } catch (error) {
      const failure = failureForKind(error);
      const nothing = { found: [], isMoved: false, beganUnixMs };
      if (isNotInPlan(listing, failure)) return { ...nothing, isNotInPlan: true };
      if (!listing.isEmpty?.(failure)) throw error;
      return nothing;
    }
  }

  /**
   * Records that a poll succeeded.
   *
   * @param isRead whether anything was read with the key
   * @param durationSeconds until its last answer
   */
  succeeded(task: Task, { startedMs, keyId }: Begun, isRead: boolean, durationSeconds: number): void {
    const { spec, record } = task;
    const { observer, log, now, uptimeMs } = this.#options;
    if (hasPollMetrics(spec)) observer.polled(spec.kind, 'success', durationSeconds);
    if (record.lastFailure) log.debug(aboutPoll(spec), 'the poll succeeds again');
    const endedMs = uptimeMs();
    task.record = {
      ...neverPolled,
      lastSuccessMs: now(),
      lastDurationSeconds: durationSeconds,
      endedMs,
      answeredMs: endedMs,
      readBeganMs: isRead ? startedMs : Number.NEGATIVE_INFINITY,
      askedWith: keyId,
      readWith: keyId,
    };
  }

  /** Which key was refused before anything was read with it, and since when. */
  #newKey({ spec, record }: Task, keyId: string, isRefused: boolean): PollRecord['newKey'] {
    const { pollsOnce = false, uptimeMs } = this.#options;
    if (pollsOnce || !isFoundKey(spec.credential) || record.readWith === keyId) return undefined;
    if (record.newKey?.keyId === keyId) return record.newKey;
    return isRefused ? { keyId, sinceMs: uptimeMs() } : undefined;
  }

  /** Records that a poll failed with this error. */
  failed(task: Task, { keyId }: Begun, error: unknown, durationSeconds: number): void {
    const { spec, record } = task;
    const { observer, log, now, uptimeMs } = this.#options;
    const thrown = describe(error);
    const { result, answer, isTransient = false, requests = 1 } = thrown;
    const isRefused = result === 'auth' && answer.status === 401;
    const newKey = this.#newKey(task, keyId, isRefused);
    const isNewKey = isRefused && newKey !== undefined && uptimeMs() < newKey.sinceMs + newKeyMs;
    const isBare = isRefused && !isNewKey && answer.errorKey === undefined && mayBeAboutId(spec);
    const isSameKey = record.askedWith === keyId;
    // A 401 after another one with the same key is taken to be about the same, until something tells what it is about.
    const before = isBare && isSameKey && isBare401(record.lastFailure) ? record.lastFailure : undefined;
    if (hasPollMetrics(spec)) observer.polled(spec.kind, result, durationSeconds);
    const atMs = now();
    // What was answered to another key does not say since when this one is.
    const isRow = isSameKey || (record.lastFailure && isHostFailure(record.lastFailure));
    const lastFailure = nextFailure(isRow ? record.lastFailure : undefined, {
      result: before?.result ?? result,
      message: safeLine(thrown.message),
      status: answer.status,
      errorKey: answer.errorKey && safeLine(answer.errorKey),
      isOfApi: answer.isOfApi,
      advice: thrown.advice,
      doubt: isNewKey ? 'new_key' : before ? before.doubt : isBare ? 'asking' : undefined,
      atMs,
    });
    const isAsBefore = isSameKey && record.lastFailure?.status === answer.status;
    const earlierFailures = isSameKey ? record.permanentFailures : 0;
    const isAnswered = isAnswer(lastFailure, isTransient);
    const endedMs = uptimeMs();
    const { sinceMs, requests: earlier } = record.unanswered ?? { sinceMs: endedMs, requests: 0 };
    task.record = {
      ...record,
      lastDurationSeconds: durationSeconds,
      endedMs,
      lastFailure,
      failingSinceMs: record.failingSinceMs ?? endedMs,
      permanentFailures: isPermanent(thrown) && !isNewKey ? earlierFailures + 1 : 0,
      transientFailures: isTransient || isNewKey ? record.transientFailures + 1 : 0,
      answeredMs: isAnswered ? endedMs : record.answeredMs,
      unanswered: isAnswered === false ? { requests: earlier + requests, sinceMs } : undefined,
      // After a 429, the key is paused anyway.
      retryAfterMs: result === 'server_error' ? (answer.retryAfterMs ?? 0) : 0,
      deniedSinceMs: isDenial(lastFailure)
        ? ((isAsBefore ? record.deniedSinceMs : undefined) ?? endedMs)
        : undefined,
      askedWith: keyId,
      newKey,
    };
    const { message, status, errorKey } = lastFailure;
    const fields = {
      result,
      reason: message,
      status,
      error_key: errorKey,
      request_id: answer.requestId && safeLine(answer.requestId),
    };
    log.debug({ ...aboutPoll(spec), ...fields }, `poll failed: ${message}`);
  }
}

/** What the log says of earlier days that are lost. */
function lostText(target: Target, lost: readonly UntoldDay[]): string {
  const dates = lost.map(({ startMs }) => new Date(startMs).toISOString().slice(0, 10)).toSorted();
  const reason = lost.find((day) => day.reason !== undefined)?.reason ?? 'it was not asked';
  const days = dates.length === 1 ? dates[0] : `${dates.length} days from ${dates[0]} to ${dates.at(-1)}`;
  return `the API does not say what ${nameOf(target)} had on ${days} (${safeLine(reason)}): what was not counted of it yet is lost, and not asked for again; all other days are counted`;
}

/** The fields of a log line about a poll. */
type AboutPoll = ReturnType<typeof aboutPoll>;

function aboutPoll(spec: Spec) {
  const { kind, credential } = spec;
  if (spec.type === 'target') return { kind, target: spec.ids, name: spec.name, credential };
  const parent = spec.parent && nameOf(spec.parent);
  return { kind, listing_of: credential, ...(parent === undefined ? {} : { parent }), credential };
}
