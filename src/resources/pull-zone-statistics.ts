/** The traffic of one pull zone by days (`/statistics?pullZone=…`). Bytes, milliseconds and percentages in the API. */
import { daily, dailyTally, newestDay } from './daily.ts';
import { readDays } from './days.ts';
import { familiesOf, gauge, type Shown } from './families.ts';
import { milliseconds, object, percentage, type ValueOf } from './fields.ts';
import { pullZones } from './pull-zone.ts';
import { defineResource } from './resource.ts';

const responses = 'Responses with a status of 300 to 399, 400 to 499 and 500 to 599';

const requests = { RequestsServedChart: daily('requests', 'Requests served') };

const others = {
  PullRequestsPulledChart: daily('uncached_requests', 'Requests that were pulled from the origin'),
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
  GeoTrafficDistribution: dailyTally(
    'region',
    'region_traffic_bytes',
    'Traffic by the region that served it',
  ),
  CacheHitRate: gauge(
    'cache_hit_ratio',
    percentage,
    'Share of the requests of the UTC day so far that the cache served, from 0 to 1 (%s, divided by 100)',
  ),
  AverageOriginResponseTime: gauge(
    'origin_response_time_seconds',
    milliseconds,
    'Average response time of the origin in the UTC day so far (%s, divided by 1000)',
  ),
};

const statistics = object({ ...requests, ...others });
type Statistics = ValueOf<typeof statistics>;

/** The requests of each day that were not pulled from the origin. */
function cachedRequests({ RequestsServedChart: served, PullRequestsPulledChart: pulled }: Statistics) {
  const days = served?.flatMap(({ startSeconds, value }) => {
    const missed = pulled?.find((day) => day.startSeconds === startSeconds)?.value;
    return missed === undefined ? [] : [{ startSeconds, value: Math.max(0, value - missed) }];
  });
  return days && [{ days }];
}

/** No counter: one chart may lag the other, and a counter could not take back what that shows for a moment. */
const cached: Shown<Statistics> = {
  name: 'cached_requests_latest_day',
  words:
    'Requests served from the cache: the second field subtracted from the first, so far in the newest UTC day; falls back at midnight',
  fields: ['RequestsServedChart', 'PullRequestsPulledChart'],
  series: cachedRequests,
};

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

export const pullZoneStatistics = defineResource<Statistics>({
  kind: 'pull_zone_statistics',
  reference: 'GET /statistics',
  noun: "pull zone's statistics",
  defaultIntervalSeconds: 300,
  listing: pullZones,
  fields: statistics.names,
  families: [
    ...familiesOf(object(requests)),
    cached,
    ...familiesOf(object(others)),
    newestDay(
      [
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
      ],
      'API field RequestsServedChart and the other charts',
    ),
  ],
  read: readDays(
    statistics,
    ({ pull_zone_id }, days) => `/statistics?pullZone=${pull_zone_id}&${days}${loaded}`,
  ),
});
