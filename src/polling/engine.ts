/**
 * Polls what the configuration in force wants. It plans, follows the listings, and keeps scheduler, poller and target states
 * in agreement. The way from configuration to store ends here; pages only look at it.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Permit } from '../api/pacer.ts';
import type { Config } from '../config/config.ts';
import {
  compareInSteps,
  type Discovered,
  type Discovery,
  describeDiscovery,
} from '../discovery/discovered.ts';
import { type ApiName, type Found, isReadAlone, type Resource } from '../resources/resource.ts';
import { Slices } from '../slices.ts';
import { count, durationInWords, plural } from '../text.ts';
import { AddressCheck } from './address-check.ts';
import { type ApiCapacity, capacity, PollClasses } from './capacity.ts';
import { FailureLog } from './failure-log.ts';
import { KeyCheck } from './key-check.ts';
import {
  type Discoveries,
  type Group,
  idText,
  type ListingPoll,
  type Poll,
  planInSteps,
  readPollOf,
  type Target,
} from './plan.ts';
import { type Client, Poller, type PollHealth, type PollObserver } from './poller.ts';
import { type PermitQueues, Scheduler } from './scheduler.ts';
import { type Failure, type RowStore, TargetStates, type TargetStatus } from './target-states.ts';
import { type TargetChange, type TargetSelection, WantedTargets } from './wanted-targets.ts';

export interface EngineObserver extends PollObserver {
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
}

/** The pacer of one API, as far as polls need it. */
export interface Pace extends PermitQueues {
  /** The queues that polls wait in from now on. */
  setQueues(queues: Iterable<string>): void;
}

/** The keys that come with listings, each for one thing. */
export interface FoundKeys {
  /** A listing has this key. Returns whether the credential had another key before. */
  learn(credential: string, key: string, listing: string): boolean;
  /** A listing no longer has it. */
  forget(credential: string, listing: string): void;
}

/** The state of a listing. */
export interface ListingStatus {
  readonly poll: ListingPoll;
  readonly state: 'pending' | 'ok' | 'failing';
  /** What the last complete listing had. */
  readonly found: number;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  /** What the sections have made of it. */
  readonly selections: readonly TargetSelection[];
}

export interface EngineOptions {
  readonly resources: readonly Resource[];
  readonly store: RowStore;
  readonly clientOf: (api: ApiName) => Client;
  readonly paceOf: (api: ApiName) => Pace;
  readonly observer: EngineObserver;
  readonly log: Logger;
  /** Takes keys out of what the API wrote. */
  readonly redact: (text: string) => string;
  /** Keeps the keys that listings find. */
  readonly foundKeys: FoundKeys;
  /** Where the key of a credential comes from, in words: `from $VARIABLE`. */
  readonly keySource: (credential: string) => string;
  /** Whether everything is asked once alone. */
  readonly isOnce?: boolean | undefined;
  /** Whether a target's key belongs to this process. */
  readonly owns: (key: string) => boolean;
  /** Told when what is planned has changed, once the changes have settled. */
  readonly onPlanned?: ((capacities: readonly ApiCapacity[]) => void) | undefined;
  /** Called with each sweep, so that others need no timer of their own: an idle process seldom wakes up. */
  readonly onSweep?: (() => void) | undefined;
  /** Unix time. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** By which values grow old. Default: the machine's uptime. */
  readonly uptimeMs?: (() => number) | undefined;
}

/** A poll that is wanted, from its first planning to its removal. */
interface Active {
  poll: Poll;
  readonly health: PollHealth;
  /** Whether it has come to an end once, whatever the outcome. */
  hasEnded: boolean;
  /** Called when the next run that starts has ended, or when it is wanted no more. */
  waiters: readonly (() => void)[];
  /** The targets that a listing feeds with readings, by their ids as text. */
  readonly fed: Map<string, Target>;
  /** Of a listing. Unix time. */
  lastSuccessMs?: number;
  lastDurationSeconds?: number;
}

const noWaiters: Active['waiters'] = [];
const noTargets: Active['fed'] = new Map();

/**
 * How often it looks after the log, the keys and what is said of the plan: seldom where nothing fails and all was polled, for an
 * idle process should sleep. A scrape drops stale values by itself.
 */
