/** The queries that one DNS zone has answered, by days (`/dnszone/{id}/statistics`), and the DNS zones of an account. */

import { familiesOf } from './by-hand.ts';
import { chart, dailyFamiliesOf, newestStart, readCharts, readDays, readTally, type Tally } from './daily.ts';
import { id, object, text } from './fields.ts';
import { corePageFields, mapEach, readCorePages } from './pages.ts';
import { type DayFigure, defineResource, type Listing } from './resource.ts';

const listedZone = object({ Id: id, Domain: text });

/** Every DNS zone, called by its domain. The lite view is without the records. */
export const dnsZones: Listing = {
  kind: 'dns_zone',
  api: 'core',
  nouns: 'DNS zones',
  fields: [...listedZone.names, ...corePageFields],
  async discover(get, _parent, diagnostics) {
    const found = await readCorePages(
      { path: '/dnszone?view=1', nouns: 'DNS zones', perPage: 100, element: listedZone, identifier: 'Id' },
      get,
      diagnostics,
    );
    return mapEach(found, ([dnsZoneId, { Domain }]) => ({
      ids: { dns_zone_id: dnsZoneId },
      name: Domain ?? undefined,
    }));
  },
};

const statistics = object({
  QueriesServedChart: chart,
  NormalQueriesServedChart: chart,
  SmartQueriesServedChart: chart,
  QueriesByTypeChart: chart,
});
const charts = ['QueriesServedChart', 'NormalQueriesServedChart', 'SmartQueriesServedChart'] as const;

export interface DnsZoneReading {
  readonly days: Readonly<Record<(typeof charts)[number], readonly DayFigure[] | undefined>>;
  readonly types: Tally | undefined;
}

const { gauge, info } = familiesOf<DnsZoneReading>('bunnynet_dns_zone');
const { daily, dailyTally } = dailyFamiliesOf<DnsZoneReading>('bunnynet_dns_zone');

function counted(name: string, field: (typeof charts)[number], words: string) {
  return daily(name, words, field, ({ days }) => days[field]);
}

export const dnsZone = defineResource({
  kind: 'dns_zone',
  api: 'core',
  reference: 'GET /dnszone/{id}/statistics',
  noun: 'DNS zone',
  section: 'dns_zones',
  ids: [{ label: 'dns_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 600,
  fields: statistics.names,
  listing: dnsZones,

  async read(get, ids, diagnostics, context): Promise<DnsZoneReading> {
    const pathOf = (query: string) => `/dnszone/${ids['dns_zone_id']}/statistics?${query}`;
    const answers = await readDays(statistics, pathOf, get, diagnostics, context);
    return {
      days: readCharts(charts, answers, diagnostics),
      types: readTally('QueriesByTypeChart', answers),
    };
  },

  families: [
    info(
      'The name of the DNS zone: its domain, or what the configuration calls it.',
      ['name'],
      (_, { name }) => ({
        name,
      }),
    ),
    ...counted('queries', 'QueriesServedChart', 'Queries answered'),
    ...counted('normal_queries', 'NormalQueriesServedChart', 'Queries answered from plain records'),
    ...counted('smart_queries', 'SmartQueriesServedChart', 'Queries answered from smart records'),
    ...dailyTally(
      'type',
      'queries_by_type',
      'Queries answered by their type',
      'QueriesByTypeChart',
      ({ types }) => types,
    ),
    gauge(
      'latest_day_timestamp_seconds',
      'Start of the newest UTC day, as Unix time (newest key of the API field QueriesServedChart and the other charts).',
      ({ days }) => newestStart(Object.values(days).flatMap((one) => one ?? [])),
    ),
  ],
});
