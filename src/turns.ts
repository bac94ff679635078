/** Long work, a few milliseconds at a time, so that scrapes and polls get their turn in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Yields to scrapes and polls. */
export { nextTurn };

/** How long the work may run before it yields. */
const turnMs = 4;

export class Turns {
  #beganAtMs = performance.now();

  begin(): void {
    this.#beganAtMs = performance.now();
  }

  /** Whether it is time to yield by awaiting `next`. */
  get isOver(): boolean {
    return performance.now() - this.#beganAtMs > turnMs;
  }

  /** Yields to scrapes and polls. */
  async next(): Promise<void> {
    await nextTurn();
    this.begin();
  }
}

/** Collects items that take time to make. */
export async function collect<Item>(items: Iterable<Item>): Promise<Item[]> {
  const turns = new Turns();
  const collected: Item[] = [];
  for (const item of items) {
    if (turns.isOver) await turns.next();
    collected.push(item);
  }
  return collected;
}
