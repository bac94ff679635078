/** Databases: how full they are, and whether they still take queries. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, textOf, upText } from '../panels.ts';
import { anywhere, hundred, share, top, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { databaseEntity, storageDnsDashboard } from './storage-zone.ts';

const family = (name: string): string => `bunnynet_database_${name}`;
const field = (name: string): string => values(anywhere(databaseEntity), family(name));
const blocked = textOf({ 0: ['open', 'green'], 1: ['blocked', 'red'] });

export const database: KindMonitoring = {
  kind: 'database',
  rules: {
    about: 'Databases: room, and whether they take queries.',
    reading: family('size_bytes'),
    names: databaseEntity,
    interval: '1m',
    alerts: {
      BunnynetDatabaseBlocked: {
        expr: `
          max by (database_id) (last_over_time({__name__=~"bunnynet_database_(reads|writes)_blocked"}[3m:1m])) == 1`,
        for: '5m',
        severity: 'critical',
        summary: 'Database {{ or $name $labels.database_id }} refuses queries',
        description:
          'The API has reported for [[for]] that these are blocked of database {{ $labels.database_id }}:{{ range query (printf "max(last_over_time(bunnynet_database_reads_blocked{database_id=%q}[3m:1m])) == 1" $labels.database_id) }} reads{{ end }}{{ range query (printf "max(last_over_time(bunnynet_database_writes_blocked{database_id=%q}[3m:1m])) == 1" $labels.database_id) }} writes{{ end }}.',
      },
      BunnynetDatabaseNearlyFull: {
        expr: `
          max by (database_id) (last_over_time(bunnynet_database_size_bytes[3m:1m]))
          / (max by (database_id) (last_over_time(bunnynet_database_size_limit_bytes[3m:1m])) > 0)
          >= [[share]]`,
        thresholds: { share: 0.9 },
        for: '15m',
        keepFiringFor: '30m',
        summary: 'Database {{ or $name $labels.database_id }} is nearly full',
        description:
          'Database {{ $labels.database_id }} has been {{ $value | humanizePercentage }} full for [[for]] or more.',
      },
    },
  },
  rows: [
    row(storageDnsDashboard, 'Databases', [
      grid('Databases', 'decbytes', 16, {
        description:
          'At most 100 of the selected databases, the largest first (API fields current_size_bytes, size_max_bytes, block_reads and block_writes, as they are now).',
        entity: databaseEntity,
        rows: hundred(databaseEntity, family('(up|size_bytes)')),
        columns: [
          { title: 'Size', expr: field('size_bytes') },
          { title: 'Allowed', expr: field('size_limit_bytes') },
          { title: 'Reads', expr: field('reads_blocked'), text: blocked },
          { title: 'Writes', expr: field('writes_blocked'), text: blocked },
          { title: 'Last poll', expr: field('up'), text: upText },
        ],
        alerts: ['BunnynetDatabaseBlocked'],
      }),
      bars('Fullest databases (top 10)', 'percentunit', 8, {
        description:
          'Share of the size that a database may have (API fields current_size_bytes and size_max_bytes). An alert fires from 90 %.',
        height: 9,
        steps: ['green', [0.9, 'orange'], [1, 'red']],
        queries: top(
          10,
          databaseEntity,
          share(databaseEntity, family('size_bytes'), family('size_limit_bytes')),
        ),
        link: databaseEntity.link,
        nothing: 'There is no database.',
        alerts: ['BunnynetDatabaseNearlyFull'],
      }),
    ]),
  ],
};
