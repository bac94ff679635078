import { expect, it } from 'vitest';
import { database } from '../../../src/resources/kinds/database.ts';
import { exposeListing } from '../expose.ts';

const read = (...databases: readonly object[]) =>
  exposeListing(database, () => ({
    databases,
    page_info: { current_page: 1, total_items: databases.length, has_more_items: false },
  }));
const short = (rows: string) =>
  rows.replaceAll('database_id="db_01"', 'db').replaceAll('bunnynet_database_', '');

it('shows how full a database is and whether it takes queries, and not its address', async () => {
  const { rows, page, asked } = await read({
    id: 'db_01',
    name: 'shop',
    url: 'libsql://very-secret.lite.bunnydb.net',
    block_reads: false,
    block_writes: true,
    size_max: '1 GB',
    current_size: '20.5 KB',
    size_max_bytes: 1_073_741_825,
    current_size_bytes: 20_993,
    storage_region: 'eu-west-1',
    primary_regions: ['DE'],
    replicas_regions: [],
  });
  expect(asked).toEqual(['/database/v2/databases?page=1&per_page=100']);
  expect(short(rows)).toBe(`\
info{db,account="account",name="shop",storage_region="eu-west-1"} 1
size_bytes{db} 20993
size_limit_bytes{db} 1073741825
reads_blocked{db} 0
writes_blocked{db} 1
`);
  expect(page).not.toContain('secret');
});

it.each([
  ['20.5 KB', 20_992],
  ['1 GB', 1_073_741_824],
  ['512 B', 512],
  ['2tb', 2_199_023_255_552],
  ['16384', 16_384],
  [16_384, 16_384],
])('reads the size %j of an older answer as %d bytes', async (current_size, bytes) => {
  const { rows } = await read({ id: 'db_01', current_size, current_size_bytes: null });
  expect(short(rows)).toBe(`size_bytes{db} ${bytes}\n`);
});