const sweepIntervalMs = { calm: 60_000, busy: 10_000 } as const;
/** A plan that takes longer to make is made for many changes at once, so that planning takes a small share of the time. */
const cheapPlanningMs = 2;
const planningShare = 0.05;
/** How long what is found waits for the first names that another listing has. */
const namesPatienceMs = 5000;

/** The credential that the key of a found thing is known by: `library/4711`, which no configuration can name. */
function keyNameOf({ ids }: Found): string {
  return Object.entries(ids)
    .map(([label, id]) => `${label.replace(/_id$/, '')}/${id}`)
    .join('/');
}

export class PollEngine {
  readonly states: TargetStates;
  readonly #options: EngineOptions;
  readonly #now: () => number;
  readonly #poller: Poller;
  readonly #failureLog: FailureLog;
  readonly #addressCheck = new AddressCheck();
  /** Which keys are refused. */
  readonly keys = new KeyCheck((pollKey) => this.#scheduler.runNow(pollKey));
  readonly #scheduler: Scheduler<Poll>;
  readonly #wanted: WantedTargets;
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #active = new Map<string, Active>();
  readonly #listingKeys = new Set<string>();
  /** How many polls wait in each queue of each API's pacer. */
  readonly #queues = new Map<ApiName, Map<string, number>>();
  readonly #discovered = new Map<string, readonly Discovered[]>();
  #config: Config | undefined;
  #pending = 0;
  /** Listings whose names are no longer waited for, though they have not ended once. */
  readonly #unawaited = new Set<string>();
  /** Who waits for the first names of a listing. */
  readonly #namesWaiters = new Map<string, (() => void)[]>();
  readonly #discoveries: Discoveries = {
    get: (key) => this.#discovered.get(key),
    isAwaited: (key) => this.#active.get(key)?.hasEnded !== true && !this.#unawaited.has(key),
  };
  #isOutdated = false;
  /** What one plan adds is scheduled as of one time. */
  #plannedAtMs = 0;
  #reconciling: Promise<void> | undefined;
  /** The listings whose findings are being followed: what they feed has its readings at hand. */
  readonly #following = new Set<string>();
  /** How long the last plan took to make. */
  #planningMs = 0;
  #hasChanged = false;
  readonly #classes = new PollClasses();
  #sweep: { readonly isBusy: boolean; readonly timer: NodeJS.Timeout } | undefined;
  #onAllPolled: (() => void) | undefined;
  #isReady = false;

  /** Resolves once every target was polled, whatever the outcome; targets wanted later do not count. */
  readonly allPolled: Promise<void>;

