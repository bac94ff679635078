/** The traffic of one pull zone by days (`/statistics?pullZone=…`). Bytes, milliseconds and percentages in the API. */

import { daily, dailyTally, eachDayByInstants, newestDay } from './days.ts';
import { defineResource } from './define.ts';
import { gauge, type Shown } from './families.ts';
import { milliseconds, object, percentage, type ValueOf } from './fields.ts';
import { pullZones } from './pull-zone.ts';

const responses = 'Responses with a status of 300 to 399, 400 to 499 and 500 to 599';

const statistics = object({
  RequestsServedChart: daily('requests', 'Requests served'),
  PullRequestsPulledChart: daily('uncached_requests', 'Requests passed on to the origin'),
  BandwidthUsedChart: daily('bandwidth_bytes', 'Bandwidth used'),
  BandwidthCachedChart: daily('cached_bandwidth_bytes', 'Bandwidth served from the cache'),
  OriginTrafficChart: daily('origin_traffic_bytes', 'Traffic from the origin'),
  OriginShieldBandwidthUsedChart: daily('origin_shield_bandwidth_bytes', 'Bandwidth used by Origin Shield'),
  OriginShieldInternalBandwidthUsedChart: daily(
    'origin_shield_internal_bandwidth_bytes',
    'Internal bandwidth used by Origin Shield',
  ),
  Error3xxChart: daily('responses', responses, { of: { code: '3xx' } }),
  Error4xxChart: daily('responses', responses, { of: { code: '4xx' } }),
  Error5xxChart: daily('responses', responses, { of: { code: '5xx' } }),
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
  AverageOriginResponseTime: gauge(
    'origin_response_time_seconds',
    'Median response time of the origin in the UTC day so far (%s, which is the median despite its name, divided by 1000)',
    milliseconds,
  ),
}).ignoring(`TotalBandwidthUsed TotalOriginTraffic OriginResponseTimeChart{*} TotalRequestsServed CacheHitRateChart{*}
  UserBalanceHistoryChart{*}`);
type Statistics = ValueOf<typeof statistics>;

function cachedRequests({ RequestsServedChart: served, PullRequestsPulledChart: pulled }: Statistics) {
  const days = served?.flatMap(({ startSeconds, value }) => {
    const missed = pulled?.find((day) => day.startSeconds === startSeconds)?.value;
    return missed === undefined ? [] : [{ startSeconds, value: Math.max(0, value - missed) }];
  });
  return days && [{ days }];
}

/** No counter: while one chart lags the other the figure is too high, which a counter could not take back. */
const cached: Shown<Statistics> = {
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
  reference: 'GET /statistics',
  noun: 'statistics of the pull zone',
  defaultIntervalSeconds: 300,
  listing: pullZones,
  path: `/statistics?pullZone={pullZoneId}${loaded.join('')}`,
  query: eachDayByInstants,
  answer: statistics,
  families: (own) => [
    ...own.slice(0, 2),
    cached,
    ...own.slice(2),
    { ...newestDay(statistics), name: 'statistics_latest_day_timestamp_seconds' },
  ],
});
