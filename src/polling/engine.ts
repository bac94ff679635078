/**
 * Polls what the configuration in force wants. Its sections subscribe to listings; what a listing finds comes as groups of
 * targets to the pool of their kind; the pool starts and stops loops; the poller carries out what a loop asks, and tells the
 * target states. The way from the configuration to the store ends here; pages only look at it.
 */
import type { Logger } from 'pino';
import type { Permit } from '../api/pacer.ts';
import type { Config } from '../config/config.ts';
import { type ApiName, isReadAlone, type Resource } from '../resources/resource.ts';
import { AddressCheck } from './address-check.ts';
import { type ApiCapacity, capacity } from './capacity.ts';
import { FailureLog } from './failure-log.ts';
import { KeyCheck } from './key-check.ts';
import { type FoundKeys, type ListingStatus, Listings } from './listings.ts';
import type { Loop } from './loop.ts';
import { Loops, type Pace } from './loops.ts';
import { type Client, isCounted, type Outcome, Poller, type PollObserver } from './poller.ts';
import type { TargetLoops } from './pool.ts';
import { type Poll, readPollOf, type Target } from './target.ts';
import { type RowStore, TargetStates, type TargetStatus } from './target-states.ts';
import { Wanted } from './wanted.ts';

export interface EngineObserver extends PollObserver {
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
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
  /** Tells the keys of a credential apart without showing them. Default: they never change. */
  readonly keyIdOf?: ((credential: string) => string) | undefined;
  /** Notices keys that have changed: `keyChanged` is called for them before this resolves. */
  readonly lookAtKeys?: (() => Promise<void>) | undefined;
  /** Where the key of a credential comes from, in words: `from $VARIABLE`. */
  readonly keySource: (credential: string) => string;
  /** Whether everything is asked only once. */
  readonly isOnce?: boolean | undefined;
  /** Whether a target's key belongs to this process. */
  readonly owns: (key: string) => boolean;
  /** Told what the polls need when that has changed, once the changes have settled. */
  readonly onPlanned?: ((capacities: readonly ApiCapacity[]) => void) | undefined;
  /** Called with each sweep, so that others need no timer of their own: an idle process seldom wakes up. */
  readonly onSweep?: (() => void) | undefined;
  /** Unix time. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** By which values grow old. Default: the machine's uptime. */
  readonly uptimeMs?: (() => number) | undefined;
}

/**
 * How often it looks after the log, the keys and the capacities: seldom where nothing fails and everything was polled, for an
 * idle process should sleep. A scrape drops stale values by itself.
 */
const sweepIntervalMs = { calm: 60_000, busy: 10_000 } as const;

