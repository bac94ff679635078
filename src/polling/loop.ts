/** A loop polls one thing again and again until it is stopped. It owns the schedule, and the record of how its polls went. */
import type { Permit, Waiter } from '../api/pacer.ts';
import { offsetOf } from '../hash.ts';
import { nextStart } from './schedule.ts';
import type { Poll } from './target.ts';

/** Why a poll failed, as its record has it. */
export interface Failure {
  /** The value of the label `result`. */
  readonly result: string;
  /** One line, without keys. */
  readonly message: string;
  /** The HTTP status, if there was an answer. */
  readonly status?: number | undefined;
  /** The API's own name of the error. */
  readonly errorKey?: string | undefined;
  /** What to do about it, as sentences, where more is known than the result. */
  readonly advice?: string | undefined;
  /** Unix time. */
  readonly atMs: number;
  /** When the first failure in a row for this reason was. Unix time. */
  readonly sinceMs: number;
}

const hostFailures: readonly string[] = ['network', 'timeout', 'server_error', 'schema'];

/** Whether the host is to blame rather than what was asked of it. In an outage, one of these failures follows another. */
export function isHostFailure({ result }: Pick<Failure, 'result'>): boolean {
  return hostFailures.includes(result);
}

/** The same text for failures that have the same reason, though their messages may differ. */
function reasonKeyOf(failure: Omit<Failure, 'sinceMs'>): string {
  const { result, status, message } = failure;
  if (isHostFailure(failure)) return 'host';
  if (result === 'auth') return `auth ${status}`;
  return result === 'rate_limited' ? result : `${result} ${message}`;
}

/** The failure after another one, or after a success. */
export function nextFailure(before: Failure | undefined, failure: Omit<Failure, 'sinceMs'>): Failure {
  const isSame = before !== undefined && reasonKeyOf(before) === reasonKeyOf(failure);
  return { ...failure, sinceMs: isSame ? before.sinceMs : failure.atMs };
}

/** How the polls of a loop went. Everything else that is known of them follows from it. */
export interface PollRecord {
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  /** Of the last poll; undefined if that succeeded. */
  readonly lastFailure: Failure | undefined;
  /** When the first of the failures in a row was, whatever their reasons. Unix time; undefined if the last poll succeeded. */
  readonly failingSinceMs: number | undefined;
  /** Failures in a row that a retry does not mend: somebody has to change something. */
  readonly permanentFailures: number;
}

export const neverPolled: PollRecord = {
  lastSuccessMs: undefined,
  lastDurationSeconds: undefined,
  lastFailure: undefined,
  failingSinceMs: undefined,
  permanentFailures: 0,
};

/** Whether a poll has ended, whatever the outcome. */
export function hasEnded({ lastSuccessMs, lastFailure }: PollRecord): boolean {
  return lastSuccessMs !== undefined || lastFailure !== undefined;
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

/** One list for all loops: rarely somebody waits for a poll. */
const nobody: readonly (() => void)[] = [];

export class Loop {
  poll: Poll;
  record: PollRecord = neverPolled;
  /** Since when it exists, by `performance.now()`. */
  readonly sinceMs = performance.now();
  readonly #context: LoopContext;
  readonly #offset: number;
  #state: 'new' | 'waiting' | 'queued' | 'running' | 'stopped' = 'new';
  /** By `performance.now()`. */
  #dueAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Counts the changes after which a poll under way no longer counts. */
  #revision = 0;
  /** Whether to poll again as soon as the current poll has ended. */
  #again = false;
  #running: Promise<void> | undefined;
  #waiters: readonly (() => void)[] = nobody;

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

  /** Tells whether what is begun now still counts: not after a stop, nor after an update that must be read again. */
  begin(): () => boolean {
    const revision = this.#revision;
    return () => !this.isStopped && this.#revision === revision;
  }

  /** Polls at once, and from then on at its interval. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#dueAtMs = performance.now();
    this.enqueue();
  }

  /** Polls at once, even if it was backing off. If a poll is under way, polls again after it. */
  runNow(): void {
    if (this.#state === 'running') this.#again = true;
    else if (this.#state === 'waiting') this.#schedule(performance.now());
  }

  /** Polls at once; resolves when that poll has ended, or when the loop is stopped. */
  pollNow(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters = [...this.#waiters, resolve];
      this.runNow();
    });
  }

  /**
   * Changes to another poll of the same key. With a shorter interval it is polled at once.
   *
   * @param mustReread whether other values are read from now on; then a poll under way does not count
   */
  update(poll: Poll, mustReread: boolean): void {
    const isSooner = poll.intervalMs < this.poll.intervalMs;
    this.poll = poll;
    if (mustReread) this.#revision++;
    if (mustReread || (isSooner && this.#state === 'waiting')) this.runNow();
  }

  /** A request that was sent is still counted. No further page is requested. */
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
    const waiters = this.#waiters;
    this.#state = 'running';
    this.#again = false;
    this.#waiters = nobody;
    const intervals = await this.#context.run(this, permit, startedMs - this.#dueAtMs);
    this.#running = undefined;
    for (const resolve of waiters) resolve();
    if (this.isStopped) return;
    const nowMs = performance.now();
    const nextMs = this.#next(startedMs, intervals);
    // Not at once after a poll that took longer than its interval.
    const dueAtMs = nextMs > nowMs ? nextMs : this.#next(nowMs, 0.5);
    this.#schedule(this.#again ? nowMs : dueAtMs);
  }

  #next(fromMs: number, intervals: number): number {
    return nextStart(this.poll.intervalMs, this.#offset, fromMs, intervals);
  }
}

/** One function for all timers. */
function enqueue(loop: Loop): void {
  loop.enqueue();
}
