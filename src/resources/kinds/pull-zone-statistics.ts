/** The traffic of one pull zone by hours, and their days (`/statistics?pullZone=…`). Bytes, milliseconds and percentages in the API. */

import { sum } from '../answer-of-range.ts';
import { dailyByHours, type Hour, hours, newestDay, newestOf, sumByDay } from '../charts.ts';
import { defineResource } from '../define.ts';
import { type FamilyOf, gauge, highestOf } from '../families.ts';
import { divided, object, percentage, type ValueOf } from '../fields.ts';
import { eachDayByHours } from '../queries.ts';
import { dailyTally } from '../tallies.ts';
import { pullZones } from './pull-zone.ts';

function responsesOf(code: string) {
  return dailyByHours('responses', 'Responses with a status of 300 to 399, 400 to 499 and 500 to 599', {
    fixed: { code },
    sum: 'TotalRequestsServed',
  });
}

const statistics = object({
  RequestsServedChart: dailyByHours('requests', 'Requests served', { sum: 'TotalRequestsServed' }),
  PullRequestsPulledChart: dailyByHours('uncached_requests', 'Requests passed on to the origin', {
    sum: 'TotalRequestsServed',
  }),
  BandwidthUsedChart: dailyByHours('bandwidth_bytes', 'Bandwidth used', { sum: 'TotalBandwidthUsed' }),
  BandwidthCachedChart: dailyByHours('cached_bandwidth_bytes', 'Bandwidth served from the cache', {
    sum: 'TotalBandwidthUsed',
  }),
  OriginTrafficChart: dailyByHours('origin_traffic_bytes', 'Traffic from the origin', {
    sum: 'TotalOriginTraffic',
  }),
  OriginShieldBandwidthUsedChart: dailyByHours(
    'origin_shield_bandwidth_bytes',
    'Bandwidth used by Origin Shield',
  ),
  OriginShieldInternalBandwidthUsedChart: dailyByHours(
    'origin_shield_internal_bandwidth_bytes',
    'Internal bandwidth used by Origin Shield',
  ),
  Error3xxChart: responsesOf('3xx'),
  Error4xxChart: responsesOf('4xx'),
  Error5xxChart: responsesOf('5xx'),
  // `EU: Frankfurt, DE` is a point of presence of a region.
  GeoTrafficDistribution: dailyTally(
    'region_traffic_bytes',
    'Traffic by region and point of presence',
    'BandwidthUsedChart',
    {
      region: (key) => key.replace(/:.*$/s, '').trim().toUpperCase(),
      pop: (key) => /:(.*)$/s.exec(key)?.[1]?.trim() ?? '',
    },
  ),
  CacheHitRate: gauge(
    'cache_hit_ratio',
    'Share of requests served from the cache in the UTC day so far, from 0 to 1 (%s, divided by 100)',
    percentage,
  ),
  OriginResponseTimeChart: hours,
  CacheHitRateChart: hours,
  TotalRequestsServed: sum,
  TotalBandwidthUsed: sum,
  TotalOriginTraffic: sum,
}).ignoring('AverageOriginResponseTime UserBalanceHistoryChart{*}');
type Statistics = ValueOf<typeof statistics>;

function cachedRequests({ RequestsServedChart: served, PullRequestsPulledChart: pulled }: Statistics) {
  const missed = new Map(sumByDay(pulled ?? []).map(({ startSeconds, value }) => [startSeconds, value]));
  const days =
    served &&
    sumByDay(served).flatMap((day) => {
      const uncached = missed.get(day.startSeconds);
      return uncached === undefined ? [] : [{ ...day, value: Math.max(0, day.value - uncached) }];
    });
  return days && [{ days }];
}

/** The start of the newest hour that has ended and had requests: one without any has no ratio and no time. */
function newestHour({ RequestsServedChart = [] }: Statistics): number | undefined {
  const requested: (number | undefined)[] = [];
  for (const { atSeconds, hasEnded, value } of RequestsServedChart)
    if (hasEnded && value > 0) requested.push(atSeconds);
  return highestOf(requested);
}