export class PollEngine {
  readonly states: TargetStates;
  /** Which keys are refused. */
  readonly keys = new KeyCheck((pollKey) => this.#loops.get(pollKey)?.runNow());
  readonly #options: EngineOptions;
  readonly #failureLog: FailureLog;
  readonly #addressCheck = new AddressCheck();
  readonly #poller: Poller;
  readonly #loops: Loops;
  readonly #wanted: Wanted;
  readonly #listings: Listings;
  #config: Config | undefined;
  #lastChange: Promise<unknown> = Promise.resolve();
  /** Changes that are not carried out yet. */
  #changes = 0;
  /** Whether polls came or went since that was told. */
  #isNews = false;
  #sweep: { readonly isBusy: boolean; readonly timer: NodeJS.Timeout } | undefined;
  #isReady = false;
  #onAllPolled: (() => void) | undefined;

  /** Resolves once every target was polled, whatever the outcome; targets wanted later do not count. */
  readonly allPolled = new Promise<void>((resolve) => {
    this.#onAllPolled = resolve;
  });

  constructor(options: EngineOptions) {
    const { store, log, resources, owns, foundKeys, paceOf } = options;
    const now = options.now ?? Date.now;
    this.#options = options;
    this.states = new TargetStates(store, options.uptimeMs);
    this.#failureLog = new FailureLog(log);
    const { states, keys: keyCheck } = this;
    this.#poller = new Poller({ ...options, states, failureLog: this.#failureLog, keyCheck, now });
    this.#loops = new Loops((loop, permit, lagMs) => this.#run(loop, permit, lagMs), paceOf);
    this.#wanted = new Wanted({
      resources,
      owns,
      keyIdOf: options.keyIdOf ?? (() => ''),
      listingLoops: {
        start: ({ poll }) => this.#start(poll),
        update: ({ poll }) => this.#update(poll),
        stop: (provider) => {
          this.#stop(provider.poll.key);
          this.#listings.leave(provider);
        },
      },
      targetLoops: (resource) => this.#targetLoops(resource),
    });
    this.#listings = new Listings({
      wanted: this.#wanted,
      loops: this.#loops,
      poller: this.#poller,
      foundKeys,
      log,
      now,
      onKeyChanged: (credential) => {
        this.#tellKeyChanged(credential);
        this.#retry(credential);
      },
      lookAtKeys: options.lookAtKeys ?? (() => Promise.resolve()),
      inTurn: (change) => this.#inTurn(change),
    });
  }

  /** Whether every target was polled once; it stays so. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the last poll of every target and of every listing succeeded. */
  get allHealthy(): boolean {
    for (const { health } of this.#loops.all()) if (health.lastFailure) return false;
    for (const { state } of this.states.statuses()) if (state !== 'ok') return false;
    return true;
  }

  /** The state of every listing. */
  listings(): readonly ListingStatus[] {
    return this.#listings.statuses();
  }

  /** How much it holds, by what it is: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return {
      states: this.states.size,
      gone: this.#listings.gone,
      changes: this.#changes,
      ...this.#wanted.sizes,
      ...this.#loops.sizes,
      ...this.#failureLog.sizes,
      ...this.keys.sizes,
    };
  }

  /**
   * Polls what a configuration wants from now on; resolves when all that is known of that is in place. What is still the same
   * keeps its readings and its times; what changed, and what failed for a reason that may be gone now, is asked at once.
   */
  async apply(config: Config): Promise<void> {
    this.#addressCheck.reset();
    this.#config = config;
    await this.#reconcile();
    this.#retry();
    this.#tellPlanned();
  }

  /** A credential has another key: its listings are read at once, and its targets asked. */
  async keyChanged(credential: string): Promise<void> {
    this.#tellKeyChanged(credential);
    await this.#reconcile();
    this.#retry(credential);
  }

  /** Asks everything at once, whatever its interval; resolves when each such poll has come to an end. */
  async pollNow(): Promise<void> {
    await Promise.all(Array.from(this.#loops.all(), (loop) => loop.askNow()));
  }

  /** Takes the values off the page that are too old by now. */
  dropStale(): void {
    for (const { target, lastSuccessMs } of this.states.dropStale()) {
      const { kind, ids, name, staleAfterMs } = target;
      this.#failureLog.aged(
        kind,
        { kind, target: ids, name, last_success: new Date(lastSuccessMs ?? 0).toISOString() },
        `values are older than ${Math.round(staleAfterMs / 1000)} s and have left the page; they return with the next good poll`,
      );
      this.#keepSweeping();
    }
  }

  /** When the target is polled next, in milliseconds from now; 0 while it is under way or in line. */
  nextPollInMs({ target }: TargetStatus): number | undefined {
    return this.#loops.get(target.pollKey)?.dueInMs;
  }

  /** Ends every poll; resolves when none is under way. */
  async stop(): Promise<void> {
    clearTimeout(this.#sweep?.timer);
    await this.#loops.end();
    this.keys.settle();
    this.#failureLog.tell(true);
  }

  #reconcile(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#config) await this.#wanted.apply(this.#config);
    });
  }

  /** Carries out a change when those before it are done. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    this.#changes++;
    const done = this.#lastChange.then(() => this.#carryOut(change)).finally(() => this.#changes--);
    this.#lastChange = done.then(
      () => {
        this.#keepSweeping();
        // The last that was waited for may have left.
        this.#checkReady();
      },
      () => undefined,
    );
    return done;
  }

  async #carryOut(change: () => Promise<void>): Promise<void> {
    if (this.#loops.signal.aborted) return;
    this.#wanted.turns.begin();
    await change();
    await this.#wanted.settle();
    this.#listings.forgetGone();
    await this.#loops.startAll(this.#wanted.turns);
  }

  #targetLoops(resource: Resource): TargetLoops {
    const { states } = this;
    return {
      start: (target) => {
        states.add(target);
        if (isReadAlone(resource)) this.#start(readPollOf(resource, target));
        else this.#feed(target);
      },
      update: (before, target, isOther) => {
        states.update(target);
        if (isReadAlone(resource)) {
          this.#update(readPollOf(resource, target));
          if (isOther) this.#loops.get(target.key)?.runNow();
        } else {
          this.#loops.get(before.pollKey)?.unfeed(before);
          this.#feed(target);
        }
      },
      stop: (target) => {
        states.remove(target.key);
        if (isReadAlone(resource)) this.#stop(target.key);
        else this.#loops.get(target.pollKey)?.unfeed(target);
      },
    };
  }

  #feed(target: Target): void {
    const loop = this.#loops.get(target.pollKey);
    loop?.feed(target);
    if (loop && !this.#listings.feeds(loop)) loop.runNow();
  }

  #start(poll: Poll): void {
    this.#loops.add(poll);
    this.keys.add(poll);
    this.#isNews = true;
  }

  #update(poll: Poll): void {
    const before = this.#loops.get(poll.key)?.poll;
    this.#loops.update(poll);
    this.#isNews = true;
    if (!before || before.credential === poll.credential) return;
    this.keys.remove(before);
    this.keys.add(poll);
  }

  #stop(key: string): void {
    const loop = this.#loops.stop(key);
    this.#isNews = true;
    this.#failureLog.forget(key);
    if (!loop) return;
    this.#addressCheck.forget(loop.poll);
    this.keys.remove(loop.poll);
  }

  async #run(loop: Loop, permit: Permit, lagMs: number): Promise<number> {
    const { poll } = loop;
    if (isCounted(poll)) this.#options.observer.started(poll.kind, lagMs / 1000);
    const targets = () => (poll.type === 'read' ? [poll.target] : loop.fed.values());
    const outcome = await this.#poller.poll(poll, targets, loop.health, permit, loop.signal);
    if (!loop.isStopped) await this.#ended(loop, poll, outcome);
    // Of a poll that is wanted no more, the log remembers nothing.
    if (!this.#loops.get(poll.key)) this.#failureLog.forget(poll.key);
    return outcome.backoffFactor;
  }

  async #ended(loop: Loop, poll: Poll, { found, durationSeconds, isMissing }: Outcome): Promise<void> {
    this.#checkAddress(poll, isMissing);
    if (loop.health.lastFailure) this.#keepSweeping();
    if (poll.type === 'listing') await this.#listings.follow(loop, found, durationSeconds);
    // The poll of a target as it was before counts for nothing.
    else if (poll !== loop.poll) return;
    if (this.#loops.ended(loop)) this.#checkReady();
  }

  #checkAddress(poll: Poll, isMissing: boolean): void {
    const { api } = poll;
    if (!this.#addressCheck.ended(poll, isMissing, this.#loops.countOf(api))) return;
    const url = this.#config?.apis[api].baseUrl;
    this.#options.log.warn(
      { api, base_url: url },
      `every request to ${url} answers HTTP 404: check apis.${api}.base_url`,
    );
  }

  #tellKeyChanged(credential: string): void {
    this.#options.log.info({ credential }, `the key of ${credential} changed`);
  }

  /** Asks at once what failed for a reason that may be gone now. credential: only what is asked with it. */
  #retry(credential?: string): void {
    for (const loop of this.#loops.all())
      if (loop.health.lasting > 0 && loop.poll.credential === (credential ?? loop.poll.credential))
        loop.runNow();
  }

  #checkReady(): void {
    if (this.#loops.pending > 0 || this.#changes > 0 || this.#loops.signal.aborted) return;
    if (!this.#isReady) this.#tellPlanned();
    this.#isReady = true;
    this.#onAllPolled?.();
  }

  #tellPlanned(): void {
    if (!this.#isNews || !this.#config || this.#changes > 0) return;
    this.#isNews = false;
    const polls = Array.from(this.#loops.all(), ({ poll }) => poll);
    this.#options.onPlanned?.(capacity(polls, this.#config.apis));
  }

  /** Sets the time of the next sweep; called again when something came that cannot wait for a calm one. */
  #keepSweeping(): void {
    const isBusy = this.#loops.pending > 0 || this.#isNews || this.#failureLog.isBusy || this.keys.isWaiting;
    const isSoonEnough = this.#sweep !== undefined && (this.#sweep.isBusy || !isBusy);
    if (isSoonEnough || this.#loops.signal.aborted) return;
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
}
