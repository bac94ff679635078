/** When a poll is due: places spread evenly over an interval, and the queue of what is due next. Pure of clocks. */

/**
 * The n-th place in [0, 1): the van der Corput sequence. Any first n of them are spread evenly, so that each poll keeps
 * its place when others come and go.
 */
export function placeOf(n: number): number {
  let place = 0;
  let half = 0.5;
  for (let rest = n; rest > 0; rest = Math.floor(rest / 2)) {
    place += (rest % 2) * half;
    half /= 2;
  }
  return place;
}

/** The first time at or after `notBeforeMs` that lies at the place of the interval, counted from `anchorMs`. */
export function nextSlot(anchorMs: number, intervalMs: number, place: number, notBeforeMs: number): number {
  const firstMs = anchorMs + place * intervalMs;
  return firstMs + Math.max(0, Math.ceil((notBeforeMs - firstMs) / intervalMs)) * intervalMs;
}

/** Hands out the smallest free number, so that places are used again. */
export class Places {
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

interface Due<Item> {
  readonly item: Item;
  readonly atMs: number;
  readonly order: number;
}

/** A binary heap: the earliest first, and among equals the one that was added first. */
export class DueQueue<Item> {
  readonly #heap: Due<Item>[] = [];
  #added = 0;

  peek(): Due<Item> | undefined {
    return this.#heap[0];
  }

  push(item: Item, atMs: number): void {
    const heap = this.#heap;
    const due = { item, atMs, order: this.#added++ };
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
