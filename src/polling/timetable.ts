/** Due times and one timer for all of them. Whoever is due is handed over, the earliest first. */

/** The longest that Node's timers can wait. */
const longestWaitMs = 2 ** 31 - 1;

/** So many are handed over in a turn, some milliseconds of work: after a reload or an outage thousands may be due at once. */
const mostAtOnce = 100;

export class Timetable<Item> {
  readonly #dueAtMs = new Map<Item, number>();
  readonly #nowMs: () => number;
  readonly #onDue: (items: readonly Item[]) => void;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by the clock of `nowMs`. */
  #wakeAtMs = Number.POSITIVE_INFINITY;
  /** Whether the timer is still to be set. */
  #isChanged = false;

  /**
   * @param nowMs a clock that never jumps back. If it goes on while the machine sleeps, which timers do not, `wake` must be called
   *   now and then
   * @param onDue receives what is due, which is then no longer in the timetable
   */
  constructor(nowMs: () => number, onDue: (items: readonly Item[]) => void) {
    this.#nowMs = nowMs;
    this.#onDue = onDue;
  }

  /** When an item is due, by the clock; undefined if it is not in the timetable. */
  dueAtMs(item: Item): number | undefined {
    return this.#dueAtMs.get(item);
  }

  set(item: Item, dueAtMs: number): void {
    this.#dueAtMs.set(item, dueAtMs);
    // The timer fires early enough, unless it is overdue: then the machine slept, and it is set anew.
    if (dueAtMs >= this.#wakeAtMs && this.#wakeAtMs > this.#nowMs()) return;
    this.#wakeAtMs = Math.min(dueAtMs, this.#wakeAtMs);
    if (this.#isChanged) return;
    this.#isChanged = true;
    // Once for all that are set together.
    queueMicrotask(() => this.#setTimer());
  }

  delete(item: Item): void {
    this.#dueAtMs.delete(item);
  }

  /** Hands over what is due, or the first of it, and then the rest in turns of its own. */
  wake(): void {
    const nowMs = this.#nowMs();
    const due: [item: Item, dueAtMs: number][] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of this.#dueAtMs) {
      if (entry[1] <= nowMs) due.push(entry);
      else nextMs = Math.min(nextMs, entry[1]);
    }
    const first = due.toSorted(([, a], [, b]) => a - b).slice(0, mostAtOnce);
    for (const [item] of first) this.#dueAtMs.delete(item);
    this.#wakeAtMs = first.length < due.length ? nowMs : nextMs;
    this.#setTimer();
    if (first.length > 0) this.#onDue(first.map(([item]) => item));
  }

  end(): void {
    this.#dueAtMs.clear();
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#setTimer();
  }

  /** Also if the timer is late because the machine slept: the wait follows the clock of now. */
  #setTimer(): void {
    this.#isChanged = false;
    clearTimeout(this.#timer);
    if (this.#wakeAtMs === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.ceil(this.#wakeAtMs - this.#nowMs());
    this.#timer = setTimeout(() => this.wake(), Math.min(Math.max(0, waitMs), longestWaitMs));
  }
}
