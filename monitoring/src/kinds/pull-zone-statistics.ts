/** What pull zones serve: requests, bandwidth, cache, origin, errors. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, newestDay } from '../panels.ts';
import { all, type Entity, type Figure, highest, perSecond, seriesOf, values } from '../promql.ts';
import { ranked, rankedBy, rankedNow } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { cdnDashboard, pullZone, toPullZone } from './pull-zone.ts';

const every = all(pullZone);

const family = (name: string): string => `bunnynet_pull_zone_statistics_${name}`;
const figure = (name: string): string => values(pullZone, family(name));
const rate = (zones: Entity, name: string, by: readonly string[] = []): string =>
  perSecond(zones, family(`${name}_total`), { by });

const requests: Figure = { metric: family('requests_total'), as: 'rate' };
/** The share of the requests of half an hour that were answered with a status of 500 to 599. */
const serverErrors: Figure = { metric: 'bunnynet:pull_zone_server_errors:ratio30m' };

/** Requests a second, by who served them. */
const requestsOf = (zones: Entity) => {
  const [all, uncached] = [rate(zones, 'requests'), rate(zones, 'uncached_requests')];
  return [
    { expr: `sum(${all})`, legend: 'all' },
    { expr: `sum((${all} - ${uncached}))`, legend: 'from the cache' },
    { expr: `sum(${uncached})`, legend: 'from the origin' },
  ];
};

const bandwidthParts = [
  ['bandwidth_bytes', 'served'],
  ['cached_bandwidth_bytes', 'from the cache'],
  ['origin_traffic_bytes', 'from the origin'],
  ['origin_shield_bandwidth_bytes', 'Origin Shield'],
  ['origin_shield_internal_bandwidth_bytes', 'within Origin Shield'],
] as const;

const readable = presence(
  'pull_zone_statistics',
  ['pull_zone_id'],
  'bunnynet_pull_zone_statistics_up',
  'bunnynet_pull_zone_statistics_latest_day_timestamp_seconds',
);

