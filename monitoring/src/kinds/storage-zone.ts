/** Storage zones: how much they hold, in how many regions. Their dashboard is shared with the DNS zones. */
import { type Dashboard, type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { numbers } from '../panels.ts';
import { all, anywhere, entityOf, highest, selector, values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { displayRecord, type Rules } from '../rules.ts';
import { upText, yesNo } from '../states.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

export const storageZone = entityOf({
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
  details: ['Readings'],
  variables: () => [
    pickByName('storage', 'Storage zone', every, 'storage_zone_id'),
    pickByName('dns', 'DNS zone', all(dnsZone), 'dns_zone_id'),
  ],
};

export const toStorageZone = (id: string) =>
  linkTo(storageDnsDashboard.uid, 'Open the storage zone', { storage: `\${${id}}` });

const family = (name: string): string => `bunnynet_storage_zone_${name}`;
const field = (name: string): string => values(anywhere(storageZone), family(name));

/** The rows of the table: the hundred largest, and those that cannot be read while there is room. */
const rows = `topk(100, ${highest(storageZone, selector('', ['__name__=~"bunnynet_storage_zone_(up|used_bytes)"', ...storageZone.matchers]))})`;

const rules: Rules = {
  about: 'Storage zones: their names.',
  groups: [{ name: 'bunnynet-storage-zone', interval: '2m', rules: [displayRecord(storageZone)] }],
};

function panels(): readonly Row[] {
  const stored = { metric: family('used_bytes') };
  return [
    row(overviewDashboard, 'Storage and DNS', [
      ranked(10, every, stored, {
        title: 'Stored: the 10 largest storage zones',
        description: 'Bytes in the main region (API field StorageUsed, as it is at each poll).',
        unit: 'decbytes',
        span: 12,
        link: toStorageZone('__field.labels.storage_zone_id'),
      }),
    ]),
    row(storageDnsDashboard, 'Storage', [
      numbers({
        title: 'Stored',
        description: 'Bytes of the selected storage zones in their main regions (API field StorageUsed).',
        unit: 'decbytes',
        span: 4,
        height: 8,
        queries: [{ expr: `sum(${values(storageZone, family('used_bytes'))})`, legend: 'stored' }],
        nothing: 'none',
        link: linkTo('bunnynet-account', 'Open the account'),
      }),
      ranked(15, storageZone, stored, {
        title: 'Stored: the 15 largest',
        description: 'Bytes in the main region (API field StorageUsed, as it is at each poll).',
        unit: 'decbytes',
        span: 10,
      }),
      ranked(
        15,
        storageZone,
        { metric: family('files') },
        {
          title: 'Files: the 15 with the most',
          description: 'Number of files (API field FilesStored, as it is at each poll).',
          unit: 'short',
          span: 10,
        },
      ),
      grid({
        title: 'Storage zones',
        description:
          'At most 100 of the selected storage zones, the largest first (API fields StorageUsed, FilesStored, ReplicationRegions and ReplicationChangeInProgress, as they are now).',
        unit: 'short',
        span: 24,
        entity: storageZone,
        rows,
        name: 'Storage zone',
        link: toStorageZone('__data.fields.storage_zone_id'),
        columns: [
          { title: 'Stored', expr: field('used_bytes'), unit: 'decbytes' },
          { title: 'Files', expr: field('files') },
          { title: 'Regions', expr: field('regions') },
          {
            title: 'Replication changing',
            expr: field('replication_change_in_progress'),
            unit: 'none',
            mappings: [yesNo],
          },
          { title: 'Last poll', expr: field('up'), unit: 'none', mappings: [upText] },
        ],
        sort: { title: 'Stored', descending: true },
      }),
    ]),
  ];
}

export const storageZoneMonitoring: KindMonitoring = { kind: 'storage_zone', panels, rules };
