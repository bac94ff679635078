/** Compares what was polled with what is to be polled, key by key. Changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import type { ListingPoll, Target } from './target.ts';

/** How an item has changed: replaced is another thing under the same key. */
export type Change = 'same' | 'updated' | 'replaced';

export interface Reconciled<Item> {
  /** What is to be polled, with the old object wherever nothing has changed. */
  readonly items: ReadonlyMap<string, Item>;
  /** New items, and those that replace another. */
  readonly added: readonly Item[];
  readonly updated: readonly { readonly before: Item; readonly after: Item }[];
  /** Items that are no longer there. */
  readonly removed: readonly Item[];
}

export function reconcile<Item>(
  before: ReadonlyMap<string, Item>,
  after: ReadonlyMap<string, Item>,
  compare: (before: Item, after: Item) => Change,
): Reconciled<Item> {
  const items = new Map<string, Item>();
  const added: Item[] = [];
  const updated: { before: Item; after: Item }[] = [];
  const removed: Item[] = [];
  for (const [key, item] of after) {
    const old = before.get(key);
    const change = old === undefined ? 'replaced' : compare(old, item);
    items.set(key, change === 'same' && old !== undefined ? old : item);
    if (change === 'updated' && old !== undefined) updated.push({ before: old, after: item });
    else if (change === 'replaced') added.push(item);
  }
  for (const [key, item] of before) if (!after.has(key)) removed.push(item);
  return { items, added, updated, removed };
}

/** Whether other values are read from now on, or with another key. Another name needs no request. */
export function mustReread(before: Target, after: Target): boolean {
  return before.keyId !== after.keyId || !isDeepStrictEqual(before.settings, after.settings);
}

export function compareTargets(before: Target, after: Target): Change {
  if (before.baseUrl !== after.baseUrl) return 'replaced';
  const isSame =
    before.name === after.name &&
    before.listedName === after.listedName &&
    before.keyName === after.keyName &&
    before.credential === after.credential &&
    before.intervalMs === after.intervalMs &&
    before.staleAfterMs === after.staleAfterMs &&
    before.pollKey === after.pollKey &&
    before.parts === after.parts &&
    !mustReread(before, after);
  return isSame ? 'same' : 'updated';
}

export function compareListings(before: ListingPoll, after: ListingPoll): Change {
  const isSame =
    before.intervalMs === after.intervalMs &&
    before.isRead === after.isRead &&
    before.keyId === after.keyId &&
    before.account === after.account &&
    before.namesKey === after.namesKey &&
    before.parent?.name === after.parent?.name;
  return isSame ? 'same' : 'updated';
}
