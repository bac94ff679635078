/** Storage zones and their paged listing, which also has their passwords. */
import { corePaging, listed } from '../answers.ts';
import { dayMs, dayOf, secondOf } from '../days.ts';
import { entities, hash, magnitude, nth, numberedId, ownName, secret, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';

export type StorageZone = ReturnType<typeof zonesOf>[number];

export interface StorageZones {
  readonly storageZones: readonly StorageZone[];
}

export const storageZone = {
  kind: 'storage_zone',
  section: 'storage_zones',
  sizes: { storageZones: [5, 30, 70] },
  create: (seed, sizes: { storageZones: number }) => ({ storageZones: zonesOf(seed, sizes.storageZones) }),
  ...coreApi,
  path: '/storagezone',
  traits: {
    field: 'Items',
    ids: ['Id'],
    name: 'Name',
    integer: 'StorageUsed',
    codes: ['ZoneTier'],
    instants: true,
  },
  ...listed('storageZones', corePaging, itemOf),
} as const satisfies Kind;

const names = ['assets', 'backups', 'downloads', 'avatars', 'exports', 'archive'] as const;
const regions = ['DE', 'UK', 'NY', 'LA', 'SG', 'SYD'] as const;

function zonesOf(datasetSeed: number, length: number) {
  return entities(datasetSeed, 20, length, (seed, index) => ({
    id: numberedId(datasetSeed, 211_307 + 11 * index),
    name: ownName(datasetSeed, nth(names, index)),
    files: Math.floor(magnitude(40, 2_000_000, unit(seed, 1))),
  }));
}

function itemOf({ seed, index, id, name, files }: StorageZone, { nowMs, nameOf }: Request) {
  // Some thousandths more every day.
  const stored = Math.floor(files * (1 + 0.002 * (dayOf(nowMs) % 365)));
  return {
    Id: jsonInteger(id),
    Name: nameOf(id, name),
    Password: secret(`storage-${id}`, hash(seed, 0x91)),
    ReadOnlyPassword: secret(`storage-read-only-${id}`, hash(seed, 0x91)),
    DateModified: secondOf(nowMs - (hash(seed, 0x92) % 90) * dayMs),
    StorageUsed: stored * Math.floor(magnitude(8_000, 4_000_000, unit(seed, 2))),
    FilesStored: stored,
    Region: nth(regions, index),
    // Most have no replica; the API says so with an empty list, or with null.
    ReplicationRegions: index % 10 === 9 ? null : regions.slice(1, 1 + (hash(seed, 0x93) % 3)),
    ZoneTier: index % 3 === 2 ? 1 : 0,
    ReplicationChangeInProgress: index % 8 === 6,
  };
}
