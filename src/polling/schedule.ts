/** When a poll is due: offsets spread evenly over an interval, and the queue of what is due next. Pure of clocks. */

/**
 * The n-th offset in [0, 1): the van der Corput sequence. Any first n of them are spread evenly, so that each poll keeps
 * its offset when others come and go.
 */
export function offsetOf(n: number): number {
  let offset = 0;
  let half = 0.5;
  for (let rest = n; rest > 0; rest = Math.floor(rest / 2)) {
    offset += (rest % 2) * half;
    half /= 2;
  }
  return offset;
}

/** How far the time between two polls may be from the interval, as a share of it. */
const tolerance = 0.1;

/**
 * When to poll again: `backoffFactor` intervals after the start of the last poll, moved by at most a tenth of an interval
 * towards the time that the offset gives it (counted from `anchorMs`). So a poll reaches its own time within a few rounds,
 * and never waits much longer than its interval on the way.
 */
export function nextStart(
  anchorMs: number,
  intervalMs: number,
  offset: number,
  startedMs: number,
  backoffFactor: number,
): number {
  const idealMs = startedMs + backoffFactor * intervalMs;
  const ownMs = anchorMs + offset * intervalMs;
  const nearestMs = ownMs + Math.round((idealMs - ownMs) / intervalMs) * intervalMs;
  const slackMs = tolerance * intervalMs;
  return Math.min(Math.max(nearestMs, idealMs - slackMs), idealMs + slackMs);
}

/** Hands out the smallest free number, so that offsets are used again. */
export class Offsets {
  #next = 0;
  #freed: number[] = [];
  #isSorted = true;

  take(): number {
    if (!this.#isSorted) this.#freed.sort((a, b) => b - a);
    this.#isSorted = true;
    return this.#freed.pop() ?? this.#next++;
  }

  free(number: number): void {
    this.#freed.push(number);
    this.#isSorted = false;
  }
}

export interface Due<Item> {
  readonly item: Item;
  readonly atMs: number;
  readonly order: number;
}

/** A binary heap: the earliest first, and among equals the one that was added first. */
export class DueQueue<Item> {
  #heap: Due<Item>[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  peek(): Due<Item> | undefined {
    return this.#heap[0];
  }

  push(item: Item, atMs: number): void {
    this.#insert({ item, atMs, order: this.#added++ });
  }

  /** Drops what no longer holds. */
  retain(holds: (due: Due<Item>) => boolean): void {
    const before = this.#heap;
    this.#heap = [];
    // In the order of a heap each stays about where it is inserted.
    for (const due of before) if (holds(due)) this.#insert(due);
  }

  #insert(due: Due<Item>): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (!parent || isBefore(parent, due)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = due;
  }

  pop(): Due<Item> | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      const right = heap[childAt + 1];
      if (child && right && isBefore(right, child)) {
        child = right;
        childAt++;
      }
      if (!child || isBefore(last, child)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore<Item>(a: Due<Item>, b: Due<Item>): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
