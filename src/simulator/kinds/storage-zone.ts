/** Storage zones and their paged listing, which also has their passwords. */
import { dayMs, dayOf } from '../days.ts';
import { count, hexadecimal, nth, streams } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';
import { corePaging, listing } from '../paging.ts';
import { hash, magnitude, text, unit } from '../random.ts';

export type StorageZone = ReturnType<typeof createStorageZone>;

export interface StorageZones {
  readonly storageZones: readonly StorageZone[];
}

export const storageZone = {
  kind: 'storage_zone',
  sizes: { small: { storageZones: 5 }, medium: { storageZones: 30 }, full: { storageZones: 200 } },
  create: (seed, { storageZones }) => ({
    storageZones: count(storageZones, (index) => createStorageZone(seed, index)),
  }),
  ...coreApi,
  path: '/storagezone',
  traits: {
    field: 'Items',
    list: true,
    ids: ['Id'],
    names: ['Name'],
    number: 'StorageUsed',
    wholeNumbers: true,
    codes: ['ZoneTier'],
    instants: ['DateModified'],
  },
  pages: ({ storageZones }) =>
    listing(corePaging, storageZones, ({ storageZoneId }) => storageZoneId, listed),
  section: 'storage_zones',
  targets: ({ storageZones }) => storageZones.map(({ storageZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<{ storageZones: number }, StorageZones>;

const names = ['assets', 'backups', 'downloads', 'avatars', 'exports', 'archive'] as const;
const regions = ['DE', 'UK', 'NY', 'LA', 'SG', 'SYD'] as const;

function createStorageZone(datasetSeed: number, index: number) {
  const seed = hash(datasetSeed, streams.storageZone, index);
  return {
    seed,
    index,
    storageZoneId: String(211_307 + 11 * index),
    name: nth(names, index),
    files: Math.floor(magnitude(40, 2_000_000, unit(seed, 1))),
  };
}

function listed({ seed, index, storageZoneId, name, files }: StorageZone, { nowMs, nameOf }: Request) {
  // Some thousandths more every day.
  const stored = Math.floor(files * (1 + 0.002 * (dayOf(nowMs) % 365)));
  const secret = (of: string) => `sim-${of}-${storageZoneId}-key-${text(hash(seed, 0x91), 32, hexadecimal)}`;
  return {
    Id: jsonInteger(storageZoneId),
    Name: nameOf(storageZoneId, name),
    Password: secret('storage'),
    ReadOnlyPassword: secret('storage-read-only'),
    DateModified: new Date(nowMs - (hash(seed, 0x92) % 90) * dayMs).toISOString().slice(0, 19),
    Deleted: false,
    StorageUsed: stored * Math.floor(magnitude(8_000, 4_000_000, unit(seed, 2))),
    FilesStored: stored,
    Region: nth(regions, index),
    // Most have no replica; the API says so with an empty list, or with null.
    ReplicationRegions: index % 10 === 9 ? null : regions.slice(1, 1 + (hash(seed, 0x93) % 3)),
    ZoneTier: index % 3 === 2 ? 1 : 0,
    ReplicationChangeInProgress: index % 8 === 6,
  };
}
