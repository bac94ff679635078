/** The traffic of pull zones by days. */
import { chartOf, daysAsked, doneOf, totalOf, weekdayShare } from '../days.ts';
import { round } from '../entities.ts';
import { coreApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { unit } from '../random.ts';
import { ofPullZone, type PullZone, type PullZones, targetOf } from './pull-zone.ts';

export const pullZoneStatistics = {
  kind: 'pull_zone_statistics',
  ...coreApi,
  path: '/statistics?pullZone={pullZone}',
  traits: {
    number: 'TotalRequestsServed',
    charts: (
      'OriginResponseTimeChart BandwidthUsedChart BandwidthCachedChart CacheHitRateChart ' +
      'RequestsServedChart PullRequestsPulledChart OriginShieldBandwidthUsedChart ' +
      'OriginShieldInternalBandwidthUsedChart OriginTrafficChart Error3xxChart Error4xxChart ' +
      'Error5xxChart'
    ).split(' '),
  },
  answers: ({ pullZones }) => ofPullZone(pullZones, statistics),
  section: 'pull_zone_statistics',
  targets: ({ pullZones }) => pullZones.map(targetOf),
} as const satisfies Kind<unknown, object, PullZones>;

/** Requests of a pull zone on one day so far. */
export function requestsOf({ seed, requestsPerDay }: PullZone, day: number, nowMs: number): number {
  const busy = weekdayShare(day) * (0.75 + 0.5 * unit(seed, day, 0x84));
  return Math.floor(requestsPerDay * busy * doneOf(day, nowMs));
}

const bytesPerRequest = 42_000;

function statistics(zone: PullZone, request: Request): unknown {
  const { seed, index, hasOriginShield } = zone;
  const { nowMs } = request;
  // A zone that is off has no data.
  const days = index % 16 === 15 ? [] : daysAsked(request);
  const isLoaded = (name: string) => new URLSearchParams(request.query).get(name) === 'true';

  const served = (day: number) => requestsOf(zone, day, nowMs);
  const hitShare = (day: number) => 0.82 + 0.16 * unit(seed, day, 0x85);
  const pulled = (day: number) => Math.floor(served(day) * (1 - hitShare(day)));
  const share = (part: number, figure: number) => (day: number) =>
    Math.floor(served(day) * part * (0.4 + 1.2 * unit(seed, day, figure)));
  const bytes =
    (requestsOn: (day: number) => number, factor = 1) =>
    (day: number) =>
      Math.floor(requestsOn(day) * bytesPerRequest * factor);
  const responseMs = (day: number) => Math.round(40 + 400 * unit(seed, day, 0x89));
  const average = (figureOf: (day: number) => number) =>
    days.length === 0 ? 0 : totalOf(days, figureOf) / days.length;

  /** A chart that the query loads; others are null. */
  const loaded = (name: string, figureOf: (day: number) => number) =>
    isLoaded(name) ? chartOf(days, figureOf, index % 2 === 0) : null;
  const shielded = hasOriginShield ? 0.6 : 0;

  return {
    TotalBandwidthUsed: totalOf(days, bytes(served)),
    TotalOriginTraffic: totalOf(days, bytes(pulled)),
    AverageOriginResponseTime: Math.round(average(responseMs)),
    OriginResponseTimeChart: loaded('loadOriginResponseTimes', responseMs),
    TotalRequestsServed: totalOf(days, served),
    CacheHitRate: round(100 * average(hitShare), 4),
    BandwidthUsedChart: loaded('loadBandwidthUsed', bytes(served)),
    BandwidthCachedChart: loaded(
      'loadBandwidthUsed',
      bytes((day) => served(day) - pulled(day)),
    ),
    CacheHitRateChart: chartOf(days, (day) => round(100 * hitShare(day), 4)),
    RequestsServedChart: loaded('loadRequestsServed', served),
    PullRequestsPulledChart: loaded('loadRequestsServed', pulled),
    OriginShieldBandwidthUsedChart: loaded('loadOriginShieldBandwidth', bytes(pulled, shielded)),
    OriginShieldInternalBandwidthUsedChart: loaded('loadOriginShieldBandwidth', bytes(pulled, shielded / 4)),
    OriginTrafficChart: loaded('loadOriginTraffic', bytes(pulled)),
    UserBalanceHistoryChart: null,
    GeoTrafficDistribution: isLoaded('loadGeographicTrafficDistribution')
      ? regionsOf(zone, totalOf(days, bytes(served)))
      : null,
    Error3xxChart: loaded('loadErrors', share(0.03, 0x86)),
    Error4xxChart: loaded('loadErrors', share(0.012, 0x87)),
    Error5xxChart: loaded('loadErrors', share(0.0015, 0x88)),
  };
}

const continents = ['EU', 'NA', 'ASIA', 'SA', 'AF', 'OC'] as const;
const cities = [
  'Frankfurt, DE',
  'Ashburn, VA',
  'Singapore, SG',
  'Sao Paulo, BR',
  'Johannesburg, SA',
  'Sydney, SYD',
];

/** The bytes by region, less and less of them; one zone in twelve has more regions than are told apart. */
function regionsOf({ index }: PullZone, bytes: number): Readonly<Record<string, number>> {
  const regions = index % 12 === 11 ? 60 : 2 + (index % 5);
  return Object.fromEntries(
    Array.from({ length: regions }, (_, order) => {
      const turn = Math.floor(order / cities.length);
      const continent = continents[order % continents.length] ?? '';
      // The API is not always of one case.
      const region = index % 4 === 3 ? continent.toLowerCase() : continent;
      const name = `${region}: ${cities[order % cities.length]}`;
      return [turn === 0 ? name : `${name} ${turn + 1}`, Math.floor(bytes / 2 ** Math.min(30, order + 1))];
    }),
  );
}
