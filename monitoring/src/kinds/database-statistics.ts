/** What is asked of databases: queries, rows and latency. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { peaks, perSecond, top, values } from '../promql.ts';
import { databaseEntity, storageDnsDashboard } from './storage-zone.ts';

const family = (name: string): string => `bunnynet_database_statistics_${name}`;

const charts = [
  ['queries', 'Queries', 'query_count'],
  ['rows_read', 'Rows read', 'row_read_count'],
  ['rows_written', 'Rows written', 'row_write_count'],
  ['delegated_writes', 'Delegated writes', 'delegated_write_requests'],
] as const;

export const databaseStatistics: KindMonitoring = {
  kind: 'database_statistics',
  rows: [
    row(storageDnsDashboard, 'Databases', [
      ...charts.map(([name, title, field]) =>
        lines(`${title} (top 10)`, 'ops', 6, {
          description: `A second, averaged over half an hour (API field ${field}, counted by days).`,
          queries: peaks(10, databaseEntity, family(`${name}_total`), perSecond),
        }),
      ),
      bars('Database latency (top 10)', 's', 24, {
        description:
          'In the newest hour that had queries. The API does not document what its series are: regions, or an average and percentiles (API field latency).',
        queries: top(
          10,
          databaseEntity,
          values(databaseEntity, family('latency_seconds'), ['series']),
          '{{display}}: {{series}}',
        ),
        link: databaseEntity.link,
        nothing: 'No database had a query.',
      }),
    ]),
  ],
};
