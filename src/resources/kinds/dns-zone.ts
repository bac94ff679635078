/** The queries that one DNS zone has answered, by days (`/dnszone/{id}/statistics`), and the DNS zones of an account. */
import { daily, newestDay } from '../charts.ts';
import { defineListing, defineResource } from '../define.ts';
import { dnsTypeName } from '../dns-types.ts';
import { label } from '../families.ts';
import { id, object } from '../fields.ts';
import { eachDay } from '../queries.ts';
import { dailyTally } from '../tallies.ts';

/** The lite view, which leaves out the records. */
export const dnsZones = defineListing({
  kind: 'dns_zone',
  product: 'DNS',
  nouns: 'DNS zones',
  path: '/dnszone?view=1',
  element: object({ Id: id, Domain: label('name') }),
  ids: [{ label: 'dns_zone_id', setting: 'id', form: 'integer' }],
});

const statistics = object({
  QueriesServedChart: daily('queries', 'Queries answered'),
  NormalQueriesServedChart: daily('normal_queries', 'Queries answered from plain records'),
  SmartQueriesServedChart: daily('smart_queries', 'Queries answered from smart records'),
  QueriesByTypeChart: dailyTally('queries_by_type', 'Queries answered by their type', 'QueriesServedChart', {
    type: dnsTypeName,
  }),
}).ignoring('TotalQueriesServed');

export const dnsZone = defineResource({
  kind: 'dns_zone',
  noun: 'DNS zone',
  section: 'dns_zones',
  listing: dnsZones,
  path: '/dnszone/{id}/statistics',
  query: eachDay,
  answer: statistics,
  info: 'The name of the DNS zone: its domain, or what the configuration calls it',
  families: (own) => [...own, newestDay(statistics)],
});
