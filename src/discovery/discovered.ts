/** What a complete listing has found, held against what it had found before. */
import type { Found, Ids, Listed } from '../resources/resource.ts';

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

function keyOf(ids: Ids): string {
  return Object.values(ids).join('/');
}

function isSame(a: Discovered, b: Discovered): boolean {
  if (a.name !== b.name || a.namedBy !== b.namedBy || a.keyName !== b.keyName) return false;
  if (a.features?.join() !== b.features?.join()) return false;
  for (const label in a.ids) if (a.ids[label] !== b.ids[label]) return false;
  return true;
}

/** @param keyNameOf the credential that the key of a thing is known by */
export function compareListed(
  before: readonly Discovered[] | undefined,
  found: readonly Found[],
  keyNameOf: (found: Found) => string = ({ ids }) => keyOf(ids),
): Discovery {
  const now = found.map((one): Discovered => {
    const { ids, name, namedBy, features, key } = one;
    return { ids, name, namedBy, features, keyName: key && keyNameOf(one) };
  });
  if (before?.length === now.length && now.every((one, i) => isSame(one, before[i] ?? one))) {
    return { listed: before, added: 0, removed: [], renamed: 0 };
  }
  const known = new Map(before?.map((one) => [keyOf(one.ids), one]));
  const listed = new Map<string, Discovered>();
  let added = 0;
  let renamed = 0;
  for (const one of now) {
    const key = keyOf(one.ids);
    if (listed.has(key)) continue;
    const old = known.get(key);
    if (!old) added++;
    else if (old.name !== one.name) renamed++;
    listed.set(key, old && isSame(old, one) ? old : one);
    known.delete(key);
  }
  return { listed: [...listed.values()], added, removed: [...known.values()], renamed };
}

/** `+2 −1, 1 renamed` */
export function describeDiscovery({ added, removed, renamed }: Discovery): string {
  const counts = [added > 0 ? `+${added}` : '', removed.length > 0 ? `−${removed.length}` : ''].filter(
    Boolean,
  );
  return [counts.join(' '), renamed > 0 ? `${renamed} renamed` : ''].filter(Boolean).join(', ');
}
