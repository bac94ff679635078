/** Polls what the configuration wants: connects the planner, the polls, the poller that carries them out, and the targets. */
import type { Logger } from 'pino';
import type { Permit } from '../api/pacer.ts';
import type { Config } from '../config/config.ts';
import { compareListed, idText, keyNameOf } from '../discovery/discovered.ts';
import { apiNames, type Found, type Resource } from '../resources/resource.ts';
import { nextTurn, ownTurn, Turns } from '../turns.ts';
import { type ApiCapacity, capacity } from './capacity.ts';
import { type ListingStatus, listingStatuses, logDiscovery } from './listings.ts';
import { hasEnded, type Loop } from './loop.ts';
import type { Plan } from './plan.ts';
import { Planner } from './planner.ts';
import { Poller, type PollerOptions } from './poller.ts';
import { Polls, type PollsOptions } from './polls.ts';
import { isCounted, type ListingPoll, type Poll } from './target.ts';
import { type RowStore, TargetStates, type TargetStatus } from './target-states.ts';

/** The keys that come with listings. */
export interface FoundKeys {
  /** These are all the keys that a listing has now, by credential. Returns the credentials whose key has changed. */
  learn(listing: string, keys: ReadonlyMap<string, string>): readonly string[];
  /** Forgets what all other listings had. */
  retain(isWanted: (listing: string) => boolean): void;
}

export interface EngineOptions
  extends Pick<PollsOptions, 'paceOf'>,
    Pick<PollerOptions, 'clientOf' | 'observer' | 'redact'> {
  readonly log: Logger;
  readonly resources: readonly Resource[];
  readonly store: RowStore;
  readonly foundKeys: FoundKeys;
  /** Whether the target of a key belongs to this shard. */
  readonly owns: (key: string) => boolean;
  /** An id for the current key of a credential. Default: keys never change. */
  readonly keyIdOf?: ((credential: string) => string) | undefined;
  /** Calls `keyChanged` for keys that have changed, before it resolves. */
  readonly checkKeys?: (() => Promise<void>) | undefined;
  /** Called every ten seconds, and when everything was polled once. */
  readonly onSweep?: (() => void) | undefined;
  /** Unix time. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** The clock by which values age. Default: the machine's uptime. */
  readonly uptimeMs?: (() => number) | undefined;
}

const sweepIntervalMs = 10_000;

export class PollEngine {
  readonly states: TargetStates;
  readonly #options: EngineOptions;
  readonly #poller: Poller;
  readonly #polls: Polls;
  readonly #planner: Planner;
  readonly #sweeping = setInterval(() => this.#sweep(), sweepIntervalMs).unref();
  /** Derived, and forgotten when something changes. */
  #listings: readonly ListingStatus[] | undefined;
  #capacities: readonly ApiCapacity[] | undefined;
  #changes = 0;
  #isReady = false;
  /** A poll that has not ended, as far as is known; without it nothing is ready. */
  #awaited: Loop | undefined;
  #onAllPolled: (() => void) | undefined;

  /** Resolves once everything was polled, whatever the outcome. */
  readonly allPolled = new Promise<void>((resolve) => {
    this.#onAllPolled = resolve;
  });

