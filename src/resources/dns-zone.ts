/** The queries that one DNS zone has answered, by days (`/dnszone/{id}/statistics`), and the DNS zones of an account. */
import { daily, dailyTally, newestDay } from './daily.ts';
import { readDays } from './days.ts';
import { dnsTypeName } from './dns-types.ts';
import { id, object, text } from './fields.ts';
import { defineListing } from './listing.ts';
import { defineResource } from './resource.ts';

const listed = object({ Id: id, Domain: text });

/** Every DNS zone, called by its domain. The lite view is without the records. */
export const dnsZones = defineListing({
  kind: 'dns_zone',
  api: 'core',
  nouns: 'DNS zones',
  path: () => '/dnszone?view=1',
  element: listed,
  ids: [{ label: 'dns_zone_id', setting: 'id', form: 'integer' }],
  identifier: 'Id',
  about: ({ Domain }) => ({ name: Domain }),
});

const statistics = object(
  {
    QueriesServedChart: daily('queries', 'Queries answered'),
    NormalQueriesServedChart: daily('normal_queries', 'Queries answered from plain records'),
    SmartQueriesServedChart: daily('smart_queries', 'Queries answered from smart records'),
    QueriesByTypeChart: dailyTally('queries_by_type', 'Queries answered by their type', {
      type: dnsTypeName,
    }),
  },
  'TotalQueriesServed',
);

export const dnsZone = defineResource({
  kind: 'dns_zone',
  product: 'DNS',
  reference: 'GET /dnszone/{id}/statistics',
  noun: 'DNS zone',
  section: 'dns_zones',
  defaultIntervalSeconds: 600,
  listing: dnsZones,
  answer: statistics,
  info: 'The name of the DNS zone: its domain, or what the configuration calls it',
  families: [
    newestDay(
      ['QueriesServedChart', 'NormalQueriesServedChart', 'SmartQueriesServedChart'],
      'API field QueriesServedChart and the other charts',
    ),
  ],
  read: readDays(statistics, ({ dns_zone_id }, days) => `/dnszone/${dns_zone_id}/statistics?${days}`),
});