/** What a chart has at that hour. */
function atNewestHour(chart: readonly Hour[] | undefined, statistics: Statistics): number | undefined {
  const newest = newestHour(statistics);
  return newest === undefined ? undefined : chart?.find(({ atSeconds }) => atSeconds === newest)?.value;
}

/**
 * The mean of the hours in which the origin had requests, weighted by them. The API's own AverageOriginResponseTime is the plain mean
 * of all hours, in which those without requests and those to come are 0.
 */
const originResponseTime: FamilyOf<Statistics> = {
  name: 'origin_response_time_seconds',
  words:
    'Mean response time of the origin so far in the newest UTC day, over the hours in which it had requests, weighted by these (%s, the first divided by 1000)',
  fields: ['OriginResponseTimeChart', 'PullRequestsPulledChart'],
  series({ OriginResponseTimeChart: times = [], PullRequestsPulledChart: pulled = [] }) {
    const day = newestOf(pulled);
    const timeOf = ({ atSeconds, startSeconds }: Hour) => atSeconds ?? startSeconds;
    const requests = new Map(pulled.map((hour) => [timeOf(hour), hour.value]));
    let [sum, weights] = [0, 0];
    for (const hour of times) {
      const { startSeconds, value } = hour;
      const weight = requests.get(timeOf(hour)) ?? 0;
      // 0 is written where the origin had no request.
      if (startSeconds !== day || value <= 0 || weight <= 0) continue;
      sum += value * weight;
      weights += weight;
    }
    return weights > 0 ? divided(sum / weights, 1000) : undefined;
  },
};

const inNewestHour = 'in the newest hour that has ended and had requests';

const ofNewestHour: readonly FamilyOf<Statistics>[] = [
  {
    name: 'cache_hit_ratio_latest_hour',
    words: `Share of requests served from the cache ${inNewestHour}, from 0 to 1 (%s, divided by 100)`,
    fields: ['CacheHitRateChart'],
    series(statistics) {
      const percent = atNewestHour(statistics.CacheHitRateChart, statistics);
      return percent === undefined ? undefined : divided(percent, 100);
    },
  },
  {
    name: 'origin_response_time_latest_hour_seconds',
    words: `Response time of the origin ${inNewestHour}; no series while the origin answered nothing in it (%s, divided by 1000)`,
    fields: ['OriginResponseTimeChart'],
    series(statistics) {
      // 0 is written where the origin had no request.
      const milliseconds = atNewestHour(statistics.OriginResponseTimeChart, statistics);
      return milliseconds ? divided(milliseconds, 1000) : undefined;
    },
  },
  {
    name: 'statistics_latest_hour_timestamp_seconds',
    words: 'Start of the newest hour that has ended and had requests, as Unix time (a key of the %s)',
    fields: ['RequestsServedChart'],
    series: newestHour,
  },
];

/** No counter: while one chart lags the other the figure is too high, which a counter could not take back. */
const cached: FamilyOf<Statistics> = {
  name: 'cached_requests_latest_day',
  words:
    'Requests served from the cache (the first field minus the second) so far in the newest UTC day; resets at midnight',
  fields: ['RequestsServedChart', 'PullRequestsPulledChart'],
  series: cachedRequests,
};

/** The API leaves out what these do not ask for. */
const loaded = [
  'loadErrors',
  'loadOriginResponseTimes',
  'loadOriginTraffic',
  'loadRequestsServed',
  'loadBandwidthUsed',
  'loadOriginShieldBandwidth',
  'loadGeographicTrafficDistribution',
].map((name) => `&${name}=true`);

export const pullZoneStatistics = defineResource({
  kind: 'pull_zone_statistics',
  familyPrefix: 'bunnynet_pull_zone',
  noun: 'pull zone statistics',
  defaultIntervalSeconds: 300,
  listing: pullZones,
  path: `/statistics?pullZone={pullZoneId}${loaded.join('')}`,
  query: eachDayByHours,
  answer: statistics,
  families: (own) => [
    ...own.slice(0, 2),
    cached,
    ...own.slice(2),
    originResponseTime,
    ...ofNewestHour,
    { ...newestDay(statistics), name: 'statistics_latest_day_timestamp_seconds' },
  ],
});
