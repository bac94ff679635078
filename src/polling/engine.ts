/**
 * The polls of the configuration in force: it plans them, follows the listings, and keeps scheduler, poller and board in
 * agreement. The way from configuration to store ends here; pages only look at it.
 */
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Permit } from '../api/pacer.ts';
import type { Config } from '../config/config.ts';
import type { ApiName, Resource } from '../resources/resource.ts';
import { type Plan, type Poll, plan, type Target } from './plan.ts';
import { type Client, Poller, type PollObserver } from './poller.ts';
import { type Line, Scheduler } from './scheduler.ts';
import { Board, type RowStore, type TargetStatus } from './target-states.ts';

export interface FleetObserver extends PollObserver {
  /** How late the latest poll of a kind started. */
  started(kind: string, lagSeconds: number): void;
}

export interface FleetOptions {
  readonly resources: readonly Resource[];
  readonly store: RowStore;
  readonly clientOf: (api: ApiName) => Client;
  readonly lineOf: (api: ApiName) => Line;
  readonly observer: FleetObserver;
  readonly log: Logger;
  /** Takes keys out of what the API wrote. */
  readonly redact: (text: string) => string;
  /** Whether a target's key belongs to this process. */
  readonly owns: (key: string) => boolean;
  /** Unix time. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

const sweepIntervalMs = 1000;

export class Fleet {
  readonly board: Board;
  readonly #options: FleetOptions;
  readonly #now: () => number;
  readonly #poller: Poller;
  readonly #scheduler: Scheduler<Poll>;
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Keys of polls that have not come to an end yet for the first time. */
  readonly #pending = new Set<string>();
  /** Called when the next poll that begins with this key has come to an end. */
  readonly #awaited = new Map<string, () => void>();
  readonly #listings = new Map<string, readonly string[]>();
  #config: Config | undefined;
  #plan: Plan = { targets: new Map(), polls: [] };
  #sweep: NodeJS.Timeout | undefined;
  #onAllPolled: (() => void) | undefined;

  /** Resolves once every target was polled, whatever the outcome; targets wanted later do not count. */
  readonly allPolled: Promise<void>;
  #isReady = false;

  constructor(options: FleetOptions) {
    const { store, clientOf, lineOf, observer, log, redact } = options;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.allPolled = new Promise((resolve) => {
      this.#onAllPolled = resolve;
    });
    const now = this.#now;
    this.board = new Board(store, now);
    const onListing = (credential: string, ids: readonly string[]) => this.#follow(credential, ids);
    this.#poller = new Poller({ clientOf, board: this.board, observer, log, redact, onListing, now });
    this.#scheduler = new Scheduler(
      (poll, permit, lagMs) => this.#run(poll, permit, lagMs),
      ({ resource }) => lineOf(resource.api),
    );
    // Every request under way listens for the end.
    setMaxListeners(0, this.#abort.signal);
  }

  /** Whether every target was polled once; it stays so. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether every target's last poll succeeded. */
  get isWell(): boolean {
    if (this.#plan.polls.some(({ key }) => this.#poller.isFailing(key))) return false;
    return [...this.board.statuses()].every(({ state }) => state === 'ok');
  }

  /**
   * Polls what a configuration wants from now on. Unchanged targets keep their readings and their places; changed ones,
   * and those that failed for a reason that may be gone now, are asked at once.
   */
  apply(config: Config): void {
    this.#config = config;
    const before = this.#plan.targets;
    this.#replan();
    this.#scheduler.hasten(
      ({ key, targets }) =>
        this.#poller.awaitsChange(key) ||
        targets.some((target) => before.get(target.key) !== undefined && before.get(target.key) !== target),
    );
    this.#checkReady();
    this.#sweep ??= setInterval(() => this.dropStale(), sweepIntervalMs).unref();
  }

  /** Asks at once what the old key of a credential may have failed for. */
  keyChanged(credential: string): void {
    this.#scheduler.hasten((poll) => poll.credential === credential && this.#poller.awaitsChange(poll.key));
  }

  /** Asks everything at once, whatever its interval; resolves when each such poll has come to an end. */
  async pollNow(): Promise<void> {
    const ended = this.#plan.polls.map(
      ({ key }) => new Promise<void>((resolve) => this.#awaited.set(key, resolve)),
    );
    this.#scheduler.hasten(() => true);
    await Promise.all(ended);
  }

  /** Takes the values off the page that are too old by now. */
  dropStale(): void {
    for (const status of this.board.dropStale(this.#now())) this.#logStale(status);
  }

  /** When the target is polled next, in milliseconds from now; 0 while it is under way or in line. */
  nextPollInMs({ target }: TargetStatus): number | undefined {
    return this.#scheduler.dueInMs(target.pollKey);
  }

  /** Ends every poll; resolves when none is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#sweep);
    this.#scheduler.stop();
    this.#abort.abort(new Error('the exporter is stopping'));
    await Promise.allSettled(this.#running);
  }

  #replan(): void {
    if (!this.#config) return;
    const { resources, owns } = this.#options;
    this.#plan = plan(this.#config, resources, this.#listings, owns, this.#plan);
    const keys = new Set(this.#plan.polls.map(({ key }) => key));
    for (const key of this.#pending) if (!keys.has(key)) this.#pending.delete(key);
    for (const [key, resolve] of this.#awaited) if (!keys.has(key) && this.#awaited.delete(key)) resolve();
    for (const key of keys) if (!this.#poller.hasPolled(key)) this.#pending.add(key);
    this.#poller.retain(keys);
    this.board.reconcile(this.#plan.targets);
    this.#scheduler.reconcile(this.#plan.polls);
  }

  /** Takes over what a complete listing has; answers with the targets that it feeds. */
  #follow(credential: string, ids: readonly string[]): readonly Target[] {
    this.#listings.set(credential, ids);
    this.#replan();
    const listing = this.#plan.polls.find((poll) => isListing(poll) && poll.credential === credential);
    return listing?.targets ?? [];
  }

  async #run(poll: Poll, permit: Permit, lagMs: number): Promise<number> {
    this.#options.observer.started(poll.kind, lagMs / 1000);
    const onEnd = this.#awaited.get(poll.key);
    this.#awaited.delete(poll.key);
    const running = this.#poller.poll(poll, permit, this.#abort.signal);
    this.#running.add(running);
    const slowdown = await running;
    this.#running.delete(running);
    this.#pending.delete(poll.key);
    this.#checkReady();
    onEnd?.();
    return slowdown;
  }

  #checkReady(): void {
    if (this.#pending.size > 0 || this.#abort.signal.aborted) return;
    this.#isReady = true;
    this.#onAllPolled?.();
  }

  #logStale({ target, lastSuccessMs }: TargetStatus): void {
    const { kind, ids, name, staleAfterMs } = target;
    this.#options.log.warn(
      { kind, target: ids, name, last_success: new Date(lastSuccessMs ?? 0).toISOString() },
      `values are older than ${Math.round(staleAfterMs / 1000)} s and have left the page; they return with the next good poll`,
    );
  }
}

function isListing({ resource }: Poll): boolean {
  return resource.mode === 'listing';
}