const rules: Rules = {
  about: 'What pull zones serve: errors, cache, origin.',
  groups: [
    {
      name: 'bunnynet-pull-zone-statistics',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          record: 'bunnynet:pull_zone_cached_requests:ratio1h',
          comment:
            'The share of the requests of an hour that the cache served, where there were more than a thousand.',
          expr: `
          1
          - max by (pull_zone_id) (increase(bunnynet_pull_zone_statistics_uncached_requests_total[1h]))
          / (max by (pull_zone_id) (increase(bunnynet_pull_zone_statistics_requests_total[1h])) > 1000)`,
        },
        {
          record: 'bunnynet:pull_zone_origin_response_time_seconds:max',
          expr: `max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_statistics_origin_response_time_seconds[3m]))`,
        },
        {
          record: serverErrors.metric,
          forDashboards: true,
          comment:
            'For the dashboards: the share of the requests of half an hour that were answered with a status of 500 to 599.',
          expr: `
          rate(bunnynet_pull_zone_statistics_responses_total{code="5xx"}[30m])
          / ignoring (code) (rate(bunnynet_pull_zone_statistics_requests_total[30m]) > 0)`,
        },
        {
          alert: 'BunnynetPullZoneServerErrors',
          comment: 'Of more than a hundred requests: fewer make no share.',
          expr: `
          max by (pull_zone_id) (increase(bunnynet_pull_zone_statistics_responses_total{code="5xx"}[30m]))
          / (max by (pull_zone_id) (increase(bunnynet_pull_zone_statistics_requests_total[30m])) > [[requests]])
          > [[share]]`,
          thresholds: { share: 0.05, requests: 100 },
          for: '10m',
          keepFiringFor: '15m',
          severity: 'critical',
          held: readable,
          named: pullZone,
          summary: 'Pull zone {{ or $name $labels.pull_zone_id }} answers with server errors',
          description:
            'Pull zone {{ $labels.pull_zone_id }} answered {{ $value | humanizePercentage }} of the requests of half an hour with a status of 500 to 599.',
        },
        {
          alert: 'BunnynetPullZoneHitRatioDrop',
          comment: 'Silent for the first day, when it is not known what is usual.',
          expr: `
          bunnynet:pull_zone_cached_requests:ratio1h
          < (avg_over_time(bunnynet:pull_zone_cached_requests:ratio1h[1d] offset 1h) and last_over_time(bunnynet:pull_zone_cached_requests:ratio1h[2h] offset 22h)) - [[points]] / 100`,
          thresholds: { points: 20 },
          for: '30m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: pullZone,
          summary: 'The cache of pull zone {{ or $name $labels.pull_zone_id }} serves far less than usual',
          description:
            'The cache of pull zone {{ $labels.pull_zone_id }} served {{ $value | humanizePercentage }} of the requests of the past hour, [[points]] percentage points less than on average in the day before.',
        },
        {
          alert: 'BunnynetPullZoneOriginSlow',
          comment:
            'The API gives the median of the day so far: it is slow to rise in the evening, and to fall. Silent for the first day.',
          expr: `
          (bunnynet:pull_zone_origin_response_time_seconds:max > [[seconds]])
          > [[ratio]] * (avg_over_time(bunnynet:pull_zone_origin_response_time_seconds:max[1d] offset 1h) and last_over_time(bunnynet:pull_zone_origin_response_time_seconds:max[2h] offset 22h))`,
          thresholds: { seconds: 0.5, ratio: 2 },
          for: '30m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: pullZone,
          summary: 'The origin of pull zone {{ or $name $labels.pull_zone_id }} is slow',
          description:
            'The median response time of the origin of pull zone {{ $labels.pull_zone_id }} is {{ $value | humanizeDuration }} today: more than [[seconds]] s, and more than [[ratio]] times as long as in the day before.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  const errors = {
    description:
      'Share of the requests of half an hour with a status of 500 to 599 (API fields Error5xxChart and RequestsServedChart). An alert fires above 5 %.',
    unit: 'percentunit',
    steps: ['green', [0.05, 'red']],
    alerts: ['BunnynetPullZoneServerErrors'],
  } as const;
  return [
    row(overviewDashboard, 'Traffic and errors', [
      lines({
        title: 'Requests',
        description:
          'Requests a second to all pull zones, by who served them, averaged over half an hour (API fields RequestsServedChart and PullRequestsPulledChart).',
        unit: 'reqps',
        span: 8,
        queries: requestsOf(every),
      }),
      lines({
        title: 'Traffic',
        description:
          'Bytes a second that all pull zones served, and those of them that came from the origins, averaged over half an hour (API fields BandwidthUsedChart and OriginTrafficChart).',
        unit: 'Bps',
        span: 8,
        queries: [
          { expr: `sum(${rate(every, 'bandwidth_bytes')})`, legend: 'served' },
          { expr: `sum(${rate(every, 'origin_traffic_bytes')})`, legend: 'from origins' },
        ],
      }),
      lines({
        title: 'Errors',
        description:
          'Share of the requests to all pull zones with a status of 400 to 499 and of 500 to 599, averaged over half an hour (API fields Error4xxChart, Error5xxChart and RequestsServedChart).',
        unit: 'percentunit',
        span: 8,
        queries: [
          {
            expr: `sum by (code) (${perSecond(every, family('responses_total'), { by: ['code'], where: ['code!="3xx"'] })}) / on () group_left () sum(${rate(every, 'requests')})`,
            legend: '{{code}}',
          },
        ],
        colors: { '4xx': 'orange', '5xx': 'red' },
        alerts: ['BunnynetPullZoneServerErrors'],
      }),
    ]),
    row(overviewDashboard, 'CDN', [
      ranked(10, every, requests, {
        title: 'Requests: the 10 busiest pull zones',
        description: 'Requests a second, averaged over half an hour (API field RequestsServedChart).',
        unit: 'reqps',
        span: 8,
        link: toPullZone,
      }),
      ranked(10, every, serverErrors, {
        title: 'Server errors: the 10 worst pull zones',
        span: 8,
        link: toPullZone,
        ...errors,
      }),
    ]),
    row(cdnDashboard, 'Requests', [
      ranked(15, pullZone, requests, {
        title: 'Requests: the 15 busiest pull zones',
        description: 'Requests a second, averaged over half an hour (API field RequestsServedChart).',
        unit: 'reqps',
        span: 12,
      }),
      ranked(15, pullZone, serverErrors, {
        title: 'Server errors: the 15 worst pull zones',
        span: 12,
        ...errors,
      }),
      lines({
        title: 'Requests, by who served them',
        description:
          'Requests a second of the selected pull zones together, averaged over half an hour (API fields RequestsServedChart and PullRequestsPulledChart).',
        unit: 'reqps',
        span: 12,
        queries: requestsOf(pullZone),
      }),
      lines({
        title: 'Responses that are no success',
        description:
          'Responses a second with a status of 300 to 399, 400 to 499 and 500 to 599, of the selected pull zones together, averaged over half an hour (API fields Error3xxChart, Error4xxChart, Error5xxChart).',
        unit: 'reqps',
        span: 12,
        queries: [{ expr: `sum by (code) (${rate(pullZone, 'responses', ['code'])})`, legend: '{{code}}' }],
      }),
    ]),
    row(cdnDashboard, 'Bandwidth', [
      ranked(
        15,
        pullZone,
        { metric: family('bandwidth_bytes_total'), as: 'rate' },
        {
          title: 'Bandwidth: the 15 busiest pull zones',
          description: 'Bytes a second, averaged over half an hour (API field BandwidthUsedChart).',
          unit: 'Bps',
          span: 8,
        },
      ),
      lines({
        title: 'Bandwidth, by where it comes from',
        description:
          'Bytes a second of the selected pull zones together, averaged over half an hour (API fields BandwidthUsedChart, BandwidthCachedChart, OriginTrafficChart, OriginShieldBandwidthUsedChart, OriginShieldInternalBandwidthUsedChart).',
        unit: 'Bps',
        span: 8,
        queries: bandwidthParts.map(([name, legend]) => ({ expr: `sum(${rate(pullZone, name)})`, legend })),
      }),
      rankedBy('region', rate(pullZone, 'region_traffic_bytes', ['region']), {
        title: 'Bandwidth now: the 10 busiest regions',
        description:
          'Bytes a second by the region that served them, of the selected pull zones together, averaged over half an hour (API field GeoTrafficDistribution, of which a pull zone counts the 50 largest points of presence; `other` are the rest).',
        unit: 'Bps',
        span: 8,
      }),
    ]),
    row(cdnDashboard, 'Cache and origin', [
      rankedNow(10, pullZone, highest(pullZone, `1 - ${seriesOf(pullZone, family('cache_hit_ratio'))}`), {
        title: 'Not served by the cache: the 10 worst',
        description:
          'Share of the requests of the UTC day so far that went past the cache; begins anew at midnight (1 less API field CacheHitRate).',
        unit: 'percentunit',
        span: 12,
        link: toPullZone,
        alerts: ['BunnynetPullZoneHitRatioDrop'],
      }),
      ranked(
        15,
        pullZone,
        {
          metric: family('origin_response_time_seconds'),
          drawn: 'bunnynet:pull_zone_origin_response_time_seconds:max',
        },
        {
          title: 'Response time of the origin: the 15 slowest',
          description:
            'Median of the UTC day so far; begins anew at midnight (API field AverageOriginResponseTime).',
          unit: 's',
          span: 12,
          alerts: ['BunnynetPullZoneOriginSlow'],
        },
      ),
    ]),
    row(cdnDashboard, 'Readings', [
      newestDay(
        'pull zones',
        figure('latest_day_timestamp_seconds'),
        'field RequestsServedChart and the other charts',
      ),
    ]),
  ];
}

export const pullZoneStatisticsMonitoring: KindMonitoring = { kind: 'pull_zone_statistics', panels, rules };
