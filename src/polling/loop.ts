/**
 * A loop asks one thing again and again until it is stopped. It owns its schedule, its health and its end;
 * what a poll does is up to others.
 */
import type { Permit, Waiter } from '../api/pacer.ts';
import { idText } from '../discovery/discovered.ts';
import { nextStart, type Place, type Places } from './schedule.ts';
import type { Poll, Target } from './target.ts';
import type { Failure } from './target-states.ts';

/** How the polls of a loop have gone so far. */
export interface PollHealth {
  lastFailure: Failure | undefined;
  /** Polls in a row that failed for a reason that will last until somebody changes something. */
  lasting: number;
}

/** What all loops share. */
export interface LoopContext {
  /**
   * Carries out one poll and never rejects. Resolves with how many intervals the next one may be away: 1, or more for what
   * is asked less often. It owns the permit and releases it.
   */
  run(loop: Loop, permit: Permit, lagMs: number): Promise<number>;
  /** Puts a poll in line for its permit. */
  enqueue(poll: Poll, waiter: Waiter): void;
  /** The places of the poll's queue, over which its polls are spread evenly. */
  placesOf(poll: Poll): Places;
  /** What offsets count from, on the clock of `performance.now()`. */
  readonly anchorMs: number;
  /** Ends every poll. */
  readonly signal: AbortSignal;
}

/** The longest that Node's timers can wait. A longer wait is cut short, and the poll comes early. */
const longestWaitMs = 2 ** 31 - 1;

const noTargets = new Map<string, Target>();

export class Loop {
  readonly health: PollHealth = { lastFailure: undefined, lasting: 0 };
  /** Whether a poll has come to an end, whatever the outcome. */
  hasEnded = false;
  readonly #context: LoopContext;
  readonly #fed: Map<string, Target>;
  #poll: Poll;
  #places: Places;
  #place: Place;
  #state: 'new' | 'waiting' | 'queued' | 'running' | 'stopped' = 'new';
  /** When it is due, on the clock of `performance.now()`. */
  #dueAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** To be asked again as soon as it has ended. */
  #again = false;
  #running: Promise<void> | undefined;
  #waiters: (() => void)[] = [];

  constructor(poll: Poll, context: LoopContext) {
    this.#poll = poll;
    this.#context = context;
    this.#places = context.placesOf(poll);
    this.#place = this.#places.take();
    this.#fed = poll.type === 'listing' ? new Map<string, Target>() : noTargets;
  }

  get poll(): Poll {
    return this.#poll;
  }

  /** Where in the interval it is asked, in [0, 1). */
  get offset(): number {
    return this.#place.offset;
  }

  /** The targets that a listing feeds with readings, by their ids as text. */
  get fed(): ReadonlyMap<string, Target> {
    return this.#fed;
  }

  get isStopped(): boolean {
    return this.#state === 'stopped';
  }

  /** Resolves when the poll that is under way has ended; undefined where there is none. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** How long until it is due, in milliseconds: 0 while it is under way or in line. */
  get dueInMs(): number {
    return this.#state === 'waiting' ? Math.max(0, this.#dueAtMs - performance.now()) : 0;
  }

  /** Adds a target that the listing feeds. */
  feed(target: Target): void {
    this.#fed.set(idText(target.ids), target);
  }

  unfeed({ ids }: Target): void {
    this.#fed.delete(idText(ids));
  }

  /** Ends the request that is under way, as the exporter stops. */
  get signal(): AbortSignal {
    return this.#context.signal;
  }

  /** Asks at once, and from then on at its interval. */
  start(): void {
    if (this.#state === 'new') this.#schedule(performance.now());
  }

  /** Asks at once, even if it was backing off; while it is running, again when that has ended. */
  runNow(): void {
    if (this.#state === 'running') this.#again = true;
    else if (this.#state === 'waiting') this.#schedule(performance.now());
  }

  /** Asks at once; resolves when that poll has ended, or when the loop is stopped. */
  askNow(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.runNow();
    });
  }

  /** Takes up another poll of the same key; it keeps its offset unless its queue changes. */
  update(poll: Poll): void {
    const before = this.#poll;
    this.#poll = poll;
    if (poll.queue !== before.queue) {
      this.#places.free(this.#place);
      this.#places = this.#context.placesOf(poll);
      this.#place = this.#places.take();
    }
    if (this.#state !== 'waiting' || poll.intervalMs >= before.intervalMs) return;
    const soonestMs = this.#next(performance.now(), 1);
    if (soonestMs < this.#dueAtMs) this.#schedule(soonestMs);
  }

  /** Asks no more: a request that was sent is waited for, so that it is counted, but no further page is asked for. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#state = 'stopped';
    this.#places.free(this.#place);
    for (const resolve of this.#waiters) resolve();
  }

  #schedule(dueAtMs: number): void {
    clearTimeout(this.#timer);
    this.#state = 'waiting';
    this.#dueAtMs = dueAtMs;
    const waitMs = Math.ceil(dueAtMs - performance.now());
    this.#timer = setTimeout(enqueue, Math.min(Math.max(0, waitMs), longestWaitMs), this);
  }

  enqueue(): void {
    this.#state = 'queued';
    this.#context.enqueue(this.#poll, (permit) => {
      if (this.#state !== 'queued' || this.#context.signal.aborted) return false;
      this.#running = this.#run(permit);
      return true;
    });
  }

  async #run(permit: Permit): Promise<void> {
    const startedMs = performance.now();
    const poll = this.#poll;
    const waiters = this.#waiters;
    this.#state = 'running';
    this.#again = false;
    this.#waiters = [];
    const intervals = await this.#context.run(this, permit, startedMs - this.#dueAtMs);
    this.#running = undefined;
    for (const resolve of waiters) resolve();
    if (this.isStopped) return;
    const nowMs = performance.now();
    const nextMs = this.#next(startedMs, intervals);
    // A poll that took longer than its interval is not followed by the next at once.
    const dueAtMs = nextMs > nowMs ? nextMs : this.#next(nowMs, 0.5);
    // The reading was of the target as it was before, so it is not kept.
    const isOutdated = poll.type === 'read' && poll !== this.#poll;
    this.#schedule(this.#again || isOutdated ? nowMs : dueAtMs);
  }

  #next(fromMs: number, intervals: number): number {
    return nextStart(this.#context.anchorMs, this.#poll.intervalMs, this.offset, fromMs, intervals);
  }
}

/** One function for all timers. */
function enqueue(loop: Loop): void {
  loop.enqueue();
}
