/** Compares what was polled with what is to be polled, key by key. Changes nothing. */

export interface Reconciled<Item> {
  readonly added: readonly Item[];
  readonly updated: readonly { readonly before: Item; readonly after: Item }[];
  /** Items that are no longer there. */
  readonly removed: readonly Item[];
}

/** What has not changed is the same object. replaces: whether it is another thing under the same key, which is then added. */
export function reconcile<Item>(
  before: ReadonlyMap<string, Item>,
  after: ReadonlyMap<string, Item>,
  replaces: (before: Item, after: Item) => boolean = () => false,
): Reconciled<Item> {
  const added: Item[] = [];
  const updated: { before: Item; after: Item }[] = [];
  const removed: Item[] = [];
  let stayed = 0;
  for (const [key, item] of after) {
    const old = before.get(key);
    if (old !== undefined) stayed++;
    if (old === item) continue;
    if (old === undefined || replaces(old, item)) added.push(item);
    else updated.push({ before: old, after: item });
  }
  if (stayed < before.size) for (const [key, item] of before) if (!after.has(key)) removed.push(item);
  return { added, updated, removed };
}
