/**
 * Polls what the current configuration wants. Its sections subscribe to listings; what a listing finds comes as groups of
 * targets to the pool of their kind; the pool starts and stops polls; the poller carries them out and tells the target states,
 * which write to the store. Pages only look at the states.
 */
import type { Config } from '../config/config.ts';
import type { Resource } from '../resources/resource.ts';
import { type ApiCapacity, capacity } from './capacity.ts';
import type { KeyCheck } from './key-check.ts';
import { type FoundKeys, type ListingStatus, Listings } from './listings.ts';
import type { Loop } from './loop.ts';
import type { Outcome, PollerOptions } from './poller.ts';
import { Polls, type PollsOptions } from './polls.ts';
import { type RowStore, TargetStates, type TargetStatus } from './target-states.ts';
import { Wanted } from './wanted.ts';

export interface EngineOptions
  extends Pick<PollsOptions, 'observer' | 'paceOf'>,
    Pick<PollerOptions, 'clientOf' | 'log' | 'redact' | 'keySource' | 'isOnce'> {
  readonly resources: readonly Resource[];
  readonly store: RowStore;
  readonly foundKeys: FoundKeys;
  /** An id for the current key of a credential. Default: keys never change. */
  readonly keyIdOf?: ((credential: string) => string) | undefined;
  /** Notices keys that have changed: `keyChanged` is called for them before this resolves. */
  readonly lookAtKeys?: (() => Promise<void>) | undefined;
  /** Whether the target of a key belongs to this shard. */
  readonly owns: (key: string) => boolean;
  /** Called with what the polls need, once changes have settled. */
  readonly onPlanned?: ((capacities: readonly ApiCapacity[]) => void) | undefined;
  /** Called every ten seconds, so that others need no timer of their own. */
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
  readonly #polls: Polls;
  readonly #wanted: Wanted;
  readonly #listings: Listings;
  /** Looks after what no poll and no scrape looks after. */
  readonly #sweeping = setInterval(() => this.#sweep(), sweepIntervalMs).unref();
  #config: Config | undefined;
  #lastChange: Promise<unknown> = Promise.resolve();
  /** Changes that are not carried out yet. */
  #changes = 0;
  #isReady = false;
  #onAllPolled: (() => void) | undefined;

  /** Resolves once every target was polled, whatever the outcome. Targets that are wanted later do not count. */
  readonly allPolled = new Promise<void>((resolve) => {
    this.#onAllPolled = resolve;
  });

  constructor(options: EngineOptions) {
    const { log, resources, owns, foundKeys } = options;
    const now = options.now ?? Date.now;
    this.#options = options;
    this.states = new TargetStates(options.store, options.uptimeMs);
    const polls = new Polls({
      ...options,
      states: this.states,
      now,
      foundBefore: ({ key }) => this.#wanted.providers.get(key)?.found,
      targetsOf: (poll) => this.#wanted.targetsOf(poll),
      onEnd: (loop, outcome) => this.#onEnd(loop, outcome),
      onFirstEnd: () => this.#checkReady(),
    });
    this.#polls = polls;
    this.#wanted = new Wanted({
      resources,
      owns,
      keyIdOf: options.keyIdOf ?? (() => ''),
      listingLoops: {
        start: ({ poll }) => polls.start(poll),
        update: ({ poll }) => polls.update(poll),
        stop: (provider) => {
          polls.stop(provider.poll.key);
          this.#listings.leave(provider);
        },
      },
      targetLoops: (resource) => polls.targetLoops(resource),
    });
    this.#listings = new Listings({
      wanted: this.#wanted,
      polls,
      foundKeys,
      log,
      now,
      onKeyChanged: (credential) => {
        this.#logKeyChanged(credential);
        polls.retry(credential);
      },
      lookAtKeys: options.lookAtKeys ?? (() => Promise.resolve()),
      inTurn: (change) => this.#inTurn(change),
    });
  }

  /** Which keys are refused. */
  get keys(): KeyCheck {
    return this.#polls.keys;
  }

  /** Whether every target was polled once; it stays so. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the last poll of every target and of every listing succeeded. */
  get allHealthy(): boolean {
    for (const { health } of this.#polls.loops.all()) if (health.lastFailure) return false;
    for (const { state } of this.states.statuses()) if (state !== 'ok') return false;
    return true;
  }

  listings(): readonly ListingStatus[] {
    return this.#listings.statuses();
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return {
      states: this.states.size,
      gone: this.#listings.gone,
      changes: this.#changes,
      ...this.#wanted.sizes,
      ...this.#polls.sizes,
    };
  }

  /**
   * Polls what a configuration wants from now on; resolves when everything known of that is in place. What stays the same keeps
   * its readings and times. What changed, and what failed for a reason that may be gone, is asked at once.
   */
  async apply(config: Config): Promise<void> {
    this.#polls.forgetAddresses();
    this.#config = config;
    await this.#reconcile();
    this.#polls.retry();
    this.#tellPlanned();
  }

  /** A credential has another key: its listings are read at once, and its targets asked. */
  async keyChanged(credential: string): Promise<void> {
    this.#logKeyChanged(credential);
    await this.#reconcile();
    this.#polls.retry(credential);
  }

  /** Asks everything at once, whatever its interval; resolves when all these polls have ended. */
  async pollNow(): Promise<void> {
    await Promise.all(Array.from(this.#polls.loops.all(), (loop) => loop.askNow()));
  }

  /** Takes stale values off the page. */
  dropStale(): void {
    for (const { target, lastSuccessMs } of this.states.dropStale()) {
      const { kind, ids, name, staleAfterMs } = target;
      this.#polls.failureLog.aged(
        kind,
        { kind, target: ids, name, last_success: new Date(lastSuccessMs ?? 0).toISOString() },
        `values are older than ${Math.round(staleAfterMs / 1000)} s and have left the page; they return with the next good poll`,
      );
    }
  }

  /** Milliseconds until the target is polled next; 0 while it is being polled or in line. */
  nextPollInMs({ target }: TargetStatus): number | undefined {
    return this.#polls.loops.get(target.pollKey)?.dueInMs;
  }

  /** Ends every poll; resolves when none is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeping);
    await this.#polls.loops.end();
    this.keys.settle();
    this.#polls.failureLog.tell();
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
      // The target that readiness waited for may be gone.
      () => this.#checkReady(),
      () => undefined,
    );
    return done;
  }

  async #carryOut(change: () => Promise<void>): Promise<void> {
    const { loops } = this.#polls;
    if (loops.signal.aborted) return;
    this.#wanted.turns.begin();
    await change();
    await this.#wanted.settle();
    this.#listings.forgetGone();
    await loops.startAll(this.#wanted.turns);
  }

  async #onEnd(loop: Loop, { found, durationSeconds }: Outcome): Promise<void> {
    if (loop.poll.type === 'listing') await this.#listings.follow(loop, found, durationSeconds);
  }

  #sweep(): void {
    this.dropStale();
    this.keys.settle();
    this.#polls.failureLog.tell();
    this.#tellPlanned();
    this.#checkAddresses();
    this.#options.onSweep?.();
  }

  #logKeyChanged(credential: string): void {
    this.#options.log.info({ credential }, `the key of ${credential} changed`);
  }

  #checkReady(): void {
    const { loops } = this.#polls;
    if (loops.pending > 0 || this.#changes > 0 || loops.signal.aborted) return;
    if (!this.#isReady) {
      this.#checkAddresses();
      this.#tellPlanned();
    }
    this.#isReady = true;
    this.#onAllPolled?.();
  }

  #checkAddresses(): void {
    const { apis } = this.#config ?? {};
    if (apis) this.#polls.checkAddresses((api) => apis[api].baseUrl);
  }

  #tellPlanned(): void {
    if (!this.#polls.hasChanged || !this.#config || this.#changes > 0) return;
    this.#polls.hasChanged = false;
    const polls = Array.from(this.#polls.loops.all(), ({ poll }) => poll);
    this.#options.onPlanned?.(capacity(polls, this.#config.apis));
  }
}