  constructor(options: EngineOptions) {
    const { store, clientOf, paceOf, observer, log, redact, owns, keySource, isOnce } = options;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.allPolled = new Promise((resolve) => {
      this.#onAllPolled = resolve;
    });
    this.states = new TargetStates(store, options.uptimeMs);
    this.#failureLog = new FailureLog(log);
    this.#poller = new Poller({
      clientOf,
      states: this.states,
      observer,
      log,
      failureLog: this.#failureLog,
      keyCheck: this.keys,
      keySource,
      isOnce,
      redact,
      now: this.#now,
    });
    this.#wanted = new WantedTargets(owns);
    this.#scheduler = new Scheduler(
      (poll, permit, lagMs) => this.#run(poll, permit, lagMs),
      ({ api }) => paceOf(api),
    );
    // Every request under way listens for the end.
    setMaxListeners(0, this.#abort.signal);
  }

  /** Whether every target was polled once; it stays so. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the last poll of every target and of every listing succeeded. */
  get allHealthy(): boolean {
    for (const { health } of this.#active.values()) if (health.lastFailure) return false;
    for (const { state } of this.states.statuses()) if (state !== 'ok') return false;
    return true;
  }

  /** The state of every listing. */
  listings(): readonly ListingStatus[] {
    const selections = new Map<string, TargetSelection[]>();
    for (const selection of this.#wanted.selections()) {
      const known = selections.get(selection.listingKey);
      if (known) known.push(selection);
      else selections.set(selection.listingKey, [selection]);
    }
    return [...this.#listingKeys].flatMap((key) => {
      const active = this.#active.get(key);
      if (active?.poll.type !== 'listing') return [];
      const { poll, health, hasEnded, lastSuccessMs, lastDurationSeconds } = active;
      const { lastFailure } = health;
      const state = lastFailure ? 'failing' : hasEnded ? 'ok' : 'pending';
      const found = this.#discovered.get(key)?.length ?? 0;
      const of = selections.get(key) ?? [];
      return [{ poll, state, found, lastSuccessMs, lastDurationSeconds, lastFailure, selections: of }];
    });
  }

  /** How a round of polls went that took so long: `first round: 4,998 ok, 2 failing, 12 s`. */
  roundText(durationMs: number): string {
    let ok = 0;
    let failing = 0;
    for (const { state } of this.states.statuses())
      if (state === 'ok') ok++;
      else failing++;
    const listings = this.listings().filter(({ state }) => state === 'failing').length;
    const parts = [`${count(ok)} ok`, `${count(failing)} failing`];
    if (listings > 0) parts.push(`${plural(listings, 'listing')} failing`);
    return `first round: ${[...parts, durationInWords(durationMs)].join(', ')}`;
  }

  /** How much it holds, by what it is: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    let queues = 0;
    for (const ofApi of this.#queues.values()) queues += ofApi.size;
    let fed = 0;
    for (const active of this.#active.values()) fed += active.fed.size;
    return {
      states: this.states.size,
      active: this.#active.size,
      fed,
      listings: this.#listingKeys.size,
      discovered: this.#discovered.size,
      unawaited: this.#unawaited.size,
      namesWaiters: this.#namesWaiters.size,
      running: this.#running.size,
      queuesOfPolls: queues,
      ...this.#wanted.sizes,
      ...this.#scheduler.sizes,
      ...this.#failureLog.sizes,
      ...this.keys.sizes,
    };
  }

  /**
   * Polls what a configuration wants from now on; resolves when it is planned. Unchanged targets keep their readings and
   * their times; what changed, and what failed for a reason that may be gone now, is asked at once.
   */
  async apply(config: Config): Promise<void> {
    this.#config = config;
    this.#addressCheck.reset();
    await this.#reconcile();
    for (const [key, { health }] of this.#active) if (health.lasting > 0) this.#scheduler.runNow(key);
    this.#tellPlanned();
  }

  /** Asks at once what the old key of a credential may have failed for. */
  keyChanged(credential: string): void {
    this.#options.log.info({ credential }, `the key of ${credential} changed`);
    for (const [key, { poll, health }] of this.#active)
      if (poll.credential === credential && health.lasting > 0) this.#scheduler.runNow(key);
  }

  /** Asks everything at once, whatever its interval; resolves when each such poll has come to an end. */
  async pollNow(): Promise<void> {
    const ended = [...this.#active].map(
      ([key, active]) =>
        new Promise<void>((resolve) => {
          active.waiters = [...active.waiters, resolve];
          this.#scheduler.runNow(key);
        }),
    );
    await Promise.all(ended);
  }

  /** Takes the values off the page that are too old by now. */
  dropStale(): void {
    for (const status of this.states.dropStale()) this.#logStale(status);
  }

  /** When the target is polled next, in milliseconds from now; 0 while it is under way or in line. */
  nextPollInMs({ target }: TargetStatus): number | undefined {
    return this.#scheduler.dueInMs(target.pollKey);
  }

  /** Ends every poll; resolves when none is under way. */
  async stop(): Promise<void> {
    clearTimeout(this.#sweep?.timer);
    this.#scheduler.stop();
    this.#abort.abort(new Error('the exporter is stopping'));
    await Promise.allSettled(this.#running);
    this.keys.settle();
    this.#failureLog.tell(true);
  }

  /** Sets the time of the next sweep; called again when something came that cannot wait for a calm one. */
  #keepSweeping(): void {
    const isBusy = this.#pending > 0 || this.#hasChanged || this.#failureLog.isBusy || this.keys.isWaiting;
    const isSoonEnough = this.#sweep !== undefined && (this.#sweep.isBusy || !isBusy);
    if (isSoonEnough || this.#abort.signal.aborted) return;
    clearTimeout(this.#sweep?.timer);
    const sweep = () => {
      this.#sweep = undefined;
      this.dropStale();
      this.keys.settle();
      this.#failureLog.tell();
      this.#tellPlanned();
      this.#options.onSweep?.();
      this.#keepSweeping();
    };
    const timer = setTimeout(sweep, sweepIntervalMs[isBusy ? 'busy' : 'calm']).unref();
    this.#sweep = { isBusy, timer };
  }

  /** Carries out the plan of what is known now; who asks while one is carried out joins it. */
  #reconcile(): Promise<void> {
    this.#isOutdated = true;
    this.#reconciling ??= this.#carryOutPlans();
    return this.#reconciling;
  }

  async #carryOutPlans(): Promise<void> {
    // Who asks in the same turn joins; from the last look at `isOutdated` on, nobody joins any more.
    const { signal } = this.#abort;
    if (this.#planningMs <= cheapPlanningMs) await Promise.resolve();
    else await sleep(this.#planningMs / planningShare, undefined, { signal }).catch(() => undefined);
    const { resources, owns } = this.#options;
    const slices = new Slices();
    try {
      while (this.#isOutdated && this.#config) {
        this.#isOutdated = false;
        this.#plannedAtMs = performance.now();
        const { workedMs } = slices;
        const planning = planInSteps(this.#config, resources, this.#discoveries, owns);
        const { groups, listings } = await slices.take(planning);
        this.#planningMs = slices.workedMs - workedMs;
        await slices.take(this.#followListings(listings));
        await slices.take(this.#followGroups(groups));
        this.#setQueues();
      }
    } finally {
      this.#reconciling = undefined;
    }
    this.#keepSweeping();
    // The last that was waited for may have left.
    this.#checkReady();
  }

  *#followGroups(groups: readonly Group[]): Generator<void> {
    for (const change of this.#wanted.changesTo(groups)) {
      if (change) this.#carryOut(change);
      yield;
    }
  }

  *#followListings(listings: ReadonlyMap<string, ListingPoll>): Generator<void> {
    for (const key of this.#listingKeys) {
      yield;
      if (listings.has(key)) continue;
      this.#forgetKeys(key, this.#discovered.get(key), []);
      this.#discovered.delete(key);
      this.#listingKeys.delete(key);
      this.#unawaited.delete(key);
      this.#deactivate(key);
    }
    for (const poll of listings.values()) {
      yield;
      const known = this.#active.get(poll.key)?.poll;
      const isSame = known?.intervalMs === poll.intervalMs && known.queue === poll.queue;
      this.#listingKeys.add(poll.key);
      if (!known) this.#activate(poll);
      else if (!isSame) this.#replace(poll);
    }
  }

  #carryOut({ resource, before, after }: TargetChange): void {
    if (before && before.pollKey !== after?.pollKey) this.#unfeed(before);
    if (!before && after) this.states.add(after);
    else if (before && !after) this.states.remove(before.key);
    else if (after) this.states.update(after);
    if (!isReadAlone(resource)) {
      if (after) this.#active.get(after.pollKey)?.fed.set(idText(after.ids), after);
      // The first poll of a listing, still to come or under way, feeds whoever is there at its end.
      const isFollowed =
        after && (this.#following.has(after.pollKey) || !this.#active.get(after.pollKey)?.hasEnded);
      if (after && !isFollowed) this.#scheduler.runNow(after.pollKey);
      return;
    }
    if (!after) {
      if (before) this.#deactivate(before.pollKey);
      return;
    }
    const poll = readPollOf(resource, after);
    if (before) {
      this.#replace(poll);
      this.#scheduler.runNow(poll.key);
    } else this.#activate(poll);
  }

  #unfeed({ pollKey, ids }: Target): void {
    this.#active.get(pollKey)?.fed.delete(idText(ids));
  }

  #activate(poll: Poll): void {
    const health: PollHealth = { lastFailure: undefined, lasting: 0 };
    const fed = poll.type === 'listing' ? new Map<string, Target>() : noTargets;
    this.#active.set(poll.key, { poll, health, hasEnded: false, waiters: noWaiters, fed });
    this.#pending++;
    this.#count(poll, 1);
    this.keys.add(poll);
    this.#scheduler.add(poll, this.#plannedAtMs);
  }

  #replace(poll: Poll): void {
    const active = this.#active.get(poll.key);
    if (!active) return;
    this.#count(active.poll, -1);
    this.#count(poll, 1);
    if (active.poll.credential !== poll.credential) {
      this.keys.remove(active.poll);
      this.keys.add(poll);
    }
    active.poll = poll;
    this.#scheduler.update(poll);
  }

  #deactivate(key: string): void {
    const active = this.#active.get(key);
    if (!active) return;
    this.#active.delete(key);
    if (!active.hasEnded) this.#pending--;
    this.#count(active.poll, -1);
    this.#failureLog.forget(key);
    this.#addressCheck.forget(active.poll);
    this.keys.remove(active.poll);
    this.#scheduler.remove(key);
    for (const resolve of active.waiters) resolve();
    this.#endNames(key);
  }

  /** Whoever waits for the first names of a listing waits no longer. */
  #endNames(key: string): void {
    for (const resolve of this.#namesWaiters.get(key) ?? []) resolve();
    this.#namesWaiters.delete(key);
  }

  #count(poll: Poll, change: 1 | -1): void {
    this.#hasChanged = true;
    this.#classes.count(poll, change);
    const { api, queue } = poll;
    const queues = this.#queues.get(api) ?? new Map<string, number>();
    this.#queues.set(api, queues);
    const polls = (queues.get(queue) ?? 0) + change;
    if (polls > 0) queues.set(queue, polls);
    else queues.delete(queue);
  }

  #setQueues(): void {
    for (const [api, queues] of this.#queues) this.#options.paceOf(api).setQueues(queues.keys());
  }

  #tellPlanned(): void {
    if (!this.#hasChanged || !this.#config || this.#reconciling) return;
    this.#hasChanged = false;
    this.#options.onPlanned?.(capacity(this.#classes, this.#config.apis));
  }

  async #run(poll: Poll, permit: Permit, lagMs: number): Promise<number> {
    const active = this.#active.get(poll.key);
    if (!active) {
      permit.release();
      return 1;
    }
    if (poll.type === 'read' || poll.isRead) this.#options.observer.started(poll.kind, lagMs / 1000);
    const { waiters } = active;
    active.waiters = noWaiters;
    const running = this.#pollAndFollow(active, poll, permit);
    this.#running.add(running);
    const backoffFactor = await running;
    this.#running.delete(running);
    // Of a poll that is wanted no more, the log remembers nothing.
    if (!this.#active.has(poll.key)) this.#failureLog.forget(poll.key);
    else if (active.health.lastFailure) this.#keepSweeping();
    for (const resolve of waiters) resolve();
    // The end of a poll that is wanted no more, or otherwise since, counts for nothing.
    const isCurrent =
      this.#active.get(poll.key) === active && (poll.type === 'listing' || active.poll === poll);
    if (!isCurrent || active.hasEnded) return backoffFactor;
    active.hasEnded = true;
    this.#pending--;
    if (poll.type === 'listing') {
      this.#endNames(poll.key);
      // What waits for its names waits no longer, though they did not come.
      if (active.health.lastFailure) await this.#reconcile();
    }
    this.#checkReady();
    return backoffFactor;
  }

  async #pollAndFollow(active: Active, poll: Poll, permit: Permit): Promise<number> {
    const { signal } = this.#abort;
    const targets = () => (poll.type === 'read' ? [poll.target] : active.fed.values());
    const { backoffFactor, found, durationSeconds, isMissing } = await this.#poller.poll(
      poll,
      targets,
      active.health,
      permit,
      signal,
    );
    if (!signal.aborted && this.#active.get(poll.key) === active) this.#checkAddress(poll, isMissing);
    if (found && poll.type === 'listing') await this.#follow(active, poll, found, durationSeconds);
    return backoffFactor;
  }

  #checkAddress(poll: Poll, isMissing: boolean): void {
    const { api } = poll;
    let polls = 0;
    for (const waiting of this.#queues.get(api)?.values() ?? []) polls += waiting;
    if (!this.#addressCheck.ended(poll, isMissing, polls)) return;
    const url = this.#config?.apis[api].baseUrl;
    this.#options.log.warn(
      { api, base_url: url },
      `every request to ${url} answers HTTP 404: check apis.${api}.base_url`,
    );
  }

  /** Takes over what a complete listing has: first its targets, then their readings. */
  async #follow(
    active: Active,
    poll: ListingPoll,
    found: readonly Found[],
    durationSeconds: number,
  ): Promise<void> {
    const isWanted = () => this.#active.get(poll.key) === active && !this.#abort.signal.aborted;
    if (!isWanted()) return;
    active.lastSuccessMs = this.#now();
    active.lastDurationSeconds = durationSeconds;
    if (poll.namesKey !== undefined) await this.#namesOf(poll.namesKey);
    if (!isWanted()) return;
    const before = this.#discovered.get(poll.key);
    const discovery = await new Slices().take(compareInSteps(before, found, keyNameOf));
    if (!isWanted()) return;
    this.#unawaited.add(poll.key);
    this.#learnKeys(poll.key, found);
    if (discovery.listed !== before) {
      this.#discovered.set(poll.key, discovery.listed);
      this.#logDiscovery(poll, discovery, before === undefined);
      this.#following.add(poll.key);
      await this.#reconcile().finally(() => this.#following.delete(poll.key));
      // Once nothing asks with them any more.
      this.#forgetKeys(poll.key, before, discovery.listed);
    }
    if (active.fed.size === 0 || !isWanted()) return;
    await new Slices().take(this.#deliver(active, poll, found, durationSeconds, isWanted));
  }

  *#deliver(
    { fed }: Active,
    poll: ListingPoll,
    found: readonly Found[],
    durationSeconds: number,
    isWanted: () => boolean,
  ): Generator<void> {
    const byIds = new Map(found.map((one) => [idText(one.ids), one]));
    for (const [ids, target] of fed) {
      if (!isWanted()) return;
      this.#poller.deliver(poll, target, byIds.get(ids), durationSeconds);
      yield;
    }
  }

  /** Waits a little for the first names, so that what is found now comes with them. */
  async #namesOf(key: string): Promise<void> {
    if (!this.#discoveries.isAwaited(key)) return;
    const ended = new Promise<void>((resolve) => {
      this.#namesWaiters.set(key, [...(this.#namesWaiters.get(key) ?? []), resolve]);
    });
    const { signal } = this.#abort;
    const patience = sleep(namesPatienceMs, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race([ended, patience]);
    if (this.#active.has(key)) this.#unawaited.add(key);
  }

  #learnKeys(listing: string, found: readonly Found[]): void {
    for (const one of found) {
      const credential = one.key && keyNameOf(one);
      if (one.key && credential && this.#options.foundKeys.learn(credential, one.key(), listing))
        this.keyChanged(credential);
    }
  }

  /** Forgets the keys that a listing had before and has no longer, also where what they open is still listed. */
  #forgetKeys(
    listing: string,
    before: readonly Discovered[] | undefined,
    listed: readonly Discovered[],
  ): void {
    const kept = new Set(listed.map(({ keyName }) => keyName));
    for (const { keyName } of before ?? [])
      if (keyName !== undefined && !kept.has(keyName)) this.#options.foundKeys.forget(keyName, listing);
  }

  #checkReady(): void {
    if (this.#pending > 0 || this.#reconciling || this.#abort.signal.aborted) return;
    if (!this.#isReady) this.#tellPlanned();
    this.#isReady = true;
    this.#onAllPolled?.();
  }

  #logDiscovery(
    { kind, credential, listing, parent }: ListingPoll,
    discovery: Discovery,
    isFirst: boolean,
  ): void {
    const { added, removed, renamed, listed } = discovery;
    if (added + removed.length + renamed === 0) return;
    const of = parent && (parent.name ?? idText(parent.ids));
    // What the account has is told; the names of parts, and the first look into each of many parents, only to who wants to know.
    const isTold = !parent || (listing.parent !== undefined && !isFirst);
    this.#options.log[isTold ? 'info' : 'debug'](
      {
        kind,
        listing_of: credential,
        parent: of,
        added,
        removed: removed.length,
        renamed,
        listed: listed.length,
      },
      `${describeDiscovery(discovery)} ${listing.nouns}`,
    );
  }

  #logStale({ target, lastSuccessMs }: TargetStatus): void {
    const { kind, ids, name, staleAfterMs } = target;
    this.#failureLog.aged(
      kind,
      { kind, target: ids, name, last_success: new Date(lastSuccessMs ?? 0).toISOString() },
      `values are older than ${Math.round(staleAfterMs / 1000)} s and have left the page; they return with the next good poll`,
    );
    this.#keepSweeping();
  }
}
