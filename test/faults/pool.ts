/** Runs tasks in parallel, a few at a time, in order. */
export function runAll<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  task: (item: Item) => Promise<Result>,
): readonly Promise<Result>[] {
  const lanes = Array.from({ length: atOnce }, () => Promise.resolve());
  return items.map((item, i) => {
    const lane = i % atOnce;
    const running = (lanes[lane] ?? Promise.resolve()).then(() => task(item));
    // Whoever awaits the task gets its failure; the next task in the lane runs anyway.
    lanes[lane] = running.then(
      () => undefined,
      () => undefined,
    );
    return running;
  });
}
