/** A loop asks one thing again and again until it is stopped. It owns its schedule. */
import type { Permit, Waiter } from '../api/pacer.ts';
import { nextStart, offsetOf } from './schedule.ts';
import type { Poll } from './target.ts';
import type { Failure } from './target-states.ts';

/** How the polls of a loop have gone so far. */
export class PollHealth {
  /** Unix time. */
  lastSuccessMs: number | undefined;
  /** Of the last success. */
  lastDurationSeconds: number | undefined;
  lastFailure: Failure | undefined;
  /** Failures in a row that asking again does not mend: somebody has to change something. */
  lasting = 0;
  /** Whether the last poll got HTTP 404 without a reason: the path may be wrong. */
  isMissing = false;
}

export interface LoopContext {
  /**
   * Carries out one poll, releases the permit and never rejects. Resolves with how many intervals later the next poll is.
   */
  run(loop: Loop, permit: Permit, lagMs: number): Promise<number>;
  enqueue(poll: Poll, waiter: Waiter): void;
  readonly signal: AbortSignal;
}

/** The longest that Node's timers can wait. After a longer interval, the poll comes early. */
const longestWaitMs = 2 ** 31 - 1;

export class Loop {
  readonly health = new PollHealth();
  /** Whether a poll has ended, whatever the outcome. */
  hasEnded = false;
  /** Set while what a listing found is taken over: then its targets get their readings. */
  isTakenOver = false;
  poll: Poll;
  readonly #context: LoopContext;
  readonly #offset: number;
  #state: 'new' | 'waiting' | 'queued' | 'running' | 'stopped' = 'new';
  /** By `performance.now()`. */
  #dueAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether to ask again as soon as the current poll has ended. */
  #again = false;
  #running: Promise<void> | undefined;
  #waiters: (() => void)[] = [];

  constructor(poll: Poll, context: LoopContext) {
    this.poll = poll;
    this.#context = context;
    this.#offset = offsetOf(poll.key);
  }

  get isStopped(): boolean {
    return this.#state === 'stopped';
  }

  /** Resolves when the current poll has ended; undefined if there is none. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Milliseconds until it is due: 0 while it is being polled or in line. */
  get dueInMs(): number {
    return this.#state === 'waiting' ? Math.max(0, this.#dueAtMs - performance.now()) : 0;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  /** Asks at once, and from then on at its interval. */
  start(): void {
    if (this.#state === 'new') this.#schedule(performance.now());
  }

  /** Asks at once, even if it was backing off. If a poll is under way, asks again after it. */
  runNow(): void {
    if (this.#state === 'running') this.#again = true;
    else this.hasten();
  }

  /** Asks at once, unless a poll is under way. */
  hasten(): void {
    if (this.#state === 'waiting') this.#schedule(performance.now());
  }

  /** Asks at once; resolves when that poll has ended, or when the loop is stopped. */
  askNow(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.runNow();
    });
  }

  /** Changes to another poll of the same key. With a shorter interval it is asked at once. */
  update(poll: Poll): void {
    const isSooner = poll.intervalMs < this.poll.intervalMs;
    this.poll = poll;
    if (isSooner) this.hasten();
  }

  /** A request that was sent is still counted. No further page is asked for. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#state = 'stopped';
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
    this.#context.enqueue(this.poll, (permit) => {
      if (this.#state !== 'queued' || this.signal.aborted) return false;
      this.#running = this.#run(permit);
      return true;
    });
  }

  async #run(permit: Permit): Promise<void> {
    const startedMs = performance.now();
    const { poll } = this;
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
    // Not at once after a poll that took longer than its interval.
    const dueAtMs = nextMs > nowMs ? nextMs : this.#next(nowMs, 0.5);
    // A target that was replaced meanwhile is read again.
    const isOutdated = poll.type === 'read' && poll !== this.poll;
    this.#schedule(this.#again || isOutdated ? nowMs : dueAtMs);
  }

  #next(fromMs: number, intervals: number): number {
    return nextStart(this.poll.intervalMs, this.#offset, fromMs, intervals);
  }
}

/** One function for all timers. */
function enqueue(loop: Loop): void {
  loop.enqueue();
}
