/** The databases of an account and how full they are (`/database/v2/databases`): one paged listing gives them all. */
import { defineListedResource, defineListing } from '../define.ts';
import { type FamilyOf, flag, label } from '../families.ts';
import { type FieldType, integer, mapped, number, object, text, textId, type ValueOf } from '../fields.ts';

const units = ['B', 'KB', 'MB', 'GB', 'TB'];

const writtenSize = mapped(text, (value, notes) => {
  const [, amount, unit = 'B'] = /^(\d+(?:\.\d+)?) ?([KMGT]?B)?$/i.exec(value.trim()) ?? [];
  if (amount === undefined) return notes.mismatch('a size such as 20.5 KB', value);
  return Math.round(Number(amount) * 1024 ** units.indexOf(unit.toUpperCase()));
});

/** A size as older versions write it: `20.5 KB`, of 1024 bytes, or a number of bytes. */
const size: FieldType<number> = {
  read: (value, notes) =>
    typeof value === 'string' ? writtenSize.read(value, notes) : number.read(value, notes),
};

/** The address of the data is not read: nobody needs it here. */
const element = object({
  id: textId,
  name: label('name'),
  storage_region: label('storage_region'),
  current_size_bytes: integer,
  current_size: size,
  size_max_bytes: integer,
  size_max: size,
  block_reads: flag('reads_blocked', 'Whether the database refuses to be read'),
  block_writes: flag('writes_blocked', 'Whether the database refuses to be written to'),
}).ignoring('url primary_regions[] replicas_regions[]');
type Database = ValueOf<typeof element>;

function sizeOf(
  name: string,
  words: string,
  exact: 'current_size_bytes' | 'size_max_bytes',
  written: 'current_size' | 'size_max',
): FamilyOf<Database> {
  return {
    name,
    words: `${words} (%s: the second where the first is missing, as text of 1024 bytes a KB)`,
    fields: [exact, written],
    series: (one) => one[exact] ?? one[written],
  };
}

export const databases = defineListing({
  kind: 'database',
  product: 'Database',
  optionalProduct: true,
  nouns: 'databases',
  path: '/database/v2/databases',
  paging: 'database',
  element,
  ids: [{ label: 'database_id', setting: 'id', form: 'opaque' }],
});

export const database = defineListedResource({
  noun: 'database',
  section: 'databases',
  listing: databases,
  info: 'The name of the database and the region where its data is stored',
  families: ([info, ...flags]) => [
    ...(info ? [info] : []),
    sizeOf('size_bytes', 'Size of the database', 'current_size_bytes', 'current_size'),
    sizeOf('size_limit_bytes', 'Size that the database may have', 'size_max_bytes', 'size_max'),
    ...flags,
  ],
});
