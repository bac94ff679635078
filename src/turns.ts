/** Long work, a few milliseconds at a time, so that scrapes and polls get their turn in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fifo } from './fifo.ts';

/** Yields to scrapes and polls. */
export { nextTurn };

/** How long the work may run before it yields. */
const turnMs = 4;

const line = new Fifo<() => void>();

/**
 * Waits in line for a turn of the event loop: one for each of the polls that have something to do, however many answers
 * arrive at once.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    line.push(resolve);
    if (line.length === 1) void serveLine();
  });
}

async function serveLine(): Promise<void> {
  while (line.length > 0) {
    await nextTurn();
    line.shift()?.();
  }
}

export class Turns {
  readonly #next: () => Promise<void>;
  #beganAtMs = performance.now();

  /** next: waits for another turn. Scrapes have one in each turn of the event loop, polls wait in line. */
  constructor(next: () => Promise<void> = nextTurn) {
    this.#next = next;
  }

  begin(): void {
    this.#beganAtMs = performance.now();
  }

  /** Whether it is time to yield by awaiting `next`. */
  get isOver(): boolean {
    return performance.now() - this.#beganAtMs > turnMs;
  }

  /** Yields to scrapes and polls. */
  async next(): Promise<void> {
    await this.#next();
    this.begin();
  }
}

/** Collects items of a poll that take time to make. */
export async function collect<Item>(items: Iterable<Item>): Promise<Item[]> {
  const turns = new Turns(ownTurn);
  const collected: Item[] = [];
  for (const item of items) {
    if (turns.isOver) await turns.next();
    collected.push(item);
  }
  return collected;
}
