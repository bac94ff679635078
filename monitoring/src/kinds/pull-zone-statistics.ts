/** What pull zones serve: requests, bandwidth, cache, origin, errors. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, numbers } from '../panels.ts';
import { all, type Figure, highest, perSecond, seriesOf, values } from '../promql.ts';
import { ranked, rankedBy, rankedNow } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { cdnDashboard, pullZone, toPullZone } from './pull-zone.ts';

const every = all(pullZone);

const family = (name: string): string => `bunnynet_pull_zone_statistics_${name}`;
const figure = (name: string): string => values(pullZone, family(name));
const rate = (name: string, by: readonly string[] = []): string =>
  perSecond(pullZone, family(`${name}_total`), { by });

const requests: Figure = { metric: family('requests_total'), as: 'rate' };
/** The share of the requests of half an hour that were answered with a status of 500 to 599. */
const serverErrors: Figure = { metric: 'bunnynet:pull_zone_server_errors:ratio30m' };

const requestParts = [
  [rate('requests'), 'all'],
  [`(${rate('requests')} - ${rate('uncached_requests')})`, 'from the cache'],
  [rate('uncached_requests'), 'from the origin'],
] as const;

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
            'The API gives the average of the day so far: it is slow to rise in the evening, and to fall. Silent for the first day.',
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
            'The origin of pull zone {{ $labels.pull_zone_id }} has taken {{ $value | humanizeDuration }} to respond on average today: more than [[seconds]] s, and more than [[ratio]] times as long as in the day before.',
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
        queries: requestParts.map(([expr, legend]) => ({ expr: `sum(${expr})`, legend })),
      }),
      lines({
        title: 'Responses that are no success',
        description:
          'Responses a second with a status of 300 to 399, 400 to 499 and 500 to 599, of the selected pull zones together, averaged over half an hour (API fields Error3xxChart, Error4xxChart, Error5xxChart).',
        unit: 'reqps',
        span: 12,
        queries: [{ expr: `sum by (code) (${rate('responses', ['code'])})`, legend: '{{code}}' }],
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
        queries: bandwidthParts.map(([name, legend]) => ({ expr: `sum(${rate(name)})`, legend })),
      }),
      rankedBy('region', rate('region_traffic_bytes', ['region']), {
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
        span: 10,
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
            'Average of the UTC day so far; begins anew at midnight (API field AverageOriginResponseTime).',
          unit: 's',
          span: 10,
          alerts: ['BunnynetPullZoneOriginSlow'],
        },
      ),
      numbers({
        title: 'Age of the statistics',
        description:
          'Time since the newest UTC day of the figures began; more than a day means that the API has reported no new day (newest key of API field RequestsServedChart and the other charts).',
        unit: 's',
        span: 4,
        height: 8,
        steps: ['green', [172800, 'orange']],
        queries: [{ expr: `time() - min(${figure('latest_day_timestamp_seconds')})`, legend: 'oldest' }],
        nothing: 'none',
        link: linkTo('bunnynet-exporter', 'Open the exporter'),
      }),
    ]),
  ];
}

export const pullZoneStatisticsMonitoring: KindMonitoring = { kind: 'pull_zone_statistics', panels, rules };
