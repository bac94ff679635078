/**
 * Starts every poll at its own interval: evenly spread, never two of the same at once, in the queue of its API's pacer. How
 * a poll ended is told to it as a backoff factor alone.
 */
import type { Permit, Waiter } from '../api/pacer.ts';
import { type Due, DueQueue, nextStart, Offsets, offsetOf } from './schedule.ts';

export interface Schedulable {
  readonly key: string;
  /** Items of one queue are spread evenly among each other. */
  readonly queue: string;
  readonly intervalMs: number;
}

/** Where polls wait for their permit. */
export interface PermitQueues {
  enqueue(queue: string, waiter: Waiter): void;
}

/**
 * Runs a poll to its end and never rejects. Resolves with how many intervals the next one may be away (1, or more for
 * what is asked less often). It owns the permit and releases it.
 */
export type Run<Item> = (item: Item, permit: Permit, lagMs: number) => Promise<number>;

interface Entry<Item> {
  item: Item;
  /** Handed out by the queue's Offsets. */
  readonly number: number;
  readonly offset: number;
  /** held: an earlier run of the same key has not ended yet. */
  state: 'held' | 'waiting' | 'queued' | 'running' | 'removed';
  /** When it is due, while waiting or queued (monotonic). */
  dueAtMs: number;
  /** Asked for at once while it was running. */
  again: boolean;
}

const longestTimerMs = 3_600_000;
/** So much of the queue may be out of date, beyond one for each entry, before it is cleared out. */
const maxOutdated = 100;
/** How many due polls are put in line before others have their turn. */
const maxEnqueuedAtOnce = 200;

/** What was made due sooner is in the queue a second time, under a time that no longer holds; what was removed is, too. */
function holds({ item, atMs }: Due<Entry<unknown>>): boolean {
  return item.state === 'waiting' && item.dueAtMs === atMs;
}

export class Scheduler<Item extends Schedulable> {
  readonly #run: Run<Item>;
  readonly #permitsOf: (item: Item) => PermitQueues;
  readonly #entries = new Map<string, Entry<Item>>();
  /** Keys of removed entries whose run has not ended. */
  readonly #leaving = new Set<string>();
  readonly #offsets = new Map<string, Offsets>();
  readonly #due = new DueQueue<Entry<Item>>();
  readonly #anchorMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(run: Run<Item>, permitsOf: (item: Item) => PermitQueues) {
    this.#run = run;
    this.#permitsOf = permitsOf;
  }

  /**
   * Schedules a new item: it is due at once, or as soon as an earlier run of the same key has ended. What is added at the
   * same time is due in the order of offsets: then it is polled, and laid out, together at first as later.
   *
   * @param atMs on the clock of `performance.now()`
   */
  add(item: Item, atMs = performance.now()): void {
    const number = this.#offsetsOf(item.queue).take();
    const offset = offsetOf(number);
    const state = this.#leaving.has(item.key) ? 'held' : 'waiting';
    const entry: Entry<Item> = { item, number, offset, state, dueAtMs: 0, again: false };
    this.#entries.set(item.key, entry);
    // Within a millisecond.
    if (state === 'waiting') this.#schedule(entry, atMs + offset);
  }

  /** Takes up another interval; the item keeps its offset. */
  update(item: Item): void {
    const entry = this.#entries.get(item.key);
    if (!entry) return;
    const isFaster = item.intervalMs < entry.item.intervalMs;
    entry.item = item;
    if (entry.state !== 'waiting' || !isFaster) return;
    const soonestMs = nextStart(this.#anchorMs, item.intervalMs, entry.offset, performance.now(), 1);
    if (soonestMs < entry.dueAtMs) this.#schedule(entry, soonestMs);
  }

  /** Forgets an item; a run of it that is under way ends without a successor. */
  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    if (entry.state === 'running') this.#leaving.add(key);
    entry.state = 'removed';
    this.#entries.delete(key);
    this.#offsetsOf(entry.item.queue).free(entry.number);
  }

  /** Makes an item due at once, also where it was to be asked less often; one that is running runs again afterwards. */
  runNow(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.state === 'running') entry.again = true;
    else if (entry?.state === 'waiting') this.#schedule(entry, performance.now());
  }

  /** How long until the item is due, in milliseconds: 0 when it is under way, undefined when it is unknown. */
  dueInMs(key: string): number | undefined {
    const entry = this.#entries.get(key);
    return entry && (entry.state === 'waiting' ? Math.max(0, entry.dueAtMs - performance.now()) : 0);
  }

  /** How much it holds: what must not grow while items come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return {
      entries: this.#entries.size,
      leaving: this.#leaving.size,
      queues: this.#offsets.size,
      due: this.#due.size,
    };
  }

  /** Starts nothing more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #offsetsOf(queue: string): Offsets {
    const offsets = this.#offsets.get(queue) ?? new Offsets();
    this.#offsets.set(queue, offsets);
    return offsets;
  }

  #schedule(entry: Entry<Item>, dueAtMs: number): void {
    entry.state = 'waiting';
    entry.dueAtMs = dueAtMs;
    this.#due.push(entry, dueAtMs);
    // At least every other one is out of date then.
    if (this.#due.size > 2 * this.#entries.size + maxOutdated) this.#due.retain(holds);
    this.#wakeAt(dueAtMs);
  }

  #wakeAt(atMs: number): void {
    if (this.#stopped || atMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    const waitMs = Math.min(Math.max(0, Math.ceil(atMs - performance.now())), longestTimerMs);
    this.#timer = setTimeout(() => this.#serve(), waitMs);
  }

  /** Puts what is due in line, and comes back for the next. */
  #serve(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    let enqueued = 0;
    for (let due = this.#due.peek(); due; due = this.#due.peek()) {
      const { item: entry, atMs } = due;
      const isHolding = holds(due);
      if (isHolding && (atMs > nowMs || enqueued === maxEnqueuedAtOnce)) {
        this.#wakeAt(atMs);
        return;
      }
      this.#due.pop();
      if (!isHolding) continue;
      enqueued++;
      this.#enqueue(entry);
    }
  }

  #enqueue(entry: Entry<Item>): void {
    entry.state = 'queued';
    this.#permitsOf(entry.item).enqueue(entry.item.queue, (permit) => {
      if (entry.state !== 'queued' || this.#stopped) return false;
      void this.#start(entry, permit);
      return true;
    });
  }

  async #start(entry: Entry<Item>, permit: Permit): Promise<void> {
    const startedMs = performance.now();
    entry.state = 'running';
    entry.again = false;
    const backoffFactor = await this.#run(entry.item, permit, startedMs - entry.dueAtMs);
    // It can have been removed meanwhile.
    if ((entry.state as Entry<Item>['state']) === 'removed') {
      this.#letIn(entry.item.key);
      return;
    }
    const { intervalMs } = entry.item;
    const nowMs = performance.now();
    const next = (fromMs: number, intervals: number) =>
      nextStart(this.#anchorMs, intervalMs, entry.offset, fromMs, intervals);
    const nextMs = next(startedMs, backoffFactor);
    // A poll that took longer than its interval is not followed by the next at once.
    const dueAtMs = nextMs > nowMs ? nextMs : next(nowMs, 0.5);
    this.#schedule(entry, entry.again ? nowMs : dueAtMs);
  }

  /** The run of a removed item has ended: one of the same key that was added meanwhile may start. */
  #letIn(key: string): void {
    this.#leaving.delete(key);
    const entry = this.#entries.get(key);
    if (entry?.state === 'held') this.#schedule(entry, performance.now());
  }
}
