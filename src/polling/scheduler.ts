/**
 * Starts every poll at its own interval: evenly spread, never two of the same at once, in line at its API's pacer. It knows
 * neither what a poll asks nor how it ends, only how much less often to ask.
 */
import type { Permit, Waiter } from '../api/pacer.ts';
import { DueQueue, nextSlot, Places, placeOf } from './schedule.ts';

export interface Schedulable {
  readonly key: string;
  readonly kind: string;
  readonly intervalMs: number;
}

/** Where polls stand in line for a permit. */
export interface Line {
  enqueue(queue: string, waiter: Waiter): void;
}

/**
 * Runs a poll to its end and never rejects. Resolves with how many intervals the next one may be away (1, or more for
 * what is asked less often). It owns the permit and releases it.
 */
export type Run<Item> = (item: Item, permit: Permit, lagMs: number) => Promise<number>;

interface Entry<Item> {
  item: Item;
  /** Handed out by the kind's Places. */
  readonly number: number;
  readonly place: number;
  state: 'waiting' | 'queued' | 'running' | 'removed';
  /** When it is due, while waiting or queued (monotonic). */
  dueAtMs: number;
  slowdown: number;
  /** Asked for at once while it was running. */
  again: boolean;
}

const longestTimerMs = 3_600_000;

export class Scheduler<Item extends Schedulable> {
  readonly #run: Run<Item>;
  readonly #lineOf: (item: Item) => Line;
  readonly #entries = new Map<string, Entry<Item>>();
  readonly #places = new Map<string, Places>();
  readonly #due = new DueQueue<Entry<Item>>();
  readonly #anchorMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(run: Run<Item>, lineOf: (item: Item) => Line) {
    this.#run = run;
    this.#lineOf = lineOf;
  }

  /**
   * Makes the wanted items the scheduled ones. One whose key is known keeps its place and its time; a new one is due at
   * once; one that is wanted no more is forgotten, and a run of it that is under way ends without a successor.
   */
  reconcile(wanted: readonly Item[]): void {
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, entry] of this.#entries) {
      if (keys.has(key)) continue;
      entry.state = 'removed';
      this.#entries.delete(key);
      this.#placesOf(entry.item.kind).free(entry.number);
    }
    const added: Entry<Item>[] = [];
    for (const item of wanted) {
      const entry = this.#entries.get(item.key);
      if (entry) this.#update(entry, item);
      else added.push(this.#add(item));
    }
    // In the order of their places: what is polled together later is also polled, and laid out, together at first.
    added.sort((a, b) => a.place - b.place);
    for (const entry of added) this.#schedule(entry, performance.now());
    this.#serve();
  }

  /** Makes the items due at once, those too that were asked less and less often. */
  hasten(isMeant: (item: Item, slowdown: number) => boolean): void {
    for (const entry of this.#entries.values()) {
      if (!isMeant(entry.item, entry.slowdown)) continue;
      if (entry.state === 'running') entry.again = true;
      else if (entry.state === 'waiting') this.#schedule(entry, performance.now());
    }
    this.#serve();
  }

  /** How long until the item is due, in milliseconds: 0 when it is under way, undefined when it is unknown. */
  dueInMs(key: string): number | undefined {
    const entry = this.#entries.get(key);
    return entry && (entry.state === 'waiting' ? Math.max(0, entry.dueAtMs - performance.now()) : 0);
  }

  /** Starts nothing more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #placesOf(kind: string): Places {
    const places = this.#places.get(kind) ?? new Places();
    this.#places.set(kind, places);
    return places;
  }

  #add(item: Item): Entry<Item> {
    const number = this.#placesOf(item.kind).take();
    const entry: Entry<Item> = {
      item,
      number,
      place: placeOf(number),
      state: 'waiting',
      dueAtMs: 0,
      slowdown: 1,
      again: false,
    };
    this.#entries.set(item.key, entry);
    return entry;
  }

  #update(entry: Entry<Item>, item: Item): void {
    const isFaster = item.intervalMs < entry.item.intervalMs;
    entry.item = item;
    if (entry.state !== 'waiting' || !isFaster) return;
    const soonestMs = nextSlot(this.#anchorMs, item.intervalMs, entry.place, performance.now());
    if (soonestMs < entry.dueAtMs) this.#schedule(entry, soonestMs);
  }

  #schedule(entry: Entry<Item>, dueAtMs: number): void {
    entry.state = 'waiting';
    entry.dueAtMs = dueAtMs;
    this.#due.push(entry, dueAtMs);
  }

  /** Puts what is due in line, and comes back for the next. */
  #serve(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const nowMs = performance.now();
    for (let due = this.#due.peek(); due; due = this.#due.peek()) {
      const { item: entry, atMs } = due;
      // Hastened entries are in the queue a second time, under a time that no longer holds.
      const holds = entry.state === 'waiting' && entry.dueAtMs === atMs;
      if (holds && atMs > nowMs) {
        this.#timer = setTimeout(() => this.#serve(), Math.min(Math.ceil(atMs - nowMs), longestTimerMs));
        return;
      }
      this.#due.pop();
      if (holds) this.#enqueue(entry);
    }
  }

  #enqueue(entry: Entry<Item>): void {
    entry.state = 'queued';
    this.#lineOf(entry.item).enqueue(entry.item.kind, (permit) => {
      if (entry.state !== 'queued' || this.#stopped) return false;
      void this.#start(entry, permit);
      return true;
    });
  }

  async #start(entry: Entry<Item>, permit: Permit): Promise<void> {
    const startedMs = performance.now();
    entry.state = 'running';
    entry.again = false;
    entry.slowdown = await this.#run(entry.item, permit, startedMs - entry.dueAtMs);
    if (entry.state !== 'running') return;
    const { intervalMs } = entry.item;
    // Half an interval away at least: a poll that was late, or the first, is not followed by the next at once.
    const notBeforeMs = Math.max(performance.now(), startedMs + (entry.slowdown - 0.5) * intervalMs);
    const nextMs = nextSlot(this.#anchorMs, intervalMs, entry.place, notBeforeMs);
    this.#schedule(entry, entry.again ? performance.now() : nextMs);
    this.#serve();
  }
}
