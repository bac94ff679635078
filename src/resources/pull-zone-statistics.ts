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
  // `EU: Frankfurt, DE` is a point of presence of a region.
  GeoTrafficDistribution: dailyTally(
    'region_traffic_bytes',
    'Traffic by the region and the point of presence that served it',
    {
      region: (key) => key.replace(/:.*$/s, '').trim().toUpperCase(),
      pop: (key) => /:(.*)$/s.exec(key)?.[1]?.trim() ?? '',
    },
  ),
  CacheHitRate: gauge(
    'cache_hit_ratio',
    percentage,
    'Share of the requests of the UTC day so far that the cache served, from 0 to 1 (%s, divided by 100)',
  ),
  AverageOriginResponseTime: gauge(
    'origin_response_time_seconds',
    milliseconds,
    'Median response time of the origin in the UTC day so far (%s, which is the median, divided by 1000)',
  ),
};

const statistics = object(
  { ...requests, ...others },
  'TotalBandwidthUsed',
  'TotalOriginTraffic',
  'OriginResponseTimeChart',
  'TotalRequestsServed',
  'CacheHitRateChart',
  'UserBalanceHistoryChart',
);
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

const read = readDays(
  statistics,
  ({ pull_zone_id }, days) => `/statistics?pullZone=${pull_zone_id}&${days}${loaded}`,
);

export const pullZoneStatistics = defineResource<Statistics>({
  kind: 'pull_zone_statistics',
  product: 'CDN',
  reference: 'GET /statistics',
  noun: 'statistics of the pull zone',
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
  async read(...asked) {
    const reading = await read(...asked);
    return { ...reading, GeoTrafficDistribution: trustedTraffic(reading) };
  },
});

/** Less that of days whose regions sum to more than their bandwidth: it is of other days, too. */
function trustedTraffic({ GeoTrafficDistribution: traffic, BandwidthUsedChart: bandwidth = [] }: Statistics) {
  const trusted = traffic?.filter((one) => {
    const ofDay = traffic.filter(({ startSeconds }) => startSeconds === one.startSeconds);
    const used = bandwidth.find(({ startSeconds }) => startSeconds === one.startSeconds)?.value;
    return used === undefined || ofDay.reduce((sum, { value }) => sum + value, 0) <= used;
  });
  return trusted?.length ? trusted : undefined;
}
