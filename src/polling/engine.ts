/**
 * Polls what the configuration wants: plans, makes the tasks those of the plan, polls each when it is due, and gives what the listings find
 * back to the plan.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Pacer } from '../api/pacer.ts';
import { machineUptimeMs } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { CounterBook } from '../counting/counter-book.ts';
import type { Store } from '../exposition/store.ts';
import {
  type ApiName,
  apiNames,
  type Found,
  idText,
  isReadAlone,
  type ListedKey,
  type Listing,
  type Resource,
} from '../resources/resource.ts';
import { andList, count } from '../text.ts';
import { nextTurn, ownTurn, Turns } from '../turns.ts';
import { capacity } from './capacity.ts';
import { Doubts, isInDoubt, listingBehind } from './doubts.ts';
import { type Health, health, isGood, isRefused, readAt } from './health.ts';
import { compareListed, enoughMovedRuns, ownKeysOf, type SnapshotEntry } from './listed-things.ts';
import { isAccepted, logDiscovery, mayLack, wasRead } from './listing-status.ts';
import { type Overview, overviewOf, type PlanFacts } from './overview.ts';
import { planning, type Wanted, wantedBy } from './plan.ts';
import { type Begun, Poller, type PollerOptions, type ReadOptions, type Run } from './poll.ts';
import { hasEnded, isDenial, isRefusal, neverPolled, withFault } from './record.ts';
import { newKeyMs, nextStart, retryInMs } from './schedule.ts';
import {
  addressOf,
  credentialIn,
  hasPollMetrics,
  hasSameSettings,
  keyAtApi,
  type ListingSpec,
  mustReread,
  queueOf,
  type Spec,
  type Target,
} from './spec.ts';
import { type TargetStatus, TargetTask, type Task } from './target-task.ts';
import { ListingTask } from './task.ts';
import { Timetable } from './timetable.ts';

/** The keys that come with listings. */
export interface FoundKeys {
  /**
   * The keys that a listing has now, by credential; isWhole: all of them; isFailing: whether another listing fails. Returns the
   * credentials whose key has changed.
   */
  learn(
    listing: string,
    keys: ReadonlyMap<string, ListedKey>,
    isWhole: boolean,
    isFailing: (listing: string) => boolean,
  ): readonly string[];
  /**
   * Forgets what all other listings had, but a key that no listing that is wanted has: the first that may stay keeps that. Returns the
   * credentials whose key has changed.
   */
  retain(isWanted: (listing: string) => boolean, mayStay: (listing: string) => boolean): readonly string[];
}

export interface EngineOptions extends Pick<PollerOptions, 'clientOf' | 'observer' | 'pollsOnce'> {
  readonly log: Logger;
  readonly resources: readonly Resource[];
  readonly store: Pick<Store, 'add'>;
  readonly paceOf: (api: ApiName) => Pick<Pacer, 'permit' | 'reserveFor' | 'slowDown'>;
  readonly foundKeys: FoundKeys;
  /** An id for the current key of a credential. Default: keys never change. */
  readonly keyIdOf?: ((credential: string) => string) | undefined;
  /** Where counters are saved: called when a series has begun. */
  readonly onBegun?: (() => void) | undefined;
  /** Called every ten seconds, and when everything was polled once. */
  readonly onSweep?: (() => void) | undefined;
  /** Unix time. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default: {@link machineUptimeMs}. */
  readonly uptimeMs?: (() => number) | undefined;
}

const sweepIntervalMs = 10_000;

/** Listings that end soon after one another are one plan. */
const planPauseMs = 100;

/** So many targets come, or are updated, without looking at the time. */
const someTargets = 64;

/** How long the first poll waits for the first run of a listing that comes first. */
const patienceMs = 5000;

/** So long after the first configuration, what was never polled does not keep the exporter from being ready. */
const readyAfterMs = 120_000;

/** How many requests a second an API that is down gets: one is enough to notice that it is back. */
const mostPerSecondDown = 1;
const leastPerSecondDown = 0.1;

/** Failures that come within this time are looked at together. */
const lookPauseMs = 1000;

/** The most intervals between two polls of what fails permanently. */
const maxBackoffFactor = 10;

