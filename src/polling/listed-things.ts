/** What a complete listing has, compared with what it had before. */
import {
  type Found,
  type Ids,
  idText,
  type Listed,
  type ListedKey,
  type Listing,
} from '../resources/resource.ts';

/** A thing that a listing had, as its snapshot has it. */
export interface SnapshotEntry extends Listed {
  /** Whether the only key that its listing has for it is one that reads. */
  readonly hasReadOnlyKey?: boolean | undefined;
  /** When it was first listed, without a complete run in between that was without it. By the machine's uptime. */
  readonly listedMs?: number | undefined;
}

/** A listing that changed in so many runs in a row is believed about what they all were without. */
export const enoughMovedRuns = 3;

/** How many there are of each change. */
export interface Changes {
  readonly added: number;
  readonly removed: number;
  readonly renamed: number;
}

export interface Discovery extends Changes {
  /** The same array as before if nothing changed. */
  readonly listed: readonly SnapshotEntry[];
}

/** What people call it. */
export function nameOf({ name, ids }: Pick<Listed, 'name' | 'ids'>): string {
  return name ?? idText(ids);
}

/** What a listing with a parent is read below for a target with these ids. */
export function parentOf({ parent }: Listing, ids: Ids): SnapshotEntry | undefined {
  if (!parent?.ids) return undefined;
  return { ids: Object.fromEntries(parent.ids.map(({ label }) => [label, ids[label] ?? ''])) };
}

/** The credential for the own key of what a listing has: `library/4711`. No configuration can have such a name. */
export function keyNameOf({ ids: idFields = [] }: Pick<Listing, 'ids'>, ids: Ids): string {
  return idFields.map(({ label }) => `${label.replace(/_id$/, '')}/${ids[label] ?? ''}`).join('/');
}

/** The credential for what a key that only reads does not open. */
export function fullKeyNameOf(keyName: string): string {
  return `${keyName}#full`;
}

/** What the credentials for found things stand for. */
export function ownKeysOf(listing: Listing, found: readonly Found[]): ReadonlyMap<string, ListedKey> {
  const keys = new Map<string, ListedKey>();
  for (const { ids, ownKey } of found) {
    if (!ownKey) continue;
    const name = keyNameOf(listing, ids);
    keys.set(name, ownKey);
    if (ownKey.isReadOnly) keys.set(fullKeyNameOf(name), { key: undefined, isReadOnly: true });
  }
  return keys;
}

function isSame(a: SnapshotEntry, b: SnapshotEntry): boolean {
  return (
    a.name === b.name &&
    a.namedBy === b.namedBy &&
    a.hasReadOnlyKey === b.hasReadOnlyKey &&
    a.isDeleted === b.isDeleted &&
    a.features?.join() === b.features?.join()
  );
}

/**
 * Compares a listing with the one before. What is listed twice counts once.
 *
 * @param atMs when it was read, by the machine's uptime
 * @param spared what stays of the one before although it was not found
 */
export function compareListed(
  before: readonly SnapshotEntry[] | undefined,
  found: readonly Found[],
  atMs?: number,
  spared: readonly SnapshotEntry[] = [],
): Discovery {
  const known = new Map(before?.map((one) => [idText(one.ids), one]));
  const listed = new Map<string, SnapshotEntry>();
  let added = 0;
  let renamed = 0;
  let same = 0;
  for (const one of found) {
    const id = idText(one.ids);
    if (listed.has(id)) continue;
    const { ids, name, namedBy, features, isDeleted, ownKey } = one;
    // The list has neither the reading nor the key.
    const hasReadOnlyKey = ownKey?.isReadOnly;
    const old = known.get(id);
    const listedMs = old ? old.listedMs : atMs;
    const now = { ids, name, namedBy, features, isDeleted, hasReadOnlyKey, listedMs };
    const isTheSame = old !== undefined && isSame(old, now);
    listed.set(id, isTheSame ? old : now);
    known.delete(id);
    if (isTheSame) same++;
    else if (!old) added++;
    else if (old.name !== name) renamed++;
  }
  for (const one of spared) {
    const id = idText(one.ids);
    listed.set(id, one);
    known.delete(id);
    same++;
  }
  const isUnchanged = before !== undefined && same === before.length && same === listed.size;
  return { listed: isUnchanged ? before : [...listed.values()], added, removed: known.size, renamed };
}

/**
 * Whether a listing has different things than before, but as many. Then it may have missed one: if something leaves an
 * earlier page while the pages are read and something is added at the end, a third one is skipped and the total is the same.
 */
export function isExchanged(before: readonly SnapshotEntry[] | undefined, found: readonly Found[]): boolean {
  const known = new Set(before?.map(({ ids }) => idText(ids)));
  return known.size === found.length && found.some(({ ids }) => !known.has(idText(ids)));
}

/** `+2 −1, 1 renamed` */
export function describeDiscovery({ added, removed, renamed }: Changes): string {
  const counts = [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(Boolean);
  return [counts.join(' '), renamed > 0 ? `${renamed} renamed` : ''].filter(Boolean).join(', ');
}

/** `edge scripts` as `edge script`, `video libraries` as `video library`. */
export function singular(nouns: string): string {
  return nouns.replace(/(?<=librar)ies$/, 'y').replace(/s$/, '');
}

/** Gives each entry without a name the one that `namedBy` points to. */
export function withNames(
  entries: readonly SnapshotEntry[],
  names: readonly Listed[] | undefined,
): readonly SnapshotEntry[] {
  if (!names) return entries;
  const byId = new Map(names.map(({ ids, name }) => [idText(ids), name]));
  return entries.map((entry) => {
    const name = entry.namedBy === undefined ? undefined : byId.get(entry.namedBy);
    return name === undefined || entry.name !== undefined ? entry : { ...entry, name };
  });
}
