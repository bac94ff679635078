/** What a complete listing has found, held against what it had found before. */
import type { Found, Ids, Listed } from '../resources/resource.ts';
import { atOnce } from '../slices.ts';

/** One thing that was found. */
export interface Discovered extends Listed {
  /** The credential that its own key is known by, where the listing gave one. */
  readonly keyName?: string | undefined;
}

export interface Discovery {
  /** What there is; the very array of before where nothing changed, and the same objects for what did not. */
  readonly listed: readonly Discovered[];
  readonly added: number;
  readonly removed: readonly Discovered[];
  readonly renamed: number;
}

/** How many things are looked at in a step. */
const stepSize = 500;

function keyOf(ids: Ids): string {
  return Object.values(ids).join('/');
}

function hasSameIds(a: Listed, b: Listed): boolean {
  for (const label in a.ids) if (a.ids[label] !== b.ids[label]) return false;
  return true;
}

function isSame(a: Discovered, b: Discovered): boolean {
  return (
    a.name === b.name &&
    a.namedBy === b.namedBy &&
    a.keyName === b.keyName &&
    a.features?.join() === b.features?.join()
  );
}

function* isInOrder(before: readonly Listed[], found: readonly Listed[]): Generator<void, boolean> {
  if (before.length !== found.length) return false;
  for (const [index, one] of found.entries()) {
    if (index % stepSize === 0) yield;
    if (!hasSameIds(one, before[index] ?? one)) return false;
  }
  return true;
}

/**
 * In steps, for listings can be long.
 *
 * @param keyNameOf the credential that the key of a thing is known by
 */
export function* compareInSteps(
  before: readonly Discovered[] | undefined,
  found: readonly Found[],
  keyNameOf: (found: Found) => string = ({ ids }) => keyOf(ids),
): Generator<void, Discovery> {
  let renamed = 0;
  /** The thing as it was where it is the same. */
  const take = (old: Discovered | undefined, one: Found): Discovered => {
    const { ids, name, namedBy, features, key } = one;
    const now = { ids, name, namedBy, features, keyName: key && keyNameOf(one) };
    if (!old) return now;
    if (old.name !== name) renamed++;
    return isSame(old, now) ? old : now;
  };
  // Most often the same things come in the same order; nothing is held against anything else then.
  if (before && (yield* isInOrder(before, found))) {
    const listed: Discovered[] = [];
    let isChanged = false;
    for (const [index, one] of found.entries()) {
      if (index % stepSize === 0) yield;
      const taken = take(before[index], one);
      isChanged ||= taken !== before[index];
      listed.push(taken);
    }
    return { listed: isChanged ? listed : before, added: 0, removed: [], renamed };
  }
  const known = new Map<string, Discovered>();
  for (const [index, one] of before?.entries() ?? []) {
    if (index % stepSize === 0) yield;
    known.set(keyOf(one.ids), one);
  }
  const listed = new Map<string, Discovered>();
  let added = 0;
  for (const [index, one] of found.entries()) {
    if (index % stepSize === 0) yield;
    const key = keyOf(one.ids);
    if (listed.has(key)) continue;
    const old = known.get(key);
    if (!old) added++;
    listed.set(key, take(old, one));
    known.delete(key);
  }
  return { listed: [...listed.values()], added, removed: [...known.values()], renamed };
}

/** The same at once. */
export function compareListed(...args: Parameters<typeof compareInSteps>): Discovery {
  return atOnce(compareInSteps(...args));
}

/** `+2 −1, 1 renamed` */
export function describeDiscovery({ added, removed, renamed }: Discovery): string {
  const counts = [added > 0 ? `+${added}` : '', removed.length > 0 ? `−${removed.length}` : ''].filter(
    Boolean,
  );
  return [counts.join(' '), renamed > 0 ? `${renamed} renamed` : ''].filter(Boolean).join(', ');
}
