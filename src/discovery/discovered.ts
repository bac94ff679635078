/** What a complete listing has found, held against what it had found before. */
import type { Found, Ids, Listed } from '../resources/resource.ts';

export interface Discovery {
  /** What there is; the very array of before where nothing changed, and the same objects for what did not. */
  readonly listed: readonly Listed[];
  readonly added: number;
  readonly removed: number;
  readonly renamed: number;
}

function sameIds(a: Ids, b: Ids): boolean {
  for (const label in a) if (a[label] !== b[label]) return false;
  return true;
}

function keyOf(ids: Ids): string {
  return Object.values(ids).join('/');
}

export function compareListed(before: readonly Listed[] | undefined, found: readonly Found[]): Discovery {
  const isSame =
    before?.length === found.length &&
    found.every(({ ids, name }, i) => before[i] && sameIds(ids, before[i].ids) && name === before[i].name);
  if (before && isSame) return { listed: before, added: 0, removed: 0, renamed: 0 };
  const known = new Map(before?.map((one) => [keyOf(one.ids), one]));
  const listed = new Map<string, Listed>();
  let added = 0;
  let renamed = 0;
  for (const { ids, name } of found) {
    const key = keyOf(ids);
    if (listed.has(key)) continue;
    const one = known.get(key);
    if (!one) added++;
    else if (one.name !== name) renamed++;
    listed.set(key, one && one.name === name ? one : { ids, name });
    known.delete(key);
  }
  return { listed: [...listed.values()], added, removed: known.size, renamed };
}

/** `+2 −1, 1 renamed` */
export function describeDiscovery({ added, removed, renamed }: Discovery): string {
  const counts = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(Boolean).join(' ');
  return [counts, renamed > 0 ? `${renamed} renamed` : ''].filter(Boolean).join(', ');
}
