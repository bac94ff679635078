/** DNS zones, their paged listing and the queries that they answer. */
import { chartOf, daysAsked, doneOf, totalOf, weekdayShare } from '../days.ts';
import { count, nth, streams } from '../entities.ts';
import { coreApi, ofEach } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { coreObjectPaging, listing } from '../paging.ts';
import { hash, magnitude, unit } from '../random.ts';

export type DnsZone = ReturnType<typeof createDnsZone>;

export const dnsZone = {
  kind: 'dns_zone',
  sizes: { small: { dnsZones: 3 }, medium: { dnsZones: 40 }, full: { dnsZones: 250 } },
  create: (seed, { dnsZones }) => ({ dnsZones: count(dnsZones, (index) => createDnsZone(seed, index)) }),
  ...coreApi,
  path: '/dnszone/{zone}/statistics',
  traits: {
    number: 'TotalQueriesServed',
    charts: ['QueriesServedChart', 'NormalQueriesServedChart', 'SmartQueriesServedChart'],
  },
  answers: ({ dnsZones }) => ofEach(dnsZones, idOf, (zone, request) => ok(statistics(zone, request))),
  listing: {
    ...coreApi,
    path: '/dnszone?view=1',
    traits: {
      field: 'Items',
      list: true,
      ids: ['Id'],
      names: ['Domain'],
      instants: ['DateModified', 'DateCreated'],
    },
    pages: ({ dnsZones }) => listing(coreObjectPaging, dnsZones, idOf, liteZone),
  },
  section: 'dns_zones',
  targets: ({ dnsZones }) => dnsZones.map(({ dnsZoneId: id, domain: name }) => ({ ids: { id }, name })),
} as const satisfies Kind<{ dnsZones: number }, { dnsZones: readonly DnsZone[] }>;

const idOf = ({ dnsZoneId }: DnsZone) => dnsZoneId;

/** A zone without its records. */
export function liteZone({ index, dnsZoneId, domain }: DnsZone, { nameOf }: Request) {
  return {
    Id: jsonInteger(dnsZoneId),
    Domain: nameOf(dnsZoneId, domain),
    DateModified: '2026-05-04T08:15:30',
    DateCreated: '2024-03-01T09:30:00',
    NameserversDetected: index % 20 !== 19,
    CustomNameserversEnabled: false,
    LoggingEnabled: false,
    DnsSecEnabled: true,
  };
}

const domains = ['shop.example', 'example.org', 'static.example', 'mail.example', 'example.net'] as const;

function createDnsZone(datasetSeed: number, index: number) {
  const seed = hash(datasetSeed, streams.dnsZone, index);
  return {
    seed,
    index,
    dnsZoneId: String(58_113 + 9 * index),
    domain: nth(domains, index, (turn) => `.${turn + 2}.example`),
    queriesPerDay: magnitude(500, 6_000_000, unit(seed, 1)),
  };
}

/** Shares of the queries by IANA number: A, AAAA, HTTPS, MX, TXT, NS. */
const types = { 1: 0.55, 28: 0.25, 65: 0.1, 15: 0.04, 16: 0.04, 2: 0.02 } as const;

function statistics({ seed, index, queriesPerDay }: DnsZone, request: Request): unknown {
  const days = daysAsked(request);
  const all = (day: number) =>
    Math.floor(
      queriesPerDay * weekdayShare(day) * (0.75 + 0.5 * unit(seed, day, 0x8f)) * doneOf(day, request.nowMs),
    );
  const smart = (day: number) => Math.floor(all(day) * 0.1 * unit(seed, day, 0x90));
  return {
    TotalQueriesServed: totalOf(days, all),
    QueriesServedChart: chartOf(days, all),
    // Of some zones these have no day, beside charts that have some.
    NormalQueriesServedChart: index % 3 === 2 ? {} : chartOf(days, (day) => all(day) - smart(day)),
    SmartQueriesServedChart: index % 3 === 2 ? {} : chartOf(days, smart),
    QueriesByTypeChart: Object.fromEntries(
      Object.entries(types).map(([type, share]) => [
        type,
        totalOf(days, (day) => Math.floor(all(day) * share)),
      ]),
    ),
  };
}
