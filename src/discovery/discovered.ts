/** What a complete listing has found, compared with what it had found before. */
import type { Found, Ids, Listed } from '../resources/resource.ts';

/** One thing that was found. */
export interface Discovered extends Listed {
  /** The credential of its own key, if the listing gave one. */
  readonly keyName?: string | undefined;
}

export interface Discovery {
  /** What there is now: the same array as before where nothing changed. */
  readonly listed: readonly Discovered[];
  readonly added: number;
  readonly removed: number;
  readonly renamed: number;
}

/** Ids as one text: `7/4711`. */
export function idText(ids: Ids): string {
  let text = '';
  for (const label in ids) text += text === '' ? ids[label] : `/${ids[label]}`;
  return text;
}

/** The credential that the key of a found thing is known by: `library/4711`, a name that no configuration can have. */
export function keyNameOf({ ids }: Found): string {
  return Object.entries(ids)
    .map(([label, id]) => `${label.replace(/_id$/, '')}/${id}`)
    .join('/');
}

function isSame(a: Discovered, b: Discovered): boolean {
  return (
    a.name === b.name &&
    a.namedBy === b.namedBy &&
    a.keyName === b.keyName &&
    a.features?.join() === b.features?.join()
  );
}

/** Compares what was found now with what was found before. A thing that is listed twice counts once. */
export function compareListed(before: readonly Discovered[] | undefined, found: readonly Found[]): Discovery {
  const known = new Map(before?.map((one) => [idText(one.ids), one]));
  const listed = new Map<string, Discovered>();
  let added = 0;
  let renamed = 0;
  let kept = 0;
  for (const one of found) {
    const id = idText(one.ids);
    if (listed.has(id)) continue;
    const { ids, name, namedBy, features, key } = one;
    // Without the reading and the key, which are not kept.
    const now = { ids, name, namedBy, features, keyName: key && keyNameOf(one) };
    const old = known.get(id);
    const isKept = old !== undefined && isSame(old, now);
    listed.set(id, isKept ? old : now);
    known.delete(id);
    if (isKept) kept++;
    else if (!old) added++;
    else if (old.name !== name) renamed++;
  }
  const isUnchanged = before !== undefined && kept === before.length && kept === listed.size;
  return { listed: isUnchanged ? before : [...listed.values()], added, removed: known.size, renamed };
}

/**
 * Whether other things were found than before, though no fewer and no more. That may be wrong: while a listing is read page by
 * page, one thing that leaves an earlier page and another that comes at the end hide a third, and the total stays the same.
 */
export function isExchanged(before: readonly Discovered[] | undefined, found: readonly Found[]): boolean {
  const known = new Set(before?.map(({ ids }) => idText(ids)));
  return known.size === found.length && found.some(({ ids }) => !known.has(idText(ids)));
}

/** `+2 −1, 1 renamed` */
export function describeDiscovery({ added, removed, renamed }: Discovery): string {
  const counts = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(Boolean);
  return [counts.join(' '), renamed > 0 ? `${renamed} renamed` : ''].filter(Boolean).join(', ');
}

/** `edge script` of `edge scripts`: all nouns of listings that end in an s lose it. */
export function singular(nouns: string): string {
  return nouns.replace(/(?<=librar)ies$/, 'y').replace(/s$/, '');
}

/** Without a name of its own it is called after what `namedBy` points to. */
export function withNames(
  entries: readonly Discovered[],
  names: readonly Listed[] | undefined,
): readonly Discovered[] {
  if (!names) return entries;
  const byId = new Map(names.map(({ ids, name }) => [idText(ids), name]));
  return entries.map((entry) => {
    const name = entry.namedBy === undefined ? undefined : byId.get(entry.namedBy);
    return name === undefined || entry.name !== undefined ? entry : { ...entry, name };
  });
}
