import { expect, it } from 'vitest';
import { storageZone } from '../../../src/resources/kinds/storage-zone.ts';
import { exposeListing } from '../expose.ts';

const read = (...items: readonly string[]) => exposeListing(storageZone, () => `[${items.join()}]`);

it('shows the content of a storage zone and its regions', async () => {
  const { rows, page, asked } = await read(`{
    "Id": 7001,
    "Name": "assets",
    "Password": "very-secret",
    "ReadOnlyPassword": "secret-too",
    "DateModified": "2026-05-04T08:15:30",
    "Deleted": false,
    "StorageUsed": 123456789012,
    "FilesStored": 98765,
    "Region": "DE",
    "ReplicationRegions": ["NY", "SG"],
    "ZoneTier": 1,
    "ReplicationChangeInProgress": true
  }`);
  expect(asked).toEqual(['/storagezone?page=1&perPage=100']);
  expect(rows).toBe(`\
bunnynet_storage_zone_info{storage_zone_id="7001",account="account",name="assets",tier="edge",region="DE"} 1
bunnynet_storage_zone_used_bytes{storage_zone_id="7001"} 123456789012
bunnynet_storage_zone_files{storage_zone_id="7001"} 98765
bunnynet_storage_zone_regions{storage_zone_id="7001"} 3
bunnynet_storage_zone_replication_change_in_progress{storage_zone_id="7001"} 1
`);
  expect(page).not.toContain('secret');
});
