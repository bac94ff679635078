/** The traffic of pull zones by days or hours. */
import { ofEach } from '../answers.ts';
import {
  chartOf,
  type DayFigure,
  daily,
  hourlyChartOf,
  hourOf,
  queryDays,
  reachOfStatistics,
  totalOf,
} from '../days.ts';
import { count, nth, round, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { bytesPerRequest, type PullZone } from './pull-zone.ts';

export const pullZoneStatistics = {
  kind: 'pull_zone_statistics',
  section: 'pull_zone_statistics',
  ...coreApi,
  path: '/statistics?pullZone={pullZone}',
  instants: ['dateFrom', 'dateTo'],
  reach: reachOfStatistics,
  traits: { number: 'TotalRequestsServed', charts: true },
  ...ofEach('pullZones', statistics),
} as const satisfies Kind;

/** How many requests a pull zone has each day; today, up to `nowMs`. */
export function requestsOf(zone: PullZone, nowMs: number) {
  return daily(zone, 0x84, zone.requestsPerDay, nowMs);
}

function statistics(zone: PullZone, request: Request) {
  const { seed, index, hasOriginShield } = zone;
  const { nowMs } = request;
  // One zone in sixteen is off, so it has no data.
  const days = index % 16 === 15 ? [] : queryDays(request);
  const isLoaded = (name: string) => request.query.get(name) === 'true';

  const served = requestsOf(zone, nowMs);
  const hitShare = (day: number) => 0.8 + 0.14 * unit(seed, 0x85) + 0.04 * unit(seed, day, 0x85);
  const pulled = (day: number) => Math.floor(served(day) * (1 - hitShare(day)));
  const cached = (day: number) => served(day) - pulled(day);
  const share = (part: number, figure: number) => (day: number) =>
    Math.floor(served(day) * part * (0.4 + 1.2 * unit(seed, day, figure)));
  const bytes =
    (requestsOn: DayFigure, factor = 1) =>
    (day: number) =>
      Math.floor(requestsOn(day) * bytesPerRequest * factor);
  const responseMs = (day: number) => Math.round(40 + 300 * unit(seed, 0x89) + 60 * unit(seed, day, 0x89));
  /** The plain mean of all points, cut to whole milliseconds: hours without requests and hours to come are 0, and count. */
  const meanOf = (chart: Readonly<Record<string, number>>) => {
    const points = Object.values(chart);
    return Math.floor(points.reduce((sum, value) => sum + value, 0) / Math.max(1, points.length));
  };

  const isHourly = isLoaded('hourly') && isLoaded('exactRange');
  const isZoned = index % 2 === 0;
  /** A chart of counts, where the hours of a day add up to its figure. */
  const added = (figureOf: DayFigure) =>
    isHourly
      ? hourlyChartOf(days, nowMs, hourOf(figureOf, nowMs), isZoned)
      : chartOf(days, figureOf, isZoned);
  /** A chart of averages, where an hour differs a little from its day, and is 0 without requests. */
  const level = (figureOf: DayFigure, spread: number, of = served) => {
    const requestsIn = hourOf(of, nowMs);
    const inHour = (day: number, hour: number) =>
      requestsIn(day, hour) > 0 ? round(figureOf(day) * (1 + spread * (unit(seed, day, hour) - 0.5)), 4) : 0;
    return isHourly ? hourlyChartOf(days, nowMs, inHour, isZoned) : chartOf(days, figureOf, isZoned);
  };
  /** A chart of counts, if the query requests it; otherwise null. */
  const loaded = (name: string, figureOf: DayFigure) => (isLoaded(name) ? added(figureOf) : null);
  const shielded = hasOriginShield ? 0.6 : 0;
  const responseTimes = level(responseMs, 0.6, pulled);
  const hasRegions = isLoaded('loadGeographicTrafficDistribution');

  return ok({
    TotalBandwidthUsed: totalOf(days, bytes(served)),
    TotalOriginTraffic: totalOf(days, bytes(pulled)),
    AverageOriginResponseTime: meanOf(responseTimes),
    OriginResponseTimeChart: isLoaded('loadOriginResponseTimes') ? responseTimes : null,
    TotalRequestsServed: totalOf(days, served),
    CacheHitRate: round(100 * (1 - totalOf(days, pulled) / Math.max(1, totalOf(days, served))), 4),
    BandwidthUsedChart: loaded('loadBandwidthUsed', bytes(served)),
    BandwidthCachedChart: loaded('loadBandwidthUsed', bytes(cached)),
    CacheHitRateChart: level((day) => round(100 * hitShare(day), 4), 0.02),
    RequestsServedChart: loaded('loadRequestsServed', served),
    PullRequestsPulledChart: loaded('loadRequestsServed', pulled),
    OriginShieldBandwidthUsedChart: loaded('loadOriginShieldBandwidth', bytes(pulled, shielded)),
    OriginShieldInternalBandwidthUsedChart: loaded('loadOriginShieldBandwidth', bytes(pulled, shielded / 4)),
    OriginTrafficChart: loaded('loadOriginTraffic', bytes(pulled)),
    GeoTrafficDistribution: hasRegions ? regionsOf(zone, totalOf(days, bytes(served))) : null,
    Error3xxChart: loaded('loadErrors', share(0.03, 0x86)),
    Error4xxChart: loaded('loadErrors', share(0.012, 0x87)),
    Error5xxChart: loaded('loadErrors', share(0.0015, 0x88)),
  });
}

const regions = [
  ['EU', 'Frankfurt, DE'],
  ['NA', 'Ashburn, VA'],
  ['ASIA', 'Singapore, SG'],
  ['SA', 'Sao Paulo, BR'],
  ['AF', 'Johannesburg, SA'],
  ['OC', 'Sydney, SYD'],
] as const;

/** The bytes by region, fewer from one to the next; one zone in twelve has more than 50 regions. */
function regionsOf({ index }: PullZone, bytes: number): Readonly<Record<string, number>> {
  // The API mixes upper and lower case.
  const names = regions.map(
    ([continent, city]) => `${index % 4 === 3 ? continent.toLowerCase() : continent}: ${city}`,
  );
  return Object.fromEntries(
    count(index % 12 === 11 ? 60 : 2 + (index % 5), (order) => [
      nth(names, order, (turn) => ` ${turn + 2}`),
      Math.floor(bytes / 2 ** Math.min(30, order + 1)),
    ]),
  );
}
