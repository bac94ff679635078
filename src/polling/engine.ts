/**
 * Polls what the current configuration wants. Its sections subscribe to listings and give groups of targets to the pools,
 * which start and stop polls. The poller carries them out and tells the target states, which write to the store.
 */
import type { Permit } from '../api/pacer.ts';
import type { Config } from '../config/config.ts';
import { apiNames, type Found, type Resource } from '../resources/resource.ts';
import { type ApiCapacity, capacity } from './capacity.ts';
import { FailureLog } from './failure-log.ts';
import { KeyCheck } from './key-check.ts';
import { type FoundKeys, type ListingStatus, Listings } from './listings.ts';
import type { Loop } from './loop.ts';
import { Poller, type PollerOptions } from './poller.ts';
import { Polls, type PollsOptions } from './polls.ts';
import { isCounted } from './target.ts';
import { type RowStore, TargetStates, type TargetStatus } from './target-states.ts';
import { Wanted, type WantedOptions } from './wanted.ts';

export interface EngineOptions
  extends Pick<PollsOptions, 'paceOf'>,
    Pick<WantedOptions, 'owns'>,
    Pick<PollerOptions, 'clientOf' | 'observer' | 'log' | 'redact' | 'keySource' | 'isOnce'> {
  readonly resources: readonly Resource[];
  readonly store: RowStore;
  readonly foundKeys: FoundKeys;
  /** An id for the current key of a credential. Default: keys never change. */
  readonly keyIdOf?: ((credential: string) => string) | undefined;
  /** Calls `keyChanged` for keys that have changed, before it resolves. */
  readonly lookAtKeys?: (() => Promise<void>) | undefined;
  /** Called when polls have changed. */
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
  readonly keys: KeyCheck;
  readonly #options: EngineOptions;
  readonly #failureLog: FailureLog;
  readonly #poller: Poller;
  readonly #polls: Polls;
  readonly #wanted: Wanted;
  readonly #listings: Listings;
  readonly #sweeping = setInterval(() => this.#sweep(), sweepIntervalMs).unref();
  /** Of the listings; undefined where one may have changed since. */
  #statuses: readonly ListingStatus[] | undefined;
  #config: Config | undefined;
  #lastChange: Promise<unknown> = Promise.resolve();
  /** How many changes are waiting or under way. */
  #changes = 0;
  #isReady = false;
  #areAddressesChecked = false;
  #onAllPolled: (() => void) | undefined;

  /** Resolves once every target was polled, whatever the outcome. */
  readonly allPolled = new Promise<void>((resolve) => {
    this.#onAllPolled = resolve;
  });

  constructor(options: EngineOptions) {
    const { log } = options;
    const states = new TargetStates(options.store, options.uptimeMs);
    const failureLog = new FailureLog(log);
    const keyCheck = new KeyCheck((pollKey) => polls.get(pollKey), options.uptimeMs);
    const common = { states, failureLog, keyCheck };
    const poller = new Poller({
      ...options,
      ...common,
      now: options.now ?? Date.now,
      foundBefore: ({ key }) => wanted.providers.get(key)?.found,
      targetsOf: (poll) => wanted.targetsOf(poll),
    });
    const polls = new Polls({
      ...options,
      ...common,
      run: (loop, permit, lagMs) => this.#poll(loop, permit, lagMs),
      onFirstEnd: () => {
        this.#statuses = undefined;
        this.#checkReady();
      },
    });
    const wanted = new Wanted({
      ...options,
      keyIdOf: options.keyIdOf ?? (() => ''),
      loops: polls,
    });
    const listings = new Listings({ wanted, polls, poller, foundKeys: options.foundKeys, log });
    this.#options = options;
    this.states = states;
    this.keys = keyCheck;
    this.#failureLog = failureLog;
    this.#poller = poller;
    this.#polls = polls;
    this.#wanted = wanted;
    this.#listings = listings;
  }

  /** Whether every target was polled once; it stays so. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the last poll of every target and of every listing succeeded. */
  get allHealthy(): boolean {
    for (const { health } of this.#polls.all()) if (health.lastFailure) return false;
    for (const { state } of this.states.statuses()) if (state !== 'ok') return false;
    return true;
  }

  /** The same array as long as nothing changes. */
  listings(): readonly ListingStatus[] {
    this.#statuses ??= this.#listings.statuses();
    const statuses = this.#statuses;
    // While a change is under way, there is no telling what it has changed so far.
    if (this.#changes > 0) this.#statuses = undefined;
    return statuses;
  }

  /** Sizes by name, for tests: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return {
      states: this.states.size,
      listingsWithKeys: this.#listings.withKeys,
      changes: this.#changes,
      ...this.#wanted.sizes,
      ...this.#polls.sizes,
      ...this.#failureLog.sizes,
      ...this.keys.sizes,
    };
  }

  /**
   * Polls what a configuration wants; resolves when everything known of that is in place. What stays the same keeps its
   * readings and times. What changed, and what failed for a reason that may be gone, is asked at once.
   */
  async apply(config: Config): Promise<void> {
    this.#config = config;
    this.#areAddressesChecked = false;
    await this.#reconcile();
    this.#polls.retry();
    this.#tellPlanned();
  }

  /** A credential has another key: its listings are read at once, and its targets asked. */
  async keyChanged(credential: string): Promise<void> {
    await this.#reconcile();
    this.#listings.keyChanged(credential);
  }

  /** Asks everything at once; resolves when all these polls have ended. */
  async pollNow(): Promise<void> {
    await Promise.all(Array.from(this.#polls.all(), (loop) => loop.askNow()));
  }

  dropStale(): void {
    for (const { target, lastSuccessMs } of this.states.dropStale()) {
      const { kind, ids, name, staleAfterMs } = target;
      this.#failureLog.aged(
        kind,
        { kind, target: ids, name, last_success: new Date(lastSuccessMs ?? 0).toISOString() },
        `values are older than ${Math.round(staleAfterMs / 1000)} s and have left the page; they return with the next good poll`,
      );
    }
  }

  /** Milliseconds until the target is polled next; 0 while it is being polled or in line. */
  nextPollInMs({ target }: TargetStatus): number | undefined {
    return this.#polls.get(target.pollKey)?.dueInMs;
  }

  /** Ends every poll; resolves when none is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeping);
    await this.#polls.end();
    this.keys.settle();
    this.#failureLog.tell();
  }

  #reconcile(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#config) await this.#wanted.apply(this.#config);
    });
  }

  /** Carries out one change at a time. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    this.#changes++;
    this.#statuses = undefined;
    const carryOut = async () => {
      if (this.#polls.signal.aborted) return;
      this.#wanted.turns.begin();
      await change();
      await this.#wanted.settle();
      this.#listings.forgetGone();
    };
    const done = this.#lastChange.then(carryOut).finally(() => this.#changes--);
    this.#lastChange = done.then(
      // The last target that was not polled yet may be gone.
      () => this.#checkReady(),
      () => undefined,
    );
    return done;
  }

  async #poll(loop: Loop, permit: Permit, lagMs: number): Promise<number> {
    const { poll } = loop;
    if (isCounted(poll)) this.#options.observer.started(poll.kind, lagMs / 1000);
    const { backoffFactor, found } = await this.#poller.poll(poll, loop, permit);
    if (poll.type === 'read') return backoffFactor;
    this.#statuses = undefined;
    try {
      if (!loop.isStopped) await this.#follow(loop, found);
      return backoffFactor;
    } catch (error) {
      this.#statuses = undefined;
      return this.#poller.failed(poll, loop, error);
    }
  }

  async #follow(loop: Loop, found: readonly Found[] | undefined): Promise<void> {
    const provider = this.#wanted.providers.get(loop.poll.key);
    if (!provider) return;
    if (!found) {
      if (!provider.hasEnded) await this.#inTurn(() => provider.fail());
      return;
    }
    await provider.namesKnown(loop.signal);
    // If the key changed meanwhile, the pages may be from two accounts. Then this stops the loop.
    await this.#options.lookAtKeys?.();
    await this.#inTurn(async () => {
      if (!loop.isStopped) await this.#listings.takeOver(loop, provider, found);
    });
  }

  #sweep(): void {
    this.dropStale();
    this.keys.settle();
    this.#failureLog.tell();
    this.#tellPlanned();
    this.#options.onSweep?.();
  }

  #checkReady(): void {
    if (this.#polls.pending > 0 || this.#changes > 0 || this.#polls.signal.aborted) return;
    if (!this.#isReady) this.#tellPlanned();
    if (!this.#areAddressesChecked) this.#checkAddresses();
    this.#isReady = true;
    this.#onAllPolled?.();
  }

  /** Warns of an API that answers everything with 404: its base URL is wrong, or all of the ids are. */
  #checkAddresses(): void {
    this.#areAddressesChecked = true;
    for (const api of apiNames) {
      const url = this.#config?.apis[api].baseUrl;
      if (!this.#polls.isNowhere(api)) continue;
      const line = `every request to ${url} answers HTTP 404: check apis.${api}.base_url`;
      this.#options.log.warn({ api, base_url: url }, line);
    }
  }

  #tellPlanned(): void {
    if (!this.#polls.hasChanged || !this.#config || this.#changes > 0) return;
    this.#polls.hasChanged = false;
    const polls = Array.from(this.#polls.all(), ({ poll }) => poll);
    for (const api of apiNames) {
      const queues = new Set(polls.filter((poll) => poll.api === api).map(({ queue }) => queue));
      this.#options.paceOf(api).setQueues(queues);
    }
    this.#options.onPlanned?.(capacity(polls, this.#config.apis));
  }
}
