/** Long work in short slices, so that scrapes and polls have their turn between them. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export class Slices {
  readonly #sliceMs: number;
  #beganAtMs = performance.now();
  #workedMs = 0;

  /** @param sliceMs the longest that a slice keeps others waiting, but for a step that is longer */
  constructor(sliceMs = 2) {
    this.#sliceMs = sliceMs;
  }

  /** How long the work has taken so far, without the turns of others. */
  get workedMs(): number {
    return this.#workedMs + performance.now() - this.#beganAtMs;
  }

  /** Takes the steps, and lets others have their turn after each slice. Resolves with what the steps return. */
  async take<Result>(steps: Generator<unknown, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      const workedMs = performance.now() - this.#beganAtMs;
      if (workedMs < this.#sliceMs) continue;
      this.#workedMs += workedMs;
      await nextTurn();
      this.#beganAtMs = performance.now();
    }
  }
}

/** All items, where it takes time to make them. */
export function collectInSlices<Item>(items: Iterable<Item>): Promise<Item[]> {
  function* steps(): Generator<void, Item[]> {
    const collected: Item[] = [];
    for (const item of items) {
      collected.push(item);
      yield;
    }
    return collected;
  }
  return new Slices().take(steps());
}

/** Takes all steps in one go. */
export function atOnce<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