export class PollEngine {
  /** Those of all targets. */
  readonly counters: CounterBook;
  readonly #options: EngineOptions;
  readonly #poller: Poller;
  readonly #uptimeMs: () => number;
  readonly #keyIdOf: (credential: string) => string;
  #isStopped = false;
  readonly #doubts = new Doubts({
    ask: (task, signal) => this.#askOther(task, signal),
    tell: (task, fault) => this.#tellFault(task, fault),
    uptimeMs: () => this.#uptimeMs(),
    onAsked: () => this.#checkAllPolled(),
  });
  /** Everything that is polled, by key. */
  readonly #tasks = new Map<string, Task>();
  readonly #timetable: Timetable<Task>;
  /** The polls that are in line or under way, and those that were aborted until they have ended. */
  readonly #polls = new Set<Promise<void>>();
  readonly #sweeping = setInterval(() => this.#sweep(), sweepIntervalMs).unref();
  #wanted: Wanted | undefined;
  /** What the last plan says beyond its tasks. */
  #plan: PlanFacts = { selections: new Map(), shared: [], orphans: new Map(), capacities: [] };
  /** A plan that is due soon: resolves when it has been made. */
  #planSoon: Promise<void> | undefined;
  /** The one that is being made in turns. */
  #planning: Promise<void> | undefined;
  /** How many plans were begun, and which of them was made last. */
  #syncs = 0;
  #synced = 0;
  /** How many were begun when something changed last. */
  #changedAfter = 0;
  /** A look that is due soon: failures until then are looked at together. */
  #lookSoon: NodeJS.Timeout | undefined;
  #plannedAtMs = Number.NEGATIVE_INFINITY;
  /** When the first configuration came, by the machine's uptime. */
  #beganAtMs: number | undefined;
  #hasPolledAll = false;
  #hasRead = false;
  #onAllPolled: (() => void) | undefined;
  /** Undefined once anything of it has changed. */
  #overview: Overview | undefined;
  /** How the APIs, the keys and the accounts were at the last look. */
  #health: Health<Task> = health([], 0);

  /** Resolves once everything was polled, whatever the outcome. */
  readonly allPolled = new Promise<void>((resolve) => {
    this.#onAllPolled = resolve;
  });

  constructor(options: EngineOptions) {
    const { now = Date.now, uptimeMs = machineUptimeMs } = options;
    this.#options = options;
    this.#uptimeMs = uptimeMs;
    this.#keyIdOf = options.keyIdOf ?? (() => '');
    this.#timetable = new Timetable(uptimeMs, (due) => this.#begin(due));
    const lacksProduct = (task: TargetTask, status: number | undefined) => this.#lacksProduct(task, status);
    this.#poller = new Poller({ ...options, now, uptimeMs, lacksProduct });
    const unlistedKinds = () => this.#unlistedKinds();
    this.counters = new CounterBook({ onBegun: options.onBegun, unlistedKinds, now, uptimeMs });
  }

  /** Everything that is asked about the tasks, as they are now. */
  overview(): Overview {
    this.#expire();
    return this.#overviewNow();
  }

  /** Every target, by key. */
  targets(): ReadonlyMap<string, Target> {
    return new Map(Array.from(this.#targetSpecs(), (spec) => [spec.key, spec]));
  }

  /** Whether everything was polled once, or has had its time; it stays so. */
  get isReady(): boolean {
    if (this.#hasPolledAll) return true;
    return this.#beganAtMs !== undefined && this.#uptimeMs() - this.#beganAtMs >= readyAfterMs;
  }

  /** Whether anything was read, or there was nothing to read; it stays so. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Whether everything was polled once. */
  get hasPolledAll(): boolean {
    return this.#hasPolledAll;
  }

  /**
   * Polls what a configuration wants. What stays the same keeps its readings and times. What must be read anew, what failed
   * permanently, and what failed at an API that has other settings now, is polled at once.
   */
  apply(config: Config): void {
    const before = this.#wanted?.config.apis;
    const isSame = (api: ApiName) => isDeepStrictEqual(before?.[api], config.apis[api]);
    const changed = new Set(apiNames.filter((api) => !isSame(api)));
    this.#wanted = wantedBy(config, this.#options.resources, this.#wanted);
    this.#beganAtMs ??= this.#uptimeMs();
    this.#doubts.forget();
    this.#sync();
    this.#makeDue(
      ({ spec, record }) => record.permanentFailures > 0 || (record.lastFailure && changed.has(spec.api)),
    );
  }

  /** Credentials have other keys. */
  keysChanged(credentials: readonly string[]): void {
    if (credentials.length === 0) return;
    this.#noteChangedKeys(credentials);
    this.#sync();
    this.#retryWith(credentials);
  }

  /** Polls everything at once, also what is being polled; resolves when no poll is in line or under way. */
  async pollNow(): Promise<void> {
    for (const task of this.#polled()) {
      task.abort();
      this.#runNow(task);
    }
    // Who asks in the same turn asks for the same polls.
    await Promise.resolve();
    for (this.#timetable.wake(); this.#polls.size > 0; this.#timetable.wake()) await Promise.all(this.#polls);
    await this.#doubts.asked();
  }

  /**
   * Milliseconds until the target is polled next; 0 while it is being polled or in line. Undefined if it is not polled again: what is
   * polled once, and what has left.
   */
  nextPollInMs({ target }: TargetStatus): number | undefined {
    const task = this.#tasks.get(target.fedBy ?? target.key);
    const dueAtMs = task && this.#timetable.dueAtMs(task);
    if (dueAtMs === Number.POSITIVE_INFINITY) return undefined;
    if (dueAtMs !== undefined) return Math.max(0, dueAtMs - this.#uptimeMs());
    return task && 0;
  }

  /** Ends every poll; resolves when none is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#timetable.end();
    this.#isStopped = true;
    clearTimeout(this.#lookSoon);
    const asked = this.#doubts.asked();
    this.#doubts.forget();
    for (const task of this.#tasks.values()) task.abort();
    await Promise.allSettled([...this.#polls, asked]);
  }

  // What is polled is what the plan has.

  /** Plans, and makes the tasks those of the plan. */
  #sync(): void {
    const steps = this.#syncing();
    while (!steps.next().done);
  }

  /**
   * The same step by step, a few milliseconds at a time, for what listings found: that may be thousands of targets. Whatever else plans
   * meanwhile takes the place of this, unless it fails.
   */
  async #syncInTurns(): Promise<void> {
    const changedAfter = this.#changedAfter;
    const turns = new Turns();
    // A reload may have planned meanwhile.
    while (this.#synced <= changedAfter && !this.#isStopped) {
      const steps = this.#syncing();
      let { done } = steps.next();
      for (const number = this.#syncs; !done && this.#syncs === number && !this.#isStopped; ) {
        if (turns.isOver) await turns.next();
        if (this.#syncs === number && !this.#isStopped) ({ done } = steps.next());
      }
    }
  }

  /** First what is new or has changed comes, then the rest leaves. */
  *#syncing(): Generator<undefined> {
    const { foundKeys } = this.#options;
    if (!this.#wanted || this.#isStopped) return;
    const number = ++this.#syncs;
    const { apis } = this.#wanted.config;
    const { listings, targets, selections, shared, orphans } = yield* planning({
      ...this.#wanted,
      keyIdOf: this.#keyIdOf,
      snapshotOf: (key) => this.#listing(key)?.snapshot,
      isComplete: (key) => this.#listing(key)?.isComplete ?? false,
      before: { get: (key) => this.#target(key)?.spec, values: () => this.#targetSpecs() },
    });
    for (const spec of listings.values()) this.#syncListing(spec);
    let added = 0;
    for (const spec of targets.values()) {
      this.#syncTarget(spec);
      if (++added % someTargets === 0) yield;
    }
    for (const task of this.#tasks.values())
      if (!listings.has(task.spec.key) && !targets.has(task.spec.key)) this.#remove(task);
    this.#doubts.retain(this.#tasks.values());
    const polled = Array.from(this.#polled(), ({ spec }) => spec);
    this.#plan = { selections, shared, orphans, capacities: capacity(polled, apis) };
    this.#overview = undefined;
    // Until the listing at a new address was read, what stays is polled with the keys that the former listing had.
    const unread = new Set<string>();
    for (const { key, listing, credential } of listings.values())
      if (listing.hasOwnKeys && !this.#listing(key)?.isComplete) unread.add(credential);
    const changed = foundKeys.retain(
      (one) => listings.has(one),
      (one) => unread.has(credentialIn(one) ?? ''),
    );
    this.#reserve(polled);
    // In a turn of its own: with thousands of targets a plan and a look both take long.
    this.#lookIn(0);
    this.#plannedAtMs = performance.now();
    this.#synced = number;
    this.#checkAllPolled();
    this.keysChanged(changed);
  }

  /** Has each API keep a slot for each queue and account that is polled there. */
  #reserve(polled: readonly Spec[]): void {
    const reserved = new Map(apiNames.map((api) => [api, [new Set<string>(), new Set<string>()] as const]));
    for (const spec of polled) {
      const [queues, accounts] = reserved.get(spec.api) ?? [];
      queues?.add(queueOf(spec));
      accounts?.add(spec.account);
    }
    for (const [api, [queues, accounts]] of reserved)
      this.#options.paceOf(api).reserveFor({ queues, accounts });
  }

  /** Plans soon; several changes until that begins are one plan. Resolves when it has been made. */
  #syncSoon(): Promise<void> {
    this.#changedAfter = this.#syncs;
    this.#planSoon ??= this.#syncAfter(this.#planning);
    return this.#planSoon;
  }

  /** Plans once the plan that is being made has ended. */
  async #syncAfter(planning: Promise<void> | undefined): Promise<void> {
    await planning?.catch(() => undefined);
    const waitMs = Math.max(0, this.#plannedAtMs + planPauseMs - performance.now());
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    // What changes while the plan is made needs another one.
    this.#planSoon = undefined;
    this.#planning = this.#syncInTurns().finally(() => {
      this.#planning = undefined;
    });
    await this.#planning;
    this.#checkAllPolled();
  }

  #syncListing(spec: ListingSpec): void {
    const known = this.#listing(spec.key);
    if (!known) {
      this.#add(new ListingTask(spec));
      return;
    }
    const before = known.spec;
    known.spec = spec;
    this.#followSpec(known, before);
  }

  #syncTarget(spec: Target): void {
    const known = this.#tasks.get(spec.key);
    const feeder = spec.fedBy === undefined ? undefined : this.#listing(spec.fedBy);
    // At another address it is another target: nothing of the old one stays.
    if (!(known instanceof TargetTask) || known.spec.baseUrl !== spec.baseUrl) {
      if (known) this.#remove(known);
      this.#add(
        new TargetTask(spec, feeder, this.#options.store, this.#uptimeMs(), this.counters.open(spec)),
      );
      return;
    }
    const before = known.spec;
    known.update(spec, feeder);
    // The state names its account.
    if (before.account !== spec.account) this.counters.open(spec);
    this.#followSpec(known, before);
  }

  #add(task: Task): void {
    const { key } = task.spec;
    this.#tasks.set(key, task);
    if (isFed(task)) {
      this.#feed(task);
      return;
    }
    this.#timetable.set(task, this.#uptimeMs() + (this.#mayBegin(task) ? 0 : patienceMs));
  }

  /** Whether the listings that come first have ended once. They may come later in the same plan. */
  #mayBegin({ spec }: Task): boolean {
    const hasRun = (key: string | undefined) =>
      key === undefined || hasEnded(this.#tasks.get(key)?.record ?? neverPolled);
    return hasRun(spec.namesKey) && hasRun(afterKeyOf(spec));
  }

  /** Polls at once if other values are read from now on, or with another key, or if the interval became shorter. */
  #followSpec(task: Task, before: Spec): void {
    const { spec } = task;
    const isOther = mustReread(before, spec);
    // What is under way would ask for its next page, and try again, with the key of a name that is no more.
    const isRenamed = task.isBusy && before.credential !== spec.credential;
    if (isOther || isRenamed) task.abort();
    if (isFed(task)) {
      if (isOther) this.#feed(task);
      return;
    }
    // That it failed with other settings says nothing of these.
    if (!hasSameSettings(before, spec)) task.record = { ...task.record, permanentFailures: 0 };
    if (isOther || isRenamed || spec.intervalMs < before.intervalMs) this.#runNow(task);
  }

  /** Has a target get its reading from the run of its listing that is in line or under way, or else has the listing read. */
  #feed({ spec, poller }: TargetTask): void {
    if (poller instanceof ListingTask) poller.delivering?.add(spec.key);
    if (hasEnded(poller.record)) this.#runNow(poller);
  }

  #remove(task: Task): void {
    const { key } = task.spec;
    this.#timetable.delete(task);
    task.abort();
    this.#tasks.delete(key);
    if (!(task instanceof TargetTask)) return;
    task.remove();
    this.counters.close(task.spec);
  }

  // What is due is polled.

  /** Polls at once, even if it was backing off, unless it is in line or being polled. */
  #runNow(task: Task): void {
    if (!task.isBusy) this.#timetable.set(task, this.#uptimeMs());
  }

  /** Puts what is due in line. */
  #begin(due: readonly Task[]): void {
    const nowMs = this.#uptimeMs();
    for (const task of due) {
      task.dueSinceMs = nowMs;
      const poll = this.#poll(task, task.begin()).finally(() => this.#polls.delete(poll));
      this.#polls.add(poll);
    }
  }

  /** Polls when it is its turn. Never rejects. */
  async #poll(task: Task, signal: AbortSignal): Promise<void> {
    const { spec } = task;
    // Without a permit its key is paused for longer than anything waits: the poll says so.
    const turn = this.#options.paceOf(spec.api).permit(addressOf(spec), { isFirst: true }, signal);
    const permit = await turn.catch(() => undefined);
    if (signal.aborted) {
      permit?.release();
      return;
    }
    const { record } = task;
    const startedMs = this.#uptimeMs();
    const begun = { startedMs, keyId: this.#keyIdOf(spec.credential) };
    if (this.#health.apis.get(spec.api)?.tells(task)) task.probedMs = startedMs;
    const isDown = this.#isDown(spec.api);
    // What waits for an API that is down is not late.
    const lateMs = isDown ? 0 : startedMs - task.dueSinceMs;
    if (hasPollMetrics(spec)) this.#options.observer.started(spec.kind, lateMs / 1000);
    const withoutRetries = isDown || task.probedMs === startedMs;
    await this.#carryOut(task, begun, { permit, withoutRetries }, signal);
    this.#overview = undefined;
    if (signal.aborted) return;
    this.#timetable.set(task, this.#nextDueMs(task, startedMs));
    task.end();
    this.#actOn(task, record, begun);
    this.#checkAllPolled();
    this.#hasRead ||= this.#readsAnything();
  }

  /**
   * Polls once; never rejects. A poll that counts leaves a record. Here alone is caught what the handling of an answer throws; but
   * a reading of a listing that cannot be used is a failure of its target, see `Poller.deliver`.
   */
  async #carryOut(task: Task, begun: Begun, options: ReadOptions, signal: AbortSignal): Promise<void> {
    const { permit } = options;
    const fromMs = performance.now();
    let toMs: number | undefined;
    let isRead = true;
    const tookSeconds = () => ((toMs ?? performance.now()) - fromMs) / 1000;
    try {
      if (task instanceof ListingTask) {
        const run = await this.#poller.list(task, options, signal);
        toMs = performance.now();
        if (!signal.aborted) await this.#takeOver(task, run, begun.startedMs, signal);
      } else {
        const reading = await this.#poller.read(task, options, signal);
        isRead = !reading.isDenied;
        if (!signal.aborted) this.#poller.show(task, reading);
      }
      if (signal.aborted) return;
      const hadFailed = task.record.lastFailure !== undefined;
      this.#poller.succeeded(task, begun, isRead, tookSeconds());
      // What a list lacked because it changed meanwhile has no reading, but fails no longer.
      if (hadFailed && task instanceof ListingTask && task.movedRuns > 0)
        for (const fed of this.#readBy(task)) fed.showState();
    } catch (error) {
      if (signal.aborted) return;
      this.#poller.failed(task, begun, error, tookSeconds());
      for (const fed of this.#readBy(task)) fed.pollFailed();
    } finally {
      permit?.release();
    }
  }

  /** When a task is due after a poll. */
  #nextDueMs(task: Task, startedMs: number): number {
    const nowMs = this.#uptimeMs();
    const { spec, record, offset } = task;
    const { intervalMs } = spec;
    const { retryAfterMs, lastFailure, newKey } = record;
    const failures = record.transientFailures || (task instanceof ListingTask ? task.movedRuns : 0);
    if (failures > 0) {
      const isCostly = spec.type === 'target' && spec.resource.isCostly;
      // Whether a new key is refused is to be known when its time is over.
      const isNewKey = lastFailure?.doubt === 'new_key' && newKey !== undefined;
      const mostMs = isNewKey ? newKey.sinceMs + newKeyMs - nowMs : Number.POSITIVE_INFINITY;
      const waitMs = Math.min(Math.max(retryInMs(failures, offset, isCostly), retryAfterMs), mostMs);
      if (waitMs < intervalMs) return nowMs + waitMs;
    }
    // The rest would wait longer for its turn.
    const isMoving = task instanceof ListingTask && task.movedRuns > 0;
    if (this.#options.pollsOnce && !isMoving) return Number.POSITIVE_INFINITY;
    const backoffFactor = Math.min(maxBackoffFactor, 2 ** Math.max(0, record.permanentFailures - 1));
    // The next poll may begin a tenth of an interval early.
    const intervals = Math.max(backoffFactor, retryAfterMs / intervalMs + 0.1);
    const nextMs = nextStart(intervalMs, offset, startedMs, intervals);
    // Not at once after a poll that took longer than its interval.
    return nextMs > nowMs ? nextMs : nextStart(intervalMs, offset, nowMs, 0.5);
  }

  /** What the end of a poll changes for others. before: the record before it. */
  #actOn(task: Task, before: Task['record'], { startedMs, keyId }: Begun): void {
    const { spec, record } = task;
    const { key } = spec;
    this.#actOnAnswer(task, startedMs);
    const isRead = isGood(record);
    const worksAgain = isRead && this.#worksAgain(spec);
    if (isInDoubt(task)) {
      if (this.#keyIdOf(spec.credential) === keyId) this.#doubts.add(task);
      else this.#runNow(task);
    } else if (isRead && (before.lastFailure?.result === 'auth' || worksAgain)) {
      // What was refused until now is no proof of an unknown id.
      this.#doubts.forget(keyAtApi(spec));
      this.#retryRefused(spec);
      if (worksAgain) this.#askOtherApis(spec);
    } else if (isRead) this.#doubts.read(spec, startedMs);
    this.#actOnFailure(task);
    if (spec.type === 'listing' && !hasEnded(before))
      this.#makeDue((one) => isAfter(one.spec, key) && !hasEnded(one.record) && this.#mayBegin(one));
  }

  /** Whether the key of a task opens something else: its listing, or what was read with it last. Undefined if nothing tells. */
  async #askOther(task: Task, signal: AbortSignal): Promise<boolean | undefined> {
    let spec: Spec | undefined = listingBehind(task.spec);
    if (!spec) {
      const key = keyAtApi(task.spec);
      const worth = ({ record }: Task) => (record.lastFailure ? Number.NEGATIVE_INFINITY : record.answeredMs);
      let other: Task | undefined;
      for (const one of this.#polled())
        if (one !== task && keyAtApi(one.spec) === key && (!other || worth(one) > worth(other))) other = one;
      spec = other?.spec;
    }
    return spec && (await this.#poller.isKeyGood(spec, signal));
  }

  #tellFault(task: Task, fault: 'id' | 'key' | 'undecided'): void {
    const { lastFailure, answeredMs, deniedSinceMs = answeredMs } = task.record;
    if (lastFailure) {
      const failure = withFault(lastFailure, fault);
      task.record = {
        ...task.record,
        lastFailure: failure,
        deniedSinceMs: isDenial(failure) ? deniedSinceMs : undefined,
      };
    }
    this.#overview = undefined;
    if (fault === 'id' && isRefused(this.#health, task.spec.api, task.spec.credential))
      this.#retryRefused(task.spec);
    this.#actOnFailure(task);
  }

  /** Looks at once how the API of a task is if its poll was to tell, or if the API may answer again. */
  #actOnAnswer({ spec: { api }, record: { unanswered }, probedMs }: Task, startedMs: number): void {
    const { isSuspected = false } = this.#health.apis.get(api) ?? {};
    // One page that was answered has ended that, although its poll may have failed.
    if (unanswered && this.#isDown(api)) this.#options.paceOf(api).slowDown(this.#perSecondDown(api));
    // What is down stays so until something is answered.
    if (unanswered ? probedMs === startedMs && !this.#isDown(api) : isSuspected) this.#look();
  }

  /** Looks at once where a key is newly refused, so that the next reading with it makes due what was refused; else soon. */
  #actOnFailure({ spec: { api, credential }, record: { lastFailure, unanswered } }: Task): void {
    if (!lastFailure || (unanswered && this.#isDown(api))) return;
    if (isRefusal(lastFailure) && !isRefused(this.#health, api, credential)) this.#look();
    else if (!this.#lookSoon) this.#lookIn(lookPauseMs);
  }

  /** Whether a key that was refused, or with which nothing could be read, works again. */
  #worksAgain({ api, credential, account }: Spec): boolean {
    const isOff = () =>
      isRefused(this.#health, api, credential) ||
      (credential === account && this.#health.accounts.get(account)?.failing !== undefined);
    if (!isOff()) return false;
    this.#look();
    return !isOff();
  }

  /** The key of this is read again: whatever was refused with it at its API is polled at once. */
  #retryRefused({ api, credential }: Spec): void {
    this.#makeDue(
      (one) =>
        one.spec.api === api &&
        one.spec.credential === credential &&
        one.record.lastFailure?.result === 'auth',
    );
  }

  /**
   * The same key was refused at other APIs, where things back off for up to ten intervals: what was read last there is asked at once,
   * and its answer makes due the rest.
   */
  #askOtherApis({ api, credential }: Spec): void {
    const isOff = ({ spec, record }: Task) =>
      spec.credential === credential &&
      spec.api !== api &&
      record.lastFailure?.result === 'auth' &&
      // What was just asked for the first time may be closed to this key.
      (record.lastSuccessMs !== undefined || record.permanentFailures > 1);
    this.#askOneOfEachApi(isOff, ({ record }) => record.lastSuccessMs ?? Number.NEGATIVE_INFINITY);
  }

  /** Polls at once one task of each API: of those that are wanted the one that is worth most. */
  #askOneOfEachApi(isWanted: (task: Task) => boolean, worth: (task: Task) => number): void {
    const best = new Map<ApiName, Task>();
    for (const task of this.#polled()) {
      if (!isWanted(task)) continue;
      const other = best.get(task.spec.api);
      if (!other || worth(task) > worth(other)) best.set(task.spec.api, task);
    }
    for (const task of best.values()) this.#runNow(task);
  }

  #noteChangedKeys(credentials: readonly string[]): void {
    logChangedKeys(this.#options.log, credentials);
    for (const credential of credentials)
      for (const api of apiNames) this.#doubts.forget(keyAtApi({ api, credential }));
  }

  /** Polls at once what backs off because it failed permanently with one of these. What is in flight has its answer soon. */
  #retryWith(credentials: readonly string[]): void {
    const changed = new Set(credentials);
    if (changed.size > 0)
      this.#makeDue(({ spec, record }) => record.permanentFailures > 0 && changed.has(spec.credential));
  }

  /** Polls at once those of the tasks that wait for their time. */
  #makeDue(isWanted: (task: Task) => boolean | undefined): void {
    const nowMs = this.#uptimeMs();
    for (const task of this.#tasks.values()) if (isWanted(task)) this.#hurry(task, nowMs);
  }

  /** Polls at once what waits for its time. */
  #hurry(task: Task, nowMs: number): void {
    if ((this.#timetable.dueAtMs(task) ?? 0) > nowMs) this.#timetable.set(task, nowMs);
  }

  /** Whether a target fails because the account lacks its product: it was never read, and the key is accepted elsewhere. */
  #lacksProduct({ spec, record, lackingSinceMs }: TargetTask, status: number | undefined): boolean {
    const { resource, credential } = spec;
    const optional = isReadAlone(resource) ? resource.optionalProduct : undefined;
    if (!mayLack(optional, spec, status)) return false;
    if (lackingSinceMs === undefined && wasRead(record, this.#keyIdOf(spec.credential))) return false;
    return isAccepted(optional, spec, readAt(this.#overviewNow().health, credential));
  }

  /** Polls again at once what failed before the key was accepted elsewhere, and may lack its product. Returns whether there is any. */
  #askLacking(): boolean {
    const nowMs = this.#uptimeMs();
    let isAny = false;
    for (const task of this.#tasks.values()) {
      if (!(task instanceof TargetTask) || !this.#lacksProduct(task, task.record.lastFailure?.status))
        continue;
      isAny = true;
      this.#hurry(task, nowMs);
    }
    return isAny;
  }

  /** Another key may be of an account that lacks a product: what the one before listed is not there, once that was refused twice. */
  #forgetLacking(): void {
    let isAny = false;
    for (const { poll, lacksProduct } of this.#overviewNow().listings) {
      const task = lacksProduct ? this.#listing(poll.key) : undefined;
      // What is being read may have just found something.
      if (!task?.snapshot?.entries.length || task.record.permanentFailures < 2 || task.isBusy) continue;
      task.snapshot = { entries: [], keyId: poll.keyId, runs: [] };
      isAny = true;
    }
    if (isAny) this.#sync();
  }

  // What a listing found goes back to the plan.

  /** Takes over what a run of a listing has that began then: first the keys, then the targets, then their readings. */
  async #takeOver(task: ListingTask, run: Run, beganMs: number, signal: AbortSignal): Promise<void> {
    const { log, foundKeys } = this.#options;
    const { key, keyId } = task.spec;
    const before = task.snapshot;
    const wasComplete = task.isComplete;
    // Runs with another key may have been of another account.
    if (task.record.readWith !== keyId) {
      task.movedRuns = 0;
      task.missed = undefined;
    }
    this.#poller.noteLacking(task, run);
    const spared = noteMissed(task, run);
    const nowMs = this.#uptimeMs();
    const { listed: entries, ...changes } = compareListed(before?.entries, run.found, nowMs, spared);
    logDiscovery(log, task.spec, changes, before === undefined);
    const keys = ownKeysOf(task.spec.listing, run.found);
    const isFailing = (one: string) => one !== key && this.#listing(one)?.record.lastFailure !== undefined;
    const changed = foundKeys.learn(key, keys, !run.isMoved, isFailing);
    this.#noteChangedKeys(changed);
    const runs = run.isMoved ? before?.runs : [...(before?.runs?.slice(-1) ?? []), { beganMs, entries }];
    // What a moving list was without may be of another account: with another key it is read once that has listed it.
    const isListed = !run.isMoved || task.movedRuns >= enoughMovedRuns;
    const listedWith = isListed ? keyId : (before?.keyId ?? keyId);
    const isOther = before?.entries !== entries || before.keyId !== listedWith;
    if (isOther) task.snapshot = { entries, keyId: listedWith, runs };
    else if (before.runs !== runs) task.snapshot = { ...before, runs };
    const isProof = task.isComplete && !wasComplete;
    // A plan that failed has left it.
    const isLeft = this.#synced <= this.#changedAfter && !this.#planSoon && !this.#planning;
    const isNews = isOther || isProof || changed.length > 0;
    // All that it changes is one plan.
    if (isLeft || isNews || (before.runs !== runs && this.#mayOrphan(task))) {
      await this.#syncSoon();
      // Several listings wait for one plan.
      await ownTurn();
    }
    this.#retryWith(changed);
    await this.#deliver(task, run, signal);
  }

  /** Whether something that another listing has is called after what is missing from this listing. */
  #mayOrphan({ spec: { key, parent }, snapshot }: ListingTask): boolean {
    // What is listed below a thing has no names for others. There may be a thousand such listings.
    if (parent) return false;
    const called = [...this.#tasks.values()].flatMap((one) =>
      one instanceof ListingTask && one.spec.namesKey === key && one.spec.listing.hasOrphans
        ? (one.snapshot?.entries ?? [])
        : [],
    );
    if (called.length === 0) return false;
    const ids = new Set(snapshot?.entries.map((one) => idText(one.ids)));
    return called.some(({ namedBy }) => namedBy !== undefined && !ids.has(namedBy));
  }

  /** Gives the targets their readings. A listing that changed meanwhile says nothing about those that are missing from it. */
  async #deliver(task: ListingTask, run: Run, signal: AbortSignal): Promise<void> {
    const { found, about = {}, isMoved } = run;
    const delivering = new Set(Array.from(this.#readBy(task), ({ spec }) => spec.key));
    if (signal.aborted || delivering.size === 0) return;
    const byIds = new Map<string, Found>(found.map((one) => [idText(one.ids), one]));
    const isProof = !isMoved || task.movedRuns >= enoughMovedRuns;
    task.delivering = delivering;
    const turns = new Turns(ownTurn);
    // What is added or changes meanwhile comes at the end.
    for (const key of delivering) {
      if (turns.isOver) await turns.next();
      if (signal.aborted) break;
      delivering.delete(key);
      const target = this.#tasks.get(key);
      if (!(target instanceof TargetTask) || target.poller !== task) continue;
      const { ids, resource } = target.spec;
      // The parent of what is listed has one reading, perhaps of nothing.
      const isParent = 'readBy' in resource && resource.readBy !== undefined;
      const one = isParent ? { reading: about } : byIds.get(idText(ids));
      if (one || (isProof && !task.missed?.has(idText(ids)))) this.#poller.deliver(target, task, one, run);
    }
    if (task.delivering === delivering) task.delivering = undefined;
  }

  /** The targets that a task reads: itself, or those that it feeds. */
  *#readBy(task: Task): Iterable<TargetTask> {
    if (task instanceof TargetTask) yield task;
    else if (task.spec.isRead)
      for (const one of this.#tasks.values()) if (one instanceof TargetTask && one.poller === task) yield one;
  }

  /** The kinds of which a listing was never complete: there may be more of them. */
  #unlistedKinds(): ReadonlySet<string> {
    const unlisted = new Set<Listing>();
    for (const task of this.#tasks.values())
      if (task instanceof ListingTask && !task.isComplete) unlisted.add(task.spec.listing);
    const isUnlisted = (listing: Listing | undefined): boolean =>
      listing !== undefined && (unlisted.has(listing) || isUnlisted(listing.parent));
    return new Set(
      this.#options.resources.filter(({ listing }) => isUnlisted(listing)).map(({ kind }) => kind),
    );
  }

  #target(key: string): TargetTask | undefined {
    const task = this.#tasks.get(key);
    return task instanceof TargetTask ? task : undefined;
  }

  *#targetSpecs(): Iterable<Target> {
    for (const task of this.#tasks.values()) if (task instanceof TargetTask) yield task.spec;
  }

  #listing(key: string): ListingTask | undefined {
    const task = this.#tasks.get(key);
    return task instanceof ListingTask ? task : undefined;
  }

  // What is asked.

  /**
   * Looks how the APIs and the accounts are. An API that is down gets as many requests as its polls need at their intervals, and at most
   * one a second; once it answers again, whatever got no answer is due. What tells whether an API is down, or an account can be read, is
   * polled at once.
   */
  #look(): void {
    clearTimeout(this.#lookSoon);
    this.#lookSoon = undefined;
    const before = this.#health;
    const wasDown = (api: ApiName) => before.apis.get(api)?.state === 'down';
    this.#health = health(this.#polled(), this.#uptimeMs(), this.#keyIdOf);
    for (const api of apiNames) {
      const isDown = this.#isDown(api);
      if (!isDown && wasDown(api)) this.#retryUnanswered(api);
      this.#options.paceOf(api).slowDown(isDown ? this.#perSecondDown(api) : undefined);
      const { probe } = this.#health.apis.get(api) ?? {};
      if (!probe) continue;
      probe.probedMs = this.#uptimeMs();
      this.#runNow(probe);
    }
    if (apiNames.some((api) => this.#isDown(api) && !wasDown(api))) this.#askApisThatAreUp();
    for (const { probe } of this.#health.accounts.values()) {
      if (!probe) continue;
      probe.accountProbedMs = this.#uptimeMs();
      this.#runNow(probe);
    }
  }

  /** Looks after so long, in a turn in which no timer runs. A look that was due is replaced. */
  #lookIn(ms: number): void {
    clearTimeout(this.#lookSoon);
    this.#lookSoon = setTimeout(() => {
      void nextTurn().then(() => {
        if (!this.#isStopped) this.#look();
      });
    }, ms);
  }

  /** An API is down: whether others are, too, is to be known at once, and not when something of them is due. */
  #askApisThatAreUp(): void {
    const isRead = ({ spec, record }: Task) => {
      const { state, isSuspected } = this.#health.apis.get(spec.api) ?? {};
      return state === 'read' && !isSuspected && isGood(record);
    };
    this.#askOneOfEachApi(isRead, ({ record }) => record.answeredMs);
  }

  #perSecondDown(api: ApiName): number | undefined {
    if (this.#options.pollsOnce) return undefined;
    const planned = this.#plan.capacities.find((one) => one.api === api)?.neededPerSecond ?? 0;
    return Math.min(mostPerSecondDown, Math.max(leastPerSecondDown, planned));
  }

  /** An API answers again: what got no answer is polled at once. What waits in line was not late until now. */
  #retryUnanswered(api: ApiName): void {
    const nowMs = this.#uptimeMs();
    for (const task of this.#tasks.values())
      if (task.spec.api === api && task.isBusy) task.dueSinceMs = nowMs;
    this.#makeDue((task) => task.spec.api === api && task.record.unanswered !== undefined);
  }

  *#polled(): Iterable<Task> {
    for (const task of this.#tasks.values()) if (!isFed(task)) yield task;
  }

  #isDown(api: ApiName): boolean {
    return this.#health.apis.get(api)?.state === 'down';
  }

  #overviewNow(): Overview {
    this.#overview ??= overviewOf(this.#tasks.values(), this.#plan, this.#uptimeMs(), this.#keyIdOf);
    return this.#overview;
  }

  /** Takes values that are older than their `stale_after` off the page; where everything is polled only once, none are too old. */
  #expire(): void {
    const uptimeMs = this.#uptimeMs();
    const { nextStaleMs, health, targets } = this.#overviewNow();
    const isAnyStale = uptimeMs > nextStaleMs && !this.#options.pollsOnce;
    if (!isAnyStale && uptimeMs < health.changesAtMs) return;
    for (const target of isAnyStale ? targets : [])
      if (!target.stale && uptimeMs > target.staleAtMs) target.expire();
    this.#overview = undefined;
  }

  #sweep(): void {
    // Its timer stood still while the machine slept.
    this.#timetable.wake();
    // In a turn of its own, and all from one overview, which takes its time with thousands of targets.
    void nextTurn().then(() => {
      if (this.#isStopped) return;
      this.#expire();
      this.#askLacking();
      this.#forgetLacking();
      this.#options.onSweep?.();
    });
  }

  #readsAnything(): boolean {
    let hasTargets = false;
    for (const task of this.#tasks.values()) {
      if (!(task instanceof TargetTask)) continue;
      if (task.lastSuccessMs !== undefined) return true;
      hasTargets = true;
    }
    return (
      !hasTargets &&
      this.#hasPolledAll &&
      this.#overviewNow().listings.every(({ state }) => state !== 'failing')
    );
  }

  /** Whether a listing is read once more although everything is polled once: it changed meanwhile, and may have more. */
  #lacksRuns(task: ListingTask): boolean {
    return this.#options.pollsOnce === true && !task.record.lastFailure && !task.isComplete;
  }

  #checkAllPolled(): void {
    if (this.#hasPolledAll || this.#planSoon || this.#planning || !this.#wanted || this.#isStopped) return;
    if (this.#doubts.isAsking) return;
    for (const task of this.#tasks.values()) {
      const isPending =
        task instanceof TargetTask
          ? task.state === 'pending'
          : !hasEnded(task.record) || this.#lacksRuns(task);
      if (isPending) return;
    }
    if (this.#askLacking()) return;
    this.#hasPolledAll = true;
    // In a turn of its own: a plan may have come just before. The sweep logs first, so that --once ends with its summary.
    void nextTurn().then(() => {
      this.#options.onSweep?.();
      this.#onAllPolled?.();
    });
  }
}

/** So many are named where several keys changed. */
const mostNamed = 3;

function logChangedKeys(log: Logger, credentials: readonly string[]): void {
  const [first] = credentials;
  const named = credentials.slice(0, mostNamed);
  const others = credentials.length - named.length;
  const text = andList(others > 0 ? [...named, `${count(others)} others`] : named);
  if (credentials.length === 1) log.info({ credential: first }, `the key of ${text} changed`);
  else if (credentials.length > 1)
    log.info({ credentials: credentials.length }, `the keys of ${text} changed`);
}

function afterKeyOf(spec: Spec): string | undefined {
  return spec.type === 'listing' ? spec.afterKey : undefined;
}

/** Whether the first run of a listing comes first. */
function isAfter(spec: Spec, listing: string): boolean {
  return spec.namesKey === listing || afterKeyOf(spec) === listing;
}

/** Whether a listing reads it. */
function isFed(task: Task): task is TargetTask {
  return task instanceof TargetTask && task.poller !== task;
}

/** Notes what was missing from a run of a listing, and returns what stays all the same: only a run of a moving listing proves nothing. */
function noteMissed(task: ListingTask, { found, isMoved }: Run): readonly SnapshotEntry[] {
  if (!isMoved) {
    task.movedRuns = 0;
    task.missed = undefined;
    return [];
  }
  const missed = new Map<string, number>();
  const spared: SnapshotEntry[] = [];
  const ids = new Set(found.map((one) => idText(one.ids)));
  for (const entry of task.snapshot?.entries ?? []) {
    const id = idText(entry.ids);
    const runs = (task.missed?.get(id) ?? 0) + 1;
    if (ids.has(id) || runs >= enoughMovedRuns) continue;
    missed.set(id, runs);
    spared.push(entry);
  }
  task.movedRuns++;
  task.missed = missed;
  return spared;
}
