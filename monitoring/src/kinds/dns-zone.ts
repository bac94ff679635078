/** DNS zones: what they are asked. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, newestDay, numbers } from '../panels.ts';
import { all, type Figure, perMinute, values } from '../promql.ts';
import { ranked, rankedBy } from '../rankings.ts';
import { displayRecord, type Rules } from '../rules.ts';
import { dnsZone, storageDnsDashboard } from './storage-zone.ts';

const rate = (name: string, by: readonly string[] = []): string =>
  perMinute(dnsZone, `bunnynet_dns_zone_${name}_total`, { by });
const queries: Figure = { metric: 'bunnynet_dns_zone_queries_total', as: 'perMinute' };

const rules: Rules = {
  about: 'DNS zones: their names.',
  groups: [{ name: 'bunnynet-dns-zone', interval: '2m', rules: [displayRecord(dnsZone)] }],
};

const records = [
  ['normal_queries', 'plain records'],
  ['smart_queries', 'smart records'],
] as const;

function panels(): readonly Row[] {
  return [
    row(overviewDashboard, 'Storage and DNS', [
      ranked(10, all(dnsZone), queries, {
        title: 'DNS queries: the 10 busiest zones',
        description: 'Queries a minute, averaged over half an hour (API field QueriesServedChart).',
        unit: 'suffix: /min',
        span: 12,
        link: linkTo(storageDnsDashboard.uid, 'Open the DNS zone', {
          dns: '${__field.labels.dns_zone_id}',
        }),
      }),
    ]),
    row(storageDnsDashboard, 'DNS', [
      numbers({
        title: 'Queries today',
        description:
          'Queries of the selected DNS zones in the UTC day so far, which starts from 0 at midnight (API field QueriesServedChart).',
        unit: 'short',
        span: 4,
        height: 8,
        link: linkTo('bunnynet-exporter', 'Open the exporter'),
        queries: [
          {
            expr: `sum(${values(dnsZone, 'bunnynet_dns_zone_queries_latest_day')})`,
            legend: 'queries',
          },
        ],
        nothing: 'none',
      }),
      ranked(15, dnsZone, queries, {
        title: 'Queries: the 15 busiest zones',
        description: 'Queries a minute, averaged over half an hour (API field QueriesServedChart).',
        unit: 'suffix: /min',
        span: 7,
      }),
      lines({
        title: 'Queries by the record that answers',
        description:
          'Queries a minute of the selected DNS zones together, averaged over half an hour (API fields NormalQueriesServedChart and SmartQueriesServedChart).',
        unit: 'suffix: /min',
        span: 7,
        stacked: true,
        queries: records.map(([name, legend]) => ({ expr: `sum(${rate(name)})`, legend })),
      }),
      rankedBy('type', rate('queries_by_type', ['type']), {
        title: 'Queries now, by type',
        description:
          'Queries a minute of the selected DNS zones together, averaged over half an hour (API field QueriesByTypeChart, of which a zone counts the 50 largest types).',
        unit: 'suffix: /min',
        span: 6,
      }),
    ]),
    row(storageDnsDashboard, 'Readings', [
      newestDay(
        'DNS',
        values(dnsZone, 'bunnynet_dns_zone_latest_day_timestamp_seconds'),
        'field QueriesServedChart and the other charts',
      ),
    ]),
  ];
}

export const dnsZoneMonitoring: KindMonitoring = { kind: 'dns_zone', panels, rules };
