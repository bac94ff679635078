/** DNS zones, their paged listing and the queries that they answer. */
import { corePaging, listed, ofEach } from '../answers.ts';
import { chartOf, daily, queryDays, totalOf } from '../days.ts';
import { entities, magnitude, nth, numberedId, ownName, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request } from '../kind.ts';

export type DnsZone = ReturnType<typeof zonesOf>[number];

export const dnsZone = {
  kind: 'dns_zone',
  section: 'dns_zones',
  sizes: { dnsZones: [3, 40, 90] },
  create: (seed, sizes: { dnsZones: number }) => ({ dnsZones: zonesOf(seed, sizes.dnsZones) }),
  ...coreApi,
  path: '/dnszone/{zone}/statistics',
  traits: { number: 'TotalQueriesServed', charts: true },
  ...ofEach('dnsZones', statistics),
  listing: {
    ...coreApi,
    path: '/dnszone?view=1',
    traits: { field: 'Items', ids: ['Id'], name: 'Domain', instants: true },
    ...listed('dnsZones', corePaging, liteZone),
  },
} as const satisfies Kind;

/** A zone without its records. */
export function liteZone({ index, id, name }: DnsZone, { nameOf }: Request) {
  return {
    Id: jsonInteger(id),
    Domain: nameOf(id, name),
    DateModified: '2026-05-04T08:15:30',
    DateCreated: '2024-03-01T09:30:00',
    NameserversDetected: index % 20 !== 19,
    CustomNameserversEnabled: false,
    LoggingEnabled: false,
    DnsSecEnabled: true,
  };
}

const domains = ['shop.example', 'example.org', 'static.example', 'mail.example', 'example.net'] as const;

function zonesOf(datasetSeed: number, length: number) {
  return entities(datasetSeed, 21, length, (seed, index) => ({
    id: numberedId(datasetSeed, 58_113 + 9 * index),
    name: ownName(
      datasetSeed,
      nth(domains, index, (turn) => `.${turn + 2}.example`),
    ),
    queriesPerDay: magnitude(500, 6_000_000, unit(seed, 1)),
  }));
}

/** Shares of the queries by IANA number: A, AAAA, HTTPS, MX, TXT, NS. */
const types = { 1: 0.55, 28: 0.25, 65: 0.1, 15: 0.04, 16: 0.04, 2: 0.02 } as const;

function statistics(zone: DnsZone, request: Request) {
  const days = queryDays(request);
  const all = daily(zone, 0x8f, zone.queriesPerDay, request.nowMs);
  const smart = (day: number) => Math.floor(all(day) * 0.1 * unit(zone.seed, day, 0x90));
  const byType = Object.entries(types).map(([type, share]) => ({
    [type]: totalOf(days, (day) => Math.floor(all(day) * share)),
  }));
  // In some zones the charts of the other types are empty.
  const charted = zone.index % 3 === 2 ? [] : days;
  return ok({
    TotalQueriesServed: totalOf(days, all),
    QueriesServedChart: chartOf(days, all),
    NormalQueriesServedChart: chartOf(charted, (day) => all(day) - smart(day)),
    SmartQueriesServedChart: chartOf(charted, smart),
    QueriesByTypeChart: Object.assign({}, ...byType) as object,
  });
}
