/** The queries that one DNS zone has answered, by days (`/dnszone/{id}/statistics`), and the DNS zones of an account. */
import { daily, newestDay } from '../charts.ts';
import { defineListing, defineResource } from '../define.ts';
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

/** The names of DNS record types, which the API gives by their IANA numbers. */
const registry = `
  1 A, 2 NS, 5 CNAME, 6 SOA, 12 PTR, 13 HINFO, 15 MX, 16 TXT, 17 RP, 18 AFSDB, 24 SIG, 25 KEY,
  28 AAAA, 29 LOC, 33 SRV, 35 NAPTR, 37 CERT, 39 DNAME, 41 OPT, 42 APL, 43 DS, 44 SSHFP,
  45 IPSECKEY, 46 RRSIG, 47 NSEC, 48 DNSKEY, 49 DHCID, 50 NSEC3, 51 NSEC3PARAM, 52 TLSA, 53 SMIMEA,
  55 HIP, 59 CDS, 60 CDNSKEY, 61 OPENPGPKEY, 62 CSYNC, 63 ZONEMD, 64 SVCB, 65 HTTPS, 99 SPF,
  108 EUI48, 109 EUI64, 249 TKEY, 250 TSIG, 251 IXFR, 252 AXFR, 255 ANY, 256 URI, 257 CAA`;

const typeNames = new Map(
  Array.from(registry.matchAll(/(\d+) (\w+)/g), ([, code = '', name = '']): [string, string] => [code, name]),
);

/** The name of a type: `28` is AAAA; a number without a name here is `TYPE4711`, as RFC 3597 writes it. Anything else stays as it is. */
function typeName(key: string): string {
  return typeNames.get(key) ?? (/^\d{1,5}$/.test(key) ? `TYPE${Number(key)}` : key);
}

const statistics = object({
  QueriesServedChart: daily('queries', 'Queries answered'),
  NormalQueriesServedChart: daily('normal_queries', 'Queries answered from plain records'),
  SmartQueriesServedChart: daily('smart_queries', 'Queries answered from smart records'),
  QueriesByTypeChart: dailyTally('queries_by_type', 'Queries answered by their type', 'QueriesServedChart', {
    type: typeName,
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
