/** DNS zones: their queries. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { toExporter } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, newestDay, numbers } from '../panels.ts';
import { all, peaks, perMinute, topBy, values } from '../promql.ts';
import { dnsZone, storageDnsDashboard } from './storage-zone.ts';

const family = (name: string): string => `bunnynet_dns_zone_${name}`;
const rate = (name: string, by: readonly string[] = []): string =>
  perMinute(dnsZone, family(`${name}_total`), by);

export const dnsZones: KindMonitoring = {
  kind: 'dns_zone',
  rules: { about: 'DNS zones: their names.', names: dnsZone },
  rows: [
    row(overviewDashboard, 'Storage and DNS', [
      lines('DNS queries by zone (top 10)', 'suffix: /min', 12, {
        description: 'Queries a minute, averaged over half an hour (API field QueriesServedChart).',
        queries: peaks(10, all(dnsZone), family('queries_total'), perMinute),
        link: dnsZone.link,
      }),
    ]),
    row(storageDnsDashboard, 'DNS', [
      numbers('Queries today', 'short', 4, {
        description:
          'Queries of the selected DNS zones in the UTC day so far, which starts from 0 at midnight (API field QueriesServedChart).',
        height: 8,
        queries: { queries: `sum(${values(dnsZone, family('queries_latest_day'))})` },
        link: toExporter,
      }),
      lines('Queries by zone (top 15)', 'suffix: /min', 7, {
        description: 'Queries a minute, averaged over half an hour (API field QueriesServedChart).',
        queries: peaks(15, dnsZone, family('queries_total'), perMinute),
      }),
      lines('Queries by plain and smart records', 'suffix: /min', 7, {
        description:
          'Queries a minute of the selected DNS zones together, averaged over half an hour (API fields NormalQueriesServedChart and SmartQueriesServedChart).',
        stacked: true,
        queries: {
          'plain records': `sum(${rate('normal_queries')})`,
          'smart records': `sum(${rate('smart_queries')})`,
        },
      }),
      bars('Queries by type', 'suffix: /min', 6, {
        description:
          'Queries a minute of the selected DNS zones together, averaged over half an hour (API field QueriesByTypeChart, of which a zone counts the 50 largest types).',
        queries: topBy('type', rate('queries_by_type', ['type'])),
      }),
    ]),
    row(storageDnsDashboard, 'Readings', [
      newestDay(
        'DNS',
        values(dnsZone, family('latest_day_timestamp_seconds')),
        'field QueriesServedChart and the other charts',
      ),
    ]),
  ],
};
