/** Long work, a few milliseconds at a time, so that scrapes and polls get their turn in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long the work may keep others waiting. */
const turnMs = 4;

export class Turns {
  #beganAtMs = performance.now();

  begin(): void {
    this.#beganAtMs = performance.now();
  }

  /** Whether others should have their turn now: then await `next`. */
  get isOver(): boolean {
    return performance.now() - this.#beganAtMs > turnMs;
  }

  /** Lets others have their turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.begin();
  }
}

/** All the items, where it takes time to make them. */
export async function collect<Item>(items: Iterable<Item>): Promise<Item[]> {
  const turns = new Turns();
  const collected: Item[] = [];
  for (const item of items) {
    if (turns.isOver) await turns.next();
    collected.push(item);
  }
  return collected;
}
