/** Runs tasks side by side, a few at a time, in their order. */
export function runAll<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  task: (item: Item) => Promise<Result>,
): readonly Promise<Result>[] {
  const lanes = Array.from({ length: atOnce }, () => Promise.resolve());
  return items.map((item, i) => {
    const lane = i % atOnce;
    const running = (lanes[lane] ?? Promise.resolve()).then(() => task(item));
    // Who waits for the task learns how it failed; the next in the lane does not mind.
    lanes[lane] = running.then(
      () => undefined,
      () => undefined,
    );
    return running;
  });
}
