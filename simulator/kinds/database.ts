/** Databases and their paged listing, which also has the addresses of their data (`/database/v2/databases`). */
import { databasePaging, listed } from '../answers.ts';
import { dayMs } from '../days.ts';
import { entities, hash, magnitude, nth, ownName, text, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import type { Form, Kind, Request } from '../kind.ts';

export type Database = ReturnType<typeof databasesOf>[number];

/** `{ error, details }`. */
const databaseErrors: Form = {
  unauthorized: { status: 401 },
  missing: () => databaseErrors.error(404, 'database not found'),
  error: (status, error) => ({ status, body: { error, details: null } }),
};

export const databaseApi = { ...coreApi, form: databaseErrors } as const;

export const database = {
  kind: 'database',
  section: 'databases',
  sizes: { databases: [3, 20, 50] },
  create: (seed, sizes: { databases: number }) => ({ databases: databasesOf(seed, sizes.databases) }),
  ...databaseApi,
  path: '/database/v2/databases',
  traits: { field: 'databases', ids: ['id', 'url', 'storage_region'], name: 'name' },
  ...listed('databases', databasePaging, itemOf),
} as const satisfies Kind;

const names = ['shop', 'sessions', 'search-index', 'comments', 'analytics'] as const;
const regions = ['eu-west-1', 'us-east-1', 'ap-southeast-1'] as const;
const gigabyte = 1024 ** 3;

function databasesOf(datasetSeed: number, length: number) {
  return entities(datasetSeed, 30, length, (seed, index) => ({
    id: `db_${text(seed, 26, '0123456789ABCDEFGHJKMNPQRSTVWXYZ')}`,
    name: ownName(datasetSeed, nth(names, index)),
    bytes: Math.floor(magnitude(20_480, 0.8 * gigabyte, unit(seed, 1))),
    queriesPerDay: magnitude(200, 2_000_000, unit(seed, 2)),
  }));
}

/** Every fifth is nearly full. Every fourth comes in the older form, without bytes. */
function itemOf({ seed, index, id, name, bytes }: Database, { nowMs, nameOf }: Request) {
  const grown = 1 + ((nowMs / dayMs) % 30) / 100;
  const size = Math.floor(index % 5 === 1 ? 0.94 * gigabyte : bytes * grown);
  const isOld = index % 4 === 2;
  return {
    id,
    name: nameOf(id, name),
    url: `libsql://${text(seed, 20)}.lite.bunnydb.net`,
    block_reads: false,
    block_writes: false,
    size_max: '1 GB',
    current_size: hash(seed, 3) % 2 === 0 ? `${(size / 1024).toFixed(1)} KB` : String(size),
    ...(!isOld && { size_max_bytes: gigabyte, current_size_bytes: size }),
    storage_region: nth(regions, index % regions.length),
    primary_regions: ['DE'],
    replicas_regions: index % 2 === 0 ? ['NY', 'ASB'] : [],
  };
}
