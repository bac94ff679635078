/** Storage zones: how much they hold, in how many regions. Their dashboard is shared with the DNS zones and the databases. */
import { type Dashboard, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, numbers, upText, yesNo } from '../panels.ts';
import { all, anywhere, entityOf, hundred, peaks, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

export const storageZone = entityOf({
  ids: ['storage_zone_id'],
  noun: 'storage zone',
  picks: { storage: 'storage_zone_id' },
  info: 'bunnynet_storage_zone_info',
  dashboard: 'bunnynet-storage-dns',
});

export const dnsZone = entityOf({
  ids: ['dns_zone_id'],
  noun: 'DNS zone',
  picks: { dns: 'dns_zone_id' },
  info: 'bunnynet_dns_zone_info',
  dashboard: 'bunnynet-storage-dns',
});

export const databaseEntity = entityOf({
  ids: ['database_id'],
  noun: 'database',
  picks: { database: 'database_id' },
  info: 'bunnynet_database_info',
  dashboard: 'bunnynet-storage-dns',
});

export const storageDnsDashboard: Dashboard = {
  uid: 'bunnynet-storage-dns',
  title: 'Storage, DNS and databases',
  description: 'What storage zones and databases hold, and what DNS zones and databases are asked.',
  details: ['Readings'],
  variables: [
    pickByName(storageZone, 'Storage zone'),
    pickByName(dnsZone, 'DNS zone'),
    pickByName(databaseEntity, 'Database'),
  ],
};

const family = (name: string): string => `bunnynet_storage_zone_${name}`;
const field = (name: string): string => values(anywhere(storageZone), family(name));

export const storageZones: KindMonitoring = {
  kind: 'storage_zone',
  rules: {
    about: 'Storage zones: their replication.',
    reading: family('used_bytes'),
    names: storageZone,
    alerts: {
      BunnynetStorageZoneReplicationSlow: {
        expr: `
          min by (storage_zone_id) (min_over_time(bunnynet_storage_zone_replication_change_in_progress[1d])) == 1
          and max by (storage_zone_id) (last_over_time(bunnynet_storage_zone_replication_change_in_progress[3m:1m])) == 1
          and max by (storage_zone_id) (last_over_time(bunnynet_storage_zone_replication_change_in_progress[1h] offset 23h)) == 1`,
        for: '1h',
        severity: 'info',
        summary:
          'A change of the replication of storage zone {{ or $name $labels.storage_zone_id }} does not end',
        description:
          'A change of the replication of storage zone {{ $labels.storage_zone_id }} has been in progress for a day. Until it ends not every region has every file.',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Storage and DNS', [
      lines('Largest storage zones (top 10)', 'decbytes', 12, {
        description: 'Bytes in the main region (API field StorageUsed, as it is at each poll).',
        queries: peaks(10, all(storageZone), family('used_bytes')),
        link: storageZone.link,
      }),
    ]),
    row(storageDnsDashboard, 'Storage', [
      numbers('Stored', 'decbytes', 4, {
        description: 'Bytes of the selected storage zones in their main regions (API field StorageUsed).',
        height: 8,
        queries: { stored: `sum(${values(storageZone, family('used_bytes'))})` },
        link: linkTo('bunnynet-account', 'Open the account'),
      }),
      lines('Largest storage zones (top 15)', 'decbytes', 10, {
        description: 'Bytes in the main region (API field StorageUsed, as it is at each poll).',
        queries: peaks(15, storageZone, family('used_bytes')),
      }),
      lines('Files by storage zone (top 15)', 'short', 10, {
        description: 'Number of files (API field FilesStored, as it is at each poll).',
        queries: peaks(15, storageZone, family('files')),
      }),
      grid('Storage zones', 'short', 24, {
        description:
          'At most 100 of the selected storage zones, the largest first (API fields StorageUsed, FilesStored, ReplicationRegions and ReplicationChangeInProgress, as they are now).',
        entity: storageZone,
        rows: hundred(storageZone, family('(up|used_bytes)')),
        columns: [
          { title: 'Stored', expr: field('used_bytes'), unit: 'decbytes' },
          { title: 'Files', expr: field('files') },
          { title: 'Regions', expr: field('regions') },
          { title: 'Replication changing', expr: field('replication_change_in_progress'), text: yesNo },
          { title: 'Last poll', expr: field('up'), text: upText },
        ],
        alerts: ['BunnynetStorageZoneReplicationSlow'],
      }),
    ]),
  ],
};