  constructor(options: EngineOptions) {
    const { paceOf, keyIdOf = () => '', now = Date.now } = options;
    this.#options = options;
    this.states = new TargetStates(options.store, options.uptimeMs);
    this.#polls = new Polls({ paceOf, run: (loop, permit, lagMs) => this.#poll(loop, permit, lagMs) });
    this.#planner = new Planner({
      ...options,
      keyIdOf,
      polls: this.#polls,
      states: this.states,
      onPlanned: () => this.#onPlanned(),
    });
    this.#poller = new Poller({
      ...options,
      now,
      states: this.states,
      foundBefore: ({ key }) => this.#planner.snapshots.get(key)?.entries,
      targetsOf: (poll) => this.#planner.targetsOf(poll),
      onFound: (poll, found, counts) => this.#takeOver(poll, found, counts),
    });
  }

  /** What is polled now, by key; later changes are in another map. */
  get targets(): Plan['targets'] {
    return this.#planner.plan.targets;
  }

  /** Whether everything was polled once; it stays so. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the last poll of every target and of every listing succeeded. */
  get allHealthy(): boolean {
    for (const { state } of this.states.statuses()) if (state !== 'ok') return false;
    return this.listings().every(({ state }) => state === 'ok');
  }

  /** Grows whenever the record of a poll, or what is polled, may have changed. */
  get changes(): number {
    return this.#changes;
  }

  /** The record of every poll. */
  polls(): Iterable<Pick<Loop, 'poll' | 'record'>> {
    return this.#polls.all();
  }

  /** The same array as long as nothing has changed. */
  listings(): readonly ListingStatus[] {
    this.#listings ??= listingStatuses(this.#polls, this.#planner.plan, this.#planner.snapshots);
    return this.#listings;
  }

  /** What the polls of each API need, and whether its pace is enough. */
  capacities(): readonly ApiCapacity[] {
    const { config } = this.#planner;
    this.#capacities ??= config ? capacity(pollsIn(this.#polls), config.apis) : [];
    return this.#capacities;
  }

  /**
   * Polls what a configuration wants. What stays the same keeps its readings and times. What must be read anew, and what failed
   * permanently, is polled at once.
   */
  apply(config: Config): void {
    this.#planner.apply(config);
    this.#retry(() => true);
  }

  /** A credential has another key. */
  keyChanged(credential: string): void {
    this.#options.log.info({ credential }, `the key of ${credential} changed`);
    this.#planner.update();
    this.#retry(({ poll }) => poll.credential === credential);
  }

  /** Polls everything at once; resolves when all these polls have ended. */
  async pollNow(): Promise<void> {
    await Promise.all(Array.from(this.#polls.all(), (loop) => loop.pollNow()));
  }

  /** Milliseconds until the target is polled next; 0 while it is being polled or in line. */
  nextPollInMs({ target }: TargetStatus): number | undefined {
    return this.#polls.get(target.pollKey)?.dueInMs;
  }

  /** Ends every poll; resolves when none is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeping);
    const ended = this.#polls.end();
    this.#planner.end();
    await ended;
  }

  #onPlanned(): void {
    this.#changes++;
    this.#listings = undefined;
    this.#capacities = undefined;
    const { keepsPrevious, listings } = this.#planner.plan;
    // Otherwise what stays may still be polled with their keys.
    if (!keepsPrevious) this.#options.foundKeys.retain((listing) => listings.has(listing));
    const queues = new Map(apiNames.map((api) => [api, new Set<string>()]));
    for (const { poll } of this.#polls.all()) queues.get(poll.api)?.add(poll.queue);
    for (const [api, names] of queues) this.#options.paceOf(api).setQueues(names);
    this.#checkReady();
  }

  async #poll(loop: Loop, permit: Permit, lagMs: number): Promise<number> {
    const { poll, record } = loop;
    if (isCounted(poll)) this.#options.observer.started(poll.kind, lagMs / 1000);
    const intervals = await this.#poller.poll(loop, permit);
    this.#changes++;
    if (poll.type === 'listing') this.#listings = undefined;
    // What waits for a listing comes without it if it failed.
    const isFirstEnd = poll.type === 'listing' && !hasEnded(record) && hasEnded(loop.record);
    if (isFirstEnd) this.#planner.planSoon().catch(() => undefined);
    const { api, credential } = poll;
    // The key works again.
    if (record.lastFailure?.result === 'auth' && !loop.record.lastFailure)
      this.#retry((one) => one.poll.api === api && one.poll.credential === credential && isRefused(one));
    this.#checkReady();
    return intervals;
  }

  /** Takes over what a complete run has: first the keys, then the targets, then their readings. */
  async #takeOver(poll: ListingPoll, found: readonly Found[], counts: () => boolean): Promise<void> {
    const { key, keyId } = poll;
    // If the key changed meanwhile, the pages may be from two accounts. Then the run no longer counts.
    await this.#options.checkKeys?.();
    if (!counts()) return;
    const before = this.#planner.snapshots.get(key)?.entries;
    const discovery = compareListed(before, found);
    logDiscovery(this.#options.log, poll, discovery, before === undefined);
    const keys = new Map(found.flatMap((one) => (one.key ? [[keyNameOf(one), one.key()] as const] : [])));
    for (const credential of this.#options.foundKeys.learn(key, keys)) this.keyChanged(credential);
    await this.#planner.follow(key, { entries: discovery.listed, keyId }, counts);
    await this.#deliver(poll, found, counts);
  }

  async #deliver(poll: ListingPoll, found: readonly Found[], counts: () => boolean): Promise<void> {
    const targets = this.#planner.targetsOf(poll);
    const byIds = new Map(targets.length > 0 ? found.map((one) => [idText(one.ids), one]) : []);
    const turns = new Turns(ownTurn);
    for (const target of targets) {
      if (turns.isOver) await turns.next();
      if (!counts()) return;
      this.#poller.deliver(poll, target.key, byIds.get(idText(target.ids)));
    }
  }

  /** Polls at once what backs off because it failed permanently. What is in flight has its answer soon. */
  #retry(isWanted: (loop: Loop) => boolean): void {
    for (const loop of this.#polls.all())
      if (loop.record.permanentFailures > 0 && loop.dueInMs > 0 && isWanted(loop)) loop.runNow();
  }

  #sweep(): void {
    this.states.dropStale();
    this.#options.onSweep?.();
  }

  #checkReady(): void {
    if (this.#isReady || this.#polls.signal.aborted || !this.#planner.config || !this.#planner.isSettled)
      return;
    // Each poll asks, so it rarely goes through all: only once the last of those that had not ended has.
    if (this.#awaited && !this.#awaited.isStopped && !hasEnded(this.#awaited.record)) return;
    this.#awaited = undefined;
    for (const loop of this.#polls.all()) if (!hasEnded(loop.record)) this.#awaited = loop;
    if (this.#awaited) return;
    for (const { state } of this.states.statuses()) if (state === 'pending') return;
    this.#isReady = true;
    // In a turn of its own: a plan may have come just before. The sweep logs first, so that --once ends with its summary.
    void nextTurn().then(() => {
      this.#options.onSweep?.();
      this.#onAllPolled?.();
    });
  }
}

function isRefused({ record }: Loop): boolean {
  return record.lastFailure?.result === 'auth';
}

function pollsIn(polls: Polls): readonly Poll[] {
  return Array.from(polls.all(), ({ poll }) => poll);
}
