/** Storage zones: how much they hold, in how many regions. Their dashboard is shared with the DNS zones. */
import { type Dashboard, type Row, row, urlTo } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { grid, numbers } from '../panels.ts';
import { all, entityOf, named, values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { upText, yesNo } from '../states.ts';
import { pickByName } from '../variables.ts';

const storageZone = entityOf({
  ids: ['storage_zone_id'],
  info: 'bunnynet_storage_zone_info',
  selection: ['storage_zone_id=~"$storage"'],
});
const every = all(storageZone);

export const dnsZone = entityOf({
  ids: ['dns_zone_id'],
  info: 'bunnynet_dns_zone_info',
  selection: ['dns_zone_id=~"$dns"'],
});

export const storageDnsDashboard: Dashboard = {
  uid: 'bunnynet-storage-dns',
  title: 'Storage and DNS',
  description: 'What storage zones hold, and what DNS zones are asked.',
  variables: () => [
    pickByName('storage', 'Storage zone', every, 'storage_zone_id'),
    pickByName('dns', 'DNS zone', all(dnsZone), 'dns_zone_id'),
  ],
};

const field = (name: string): string => values(storageZone, `bunnynet_storage_zone_${name}`);

/** The rows of the table: the hundred largest, and those that cannot be read while there is room. */
const rows = `topk(100, ${field('used_bytes')} or on (storage_zone_id) ${field('up')} * 0)`;

function inRows(name: string): string {
  return `${field(name)} and on (storage_zone_id) ${rows}`;
}

function panels(): readonly Row[] {
  return [
    row(overviewDashboard, 'Storage and DNS', [
      ranked(10, every, values(every, 'bunnynet_storage_zone_used_bytes'), {
        title: 'Stored: the 10 largest storage zones',
        description: 'Bytes in the main region (API field StorageUsed, as it is at each poll).',
        unit: 'decbytes',
        span: 12,
        link: {
          title: 'Open the storage zone',
          url: urlTo(storageDnsDashboard, { storage: '${__field.labels.storage_zone_id}' }),
        },
      }),
    ]),
    row(storageDnsDashboard, 'Storage', [
      numbers({
        title: 'Stored',
        description: 'Bytes of the selected storage zones in their main regions (API field StorageUsed).',
        unit: 'decbytes',
        span: 6,
        height: 8,
        spark: true,
        queries: [{ expr: `sum(${field('used_bytes')})`, legend: 'stored' }],
        nothing: 'none',
      }),
      ranked(15, storageZone, field('used_bytes'), {
        title: 'Stored: the 15 largest',
        description: 'Bytes in the main region (API field StorageUsed, as it is at each poll).',
        unit: 'decbytes',
        span: 9,
      }),
      ranked(15, storageZone, field('files'), {
        title: 'Files: the 15 with the most',
        description: 'Number of files (API field FilesStored, as it is at each poll).',
        unit: 'short',
        span: 9,
      }),
      grid({
        title: 'Storage zones',
        description:
          'At most 100 of the selected storage zones, the largest first (API fields StorageUsed, FilesStored, ReplicationRegions and ReplicationChangeInProgress, as they are now).',
        unit: 'short',
        span: 24,
        key: { label: 'storage_zone_id', title: 'Id' },
        labels: [{ label: 'display', title: 'Storage zone' }],
        columns: [
          { title: 'Stored', expr: named(storageZone, rows), unit: 'decbytes' },
          { title: 'Files', expr: inRows('files') },
          { title: 'Regions', expr: inRows('regions') },
          {
            title: 'Replication changing',
            expr: inRows('replication_change_in_progress'),
            unit: 'none',
            mappings: [yesNo],
          },
          { title: 'Last poll', expr: inRows('up'), unit: 'none', mappings: [upText] },
        ],
        sort: { title: 'Stored', descending: true },
      }),
    ]),
  ];
}

export const storageZoneMonitoring: KindMonitoring = { kind: 'storage_zone', panels };
