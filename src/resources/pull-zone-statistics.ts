/** The traffic of one pull zone by days (`/statistics?pullZone=…`). Bytes, milliseconds and percentages in the API. */

import { familiesOf } from './by-hand.ts';
import {
  chart,
  dailyFamiliesOf,
  newestFigures,
  newestStart,
  readCharts,
  readDays,
  readTally,
  type Tally,
} from './daily.ts';
import { number, object } from './fields.ts';
import { pullZoneIds, pullZones } from './pull-zone.ts';
import { type DayFigure, defineResource } from './resource.ts';
import { scaled } from './units.ts';

const statistics = object({
  CacheHitRate: number,
  AverageOriginResponseTime: number,
  RequestsServedChart: chart,
  PullRequestsPulledChart: chart,
  BandwidthUsedChart: chart,
  BandwidthCachedChart: chart,
  OriginTrafficChart: chart,
  OriginShieldBandwidthUsedChart: chart,
  OriginShieldInternalBandwidthUsedChart: chart,
  Error3xxChart: chart,
  Error4xxChart: chart,
  Error5xxChart: chart,
  GeoTrafficDistribution: chart,
});

const charts = [
  'RequestsServedChart',
  'PullRequestsPulledChart',
  'BandwidthUsedChart',
  'BandwidthCachedChart',
  'OriginTrafficChart',
  'OriginShieldBandwidthUsedChart',
  'OriginShieldInternalBandwidthUsedChart',
  'Error3xxChart',
  'Error4xxChart',
  'Error5xxChart',
] as const;

export interface PullZoneStatisticsReading {
  /** Of today: from 0 to 1. */
  readonly cacheHitRatio: number | undefined;
  /** Of today. */
  readonly originResponseSeconds: number | undefined;
  readonly days: Readonly<Record<(typeof charts)[number], readonly DayFigure[] | undefined>>;
  readonly cachedRequests: readonly DayFigure[] | undefined;
  readonly regions: Tally | undefined;
}

/** What is not loaded is not in the answer. */
const loaded = [
  'loadErrors',
  'loadOriginResponseTimes',
  'loadOriginTraffic',
  'loadRequestsServed',
  'loadBandwidthUsed',
  'loadOriginShieldBandwidth',
  'loadGeographicTrafficDistribution',
]
  .map((name) => `&${name}=true`)
  .join('');

/** The requests of the days that were not pulled from the origin. */
function cachedOf(
  served: readonly DayFigure[] | undefined,
  pulled: readonly DayFigure[] | undefined,
): readonly DayFigure[] | undefined {
  return served?.flatMap(({ startSeconds, value }) => {
    const missed = pulled?.find((day) => day.startSeconds === startSeconds)?.value;
    return missed === undefined ? [] : [{ startSeconds, value: Math.max(0, value - missed) }];
  });
}

const { gauge } = familiesOf<PullZoneStatisticsReading>('bunnynet_pull_zone_statistics');
const { daily, dailyParts, dailyTally } = dailyFamiliesOf<PullZoneStatisticsReading>(
  'bunnynet_pull_zone_statistics',
);

function counted(name: string, field: (typeof charts)[number], words: string) {
  return daily(name, words, field, ({ days }) => days[field]);
}

export const pullZoneStatistics = defineResource({
  kind: 'pull_zone_statistics',
  api: 'core',
  reference: 'GET /statistics',
  noun: "pull zone's statistics",
  section: 'pull_zone_statistics',
  ids: pullZoneIds,
  defaultIntervalSeconds: 300,
  fields: statistics.names,
  listing: pullZones,

  async read(get, ids, diagnostics, context): Promise<PullZoneStatisticsReading> {
    const pathOf = (query: string) => `/statistics?pullZone=${ids['pull_zone_id']}&${query}${loaded}`;
    const answers = await readDays(statistics, pathOf, get, diagnostics, context);
    const today = answers.at(-1)?.answer;
    const days = readCharts(charts, answers, diagnostics);
    return {
      cacheHitRatio: scaled(today?.CacheHitRate, 100),
      originResponseSeconds: scaled(today?.AverageOriginResponseTime, 1000),
      days,
      cachedRequests: cachedOf(days.RequestsServedChart, days.PullRequestsPulledChart),
      regions: readTally('GeoTrafficDistribution', answers),
    };
  },

  families: [
    ...counted('requests', 'RequestsServedChart', 'Requests served'),
    // No counter: one chart may lag the other, and a counter could not take back what that shows for a moment.
    gauge(
      'cached_requests_latest_day',
      'Requests served from the cache: the second field subtracted from the first, so far in the newest UTC day; falls back at midnight (API fields RequestsServedChart, PullRequestsPulledChart).',
      ({ cachedRequests }) => newestFigures(cachedRequests ? [{ days: cachedRequests }] : []),
    ),
    ...counted('uncached_requests', 'PullRequestsPulledChart', 'Requests that were pulled from the origin'),
    ...counted('bandwidth_bytes', 'BandwidthUsedChart', 'Bandwidth used'),
    ...counted('cached_bandwidth_bytes', 'BandwidthCachedChart', 'Bandwidth served from the cache'),
    ...counted('origin_traffic_bytes', 'OriginTrafficChart', 'Traffic from the origin'),
    ...counted(
      'origin_shield_bandwidth_bytes',
      'OriginShieldBandwidthUsedChart',
      'Bandwidth used by Origin Shield',
    ),
    ...counted(
      'origin_shield_internal_bandwidth_bytes',
      'OriginShieldInternalBandwidthUsedChart',
      'Internal bandwidth used by Origin Shield',
    ),
    ...dailyParts(
      'code',
      'responses',
      'Responses with a status of 300 to 399, 400 to 499 and 500 to 599',
      'Error3xxChart, Error4xxChart, Error5xxChart',
      ({ days }) => ({ '3xx': days.Error3xxChart, '4xx': days.Error4xxChart, '5xx': days.Error5xxChart }),
    ),
    ...dailyTally(
      'region',
      'region_traffic_bytes',
      'Traffic by the region that served it',
      'GeoTrafficDistribution',
      ({ regions }) => regions,
    ),
    gauge(
      'cache_hit_ratio',
      'Share of the requests of the UTC day so far that the cache served, from 0 to 1 (API field CacheHitRate, divided by 100).',
      ({ cacheHitRatio }) => cacheHitRatio,
    ),
    gauge(
      'origin_response_time_seconds',
      'Average response time of the origin in the UTC day so far (API field AverageOriginResponseTime, divided by 1000).',
      ({ originResponseSeconds }) => originResponseSeconds,
    ),
    gauge(
      'latest_day_timestamp_seconds',
      'Start of the newest UTC day, as Unix time (newest key of the API field RequestsServedChart and the other charts).',
      ({ days }) => newestStart(Object.values(days).flatMap((one) => one ?? [])),
    ),
  ],
});
