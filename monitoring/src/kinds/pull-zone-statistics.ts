/** What pull zones serve: requests, bandwidth, cache, origin, errors. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { toExporter } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, newestDay, numbers } from '../panels.ts';
import {
  all,
  anywhere,
  type Entity,
  highest,
  peaks,
  perSecond,
  type Queries,
  seriesOf,
  top,
  topBy,
  usual,
  values,
} from '../promql.ts';
import { notReadFor } from '../rules.ts';
import { cdnDashboard, pullZone } from './pull-zone.ts';

const every = all(pullZone);

const family = (name: string): string => `bunnynet_pull_zone_${name}`;
const rate = (zones: Entity, name: string, by: readonly string[] = []): string =>
  perSecond(zones, family(`${name}_total`), by);

const serverErrors = 'bunnynet:pull_zone_server_errors:ratio30m';
const cachedRequests = 'bunnynet:pull_zone_cached_requests:ratio1h';
const originTime = 'bunnynet:pull_zone_origin_response_time_latest_hour_seconds:max';

const errorsIn = (window: string): string =>
  `max by (pull_zone_id) (increase(bunnynet_pull_zone_responses_total{code="5xx"}[${window}]))`;
const requestsIn = (window: string): string =>
  `max by (pull_zone_id) (increase(bunnynet_pull_zone_requests_total[${window}]))`;

const inHour = 'bunnynet:pull_zone_requests:growth1h';
const usualHour = 'bunnynet:pull_zone_requests:usual1h';
const newestHour = 'bunnynet:pull_zone_newest_hour_timestamp_seconds:account';
/** The zones whose statistics are read, and whose they are. */
const zones = 'max by (pull_zone_id, account) (bunnynet:pull_zone_statistics_configured)';
const stopped = `${inHour} < [[share]] * (${usualHour} > [[requests]])`;
const newestDayRead = (when = ''): string =>
  `last_over_time(bunnynet_pull_zone_statistics_latest_day_timestamp_seconds[3m:1m]${when})`;

const errorRate = perSecond(every, family('responses_total'), ['code'], ['code!="3xx"']);
const notCached = `1 - ${seriesOf(pullZone, family('cache_hit_ratio'))}`;

/** Requests a second, by what served them. */
function requestsOf(zones: Entity): Queries {
  const requests = rate(zones, 'requests');
  const uncached = rate(zones, 'uncached_requests');
  return {
    all: `sum(${requests})`,
    'from the cache': `sum(${requests} - ${rate(anywhere(zones), 'uncached_requests')})`,
    'from the origin': `sum(${uncached})`,
  };
}

const errorPanel = {
  description:
    'Share of the requests of half an hour with a status of 500 to 599 (API fields Error5xxChart and RequestsServedChart). An alert fires above 5 %.',
  steps: ['green', [0.05, 'red']],
  alerts: ['BunnynetPullZoneServerErrors'],
} as const;

export const pullZoneStatistics: KindMonitoring = {
  kind: 'pull_zone_statistics',
  rules: {
    about: 'What pull zones serve: errors, cache, origin.',
    reading: family('statistics_latest_day_timestamp_seconds'),
    subject: pullZone,
    records: [
      {
        record: cachedRequests,
        comment:
          'The share of the requests of an hour that the cache served, where there were more than a thousand.',
        expr: `
          1
          - max by (pull_zone_id) (increase(bunnynet_pull_zone_uncached_requests_total[1h]))
          / (max by (pull_zone_id) (increase(bunnynet_pull_zone_requests_total[1h])) > 1000)`,
      },
      {
        record: originTime,
        comment: 'In the newest hour; that of a zone without traffic is soon history.',
        expr: `
          max by (pull_zone_id) (
            last_over_time(bunnynet_pull_zone_origin_response_time_latest_hour_seconds[3m:1m])
            and on (job, instance, pull_zone_id) last_over_time(bunnynet_pull_zone_statistics_latest_hour_timestamp_seconds[3m:1m]) > time() - 14400
          )`,
      },
      {
        record: inHour,
        comment:
          'The requests of an hour that began with a reading, and ends with one: after an outage, the counters gain all that they missed at once.',
        expr: `
          max by (pull_zone_id) (
            increase(bunnynet_pull_zone_requests_total[1h])
            and on (job, instance, pull_zone_id) ${newestDayRead()}
            and on (job, instance, pull_zone_id) ${newestDayRead(' offset 1h')}
            and on (job, instance, pull_zone_id) last_over_time(bunnynet_pull_zone_statistics_up[3m:1m]) == 1
          )`,
      },
      {
        record: usualHour,
        comment: 'The fewer of those a day and a week before, where both are known.',
        expr: `
          ${inHour} offset 1d <= ${inHour} offset 7d
          or ${inHour} offset 7d and ${inHour} offset 1d`,
      },
      {
        record: newestHour,
        comment: 'The newest hour that has ended and had requests of each zone, with its account.',
        expr: `
          max by (pull_zone_id, account) (
            bunnynet:pull_zone_statistics_configured
            * on (job, instance, pull_zone_id) group_left ()
            max by (job, instance, pull_zone_id) (last_over_time(bunnynet_pull_zone_statistics_latest_hour_timestamp_seconds[3m:1m]))
          )`,
      },
      {
        record: serverErrors,
        forDashboards: true,
        comment:
          'For the dashboards: the share of the requests of half an hour that were answered with a status of 500 to 599.',
        expr: `
          rate(bunnynet_pull_zone_responses_total{code="5xx"}[30m])
          / ignoring (code) (rate(bunnynet_pull_zone_requests_total[30m]) > 0)`,
      },
    ],
    alerts: {
      BunnynetPullZoneServerErrors: {
        comment: `
          With more than a hundred requests in half an hour, and while the errors go on: those of a deploy of two minutes are in the past ten
          minutes for a quarter of an hour at most. Where the last reading is older, it counts: of a zone that is read more seldom, one is enough. With fewer requests a small share says little: more than half is a warning.`,
        expr: `
          (
            ${errorsIn('30m')} / (${requestsIn('30m')} > [[requests]]) > [[share]]
            and on (pull_zone_id) (
              ${errorsIn('10m')} / (${requestsIn('10m')} > 0) > [[share]]
              or on (pull_zone_id) ${notReadFor('10m', family('statistics_last_success_timestamp_seconds'), pullZone.ids)}
            )
          )
          or on (pull_zone_id) label_replace(
            ${errorsIn('30m')} / (${requestsIn('30m')} >= [[few]] <= [[requests]]) > [[most]],
            "severity", "warning", "", ""
          )`,
        thresholds: { share: 0.05, requests: 100, most: 0.5, few: 20 },
        for: '15m',
        window: '30m',
        keepFiringFor: '15m',
        severity: '{{ or $labels.severity "critical" }}',
        summary: 'Pull zone {{ or $name $labels.pull_zone_id }} answers with server errors',
        description:
          'Pull zone {{ $labels.pull_zone_id }} answered {{ $value | humanizePercentage }} of the requests of half an hour with a status of 500 to 599.',
      },
      BunnynetPullZoneTrafficStopped: {
        comment: `
          By the newest hour of the API that has ended, which another zone of the account has and this one has not, or in which there is still
          a trickle. An API that gives no newer figures is no stop, and neither is one of all busy zones of an account.`,
        expr: `
          (${stopped})
          and on (pull_zone_id) (${zones} and on (account) max by (account) (${newestHour}) > time() - 14400)
          and on (pull_zone_id) (
            ${inHour} > 0
            or on (pull_zone_id) ${inHour} unless on (pull_zone_id) (${newestHour} >= on (account) group_left () max by (account) (${newestHour}))
          )
          unless on (pull_zone_id) max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_enabled[3m:1m])) == 0
          unless on (pull_zone_id) max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_suspended[3m:1m])) == 1
          unless on (pull_zone_id) (
            ${zones} and on (account) (
              count by (account) (${zones} and on (pull_zone_id) ${usualHour} > [[requests]]) > 1
              == count by (account) (${zones} and on (pull_zone_id) (${stopped}))
            )
          )`,
        thresholds: { share: 0.05, requests: 10_000 },
        for: '20m',
        keepFiringFor: '15m',
        summary: 'Hardly a request reaches pull zone {{ or $name $labels.pull_zone_id }}',
        description: `Requests to pull zone {{ $labels.pull_zone_id }} in the past hour: {{ $value | printf "%.0f" }}, less than {{ humanizePercentage "[[share]]" }} of the same hour a day and a week before, in which there were more than [[requests]]. Other zones of the account have newer figures.`,
      },
      BunnynetPullZoneHitRatioDrop: {
        comment: 'Silent on the first day, when nothing is known about what is usual.',
        expr: `
          ${cachedRequests}
          < ${usual(cachedRequests)} - [[points]] / 100`,
        thresholds: { points: 20 },
        for: '30m',
        keepFiringFor: '15m',
        summary: 'The cache of pull zone {{ or $name $labels.pull_zone_id }} serves far less than usual',
        description:
          'The cache of pull zone {{ $labels.pull_zone_id }} served {{ $value | humanizePercentage }} of the requests of the past hour, less than on average in the day before by more than [[points]]% of all requests.',
      },
      BunnynetPullZoneOriginSlow: {
        comment: 'By the newest hour that has ended. Silent on the first day.',
        expr: `
          (${originTime} > [[seconds]])
          > [[ratio]] * ${usual(originTime)}`,
        thresholds: { seconds: 0.5, ratio: 2 },
        for: '10m',
        keepFiringFor: '15m',
        summary: 'The origin of pull zone {{ or $name $labels.pull_zone_id }} is slow',
        description:
          'The origin of pull zone {{ $labels.pull_zone_id }} took {{ $value | humanizeDuration }} to respond in the past hour: more than [[seconds]] s, and more than [[ratio]] × as long as on average in the day before.',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Traffic and errors', [
      lines('Requests', 'reqps', 8, {
        description:
          'Requests a second to all pull zones, by who served them, averaged over half an hour (API fields RequestsServedChart and PullRequestsPulledChart).',
        queries: requestsOf(every),
      }),
      lines('Traffic', 'Bps', 8, {
        description:
          'Bytes a second that all pull zones served, and those of them that came from the origins, averaged over half an hour (API fields BandwidthUsedChart and OriginTrafficChart).',
        queries: {
          served: `sum(${rate(every, 'bandwidth_bytes')})`,
          'from origins': `sum(${rate(every, 'origin_traffic_bytes')})`,
        },
      }),
      lines('Errors', 'percentunit', 8, {
        description:
          'Share of the requests to all pull zones with a status of 400 to 499 and of 500 to 599, averaged over half an hour (API fields Error4xxChart, Error5xxChart and RequestsServedChart).',
        queries: {
          '{{code}}': `sum by (code) (${errorRate}) / on () group_left () sum(${rate(every, 'requests')})`,
        },
        colors: { '4xx': 'orange', '5xx': 'red' },
        alerts: ['BunnynetPullZoneServerErrors'],
      }),
    ]),
    row(overviewDashboard, 'CDN', [
      lines('Requests by pull zone (top 10)', 'reqps', 8, {
        description: 'Requests a second, averaged over half an hour (API field RequestsServedChart).',
        queries: peaks(10, every, family('requests_total'), perSecond),
        link: pullZone.link,
      }),
      lines('5xx responses by pull zone (top 10)', 'percentunit', 8, {
        ...errorPanel,
        queries: peaks(10, every, serverErrors),
        link: pullZone.link,
      }),
    ]),
    row(cdnDashboard, 'Traffic', [
      lines('Requests (top 15)', 'reqps', 8, {
        description: 'Requests a second, averaged over half an hour (API field RequestsServedChart).',
        queries: peaks(15, pullZone, family('requests_total'), perSecond),
        alerts: ['BunnynetPullZoneTrafficStopped'],
      }),
      lines('Bandwidth (top 15)', 'Bps', 8, {
        description: 'Bytes a second, averaged over half an hour (API field BandwidthUsedChart).',
        queries: peaks(15, pullZone, family('bandwidth_bytes_total'), perSecond),
      }),
      lines('Cache hit ratio (15 busiest)', 'percentunit', 8, {
        description:
          'Share of the requests of the past hour that the cache served, of the pull zones with the most requests; only with more than a thousand in the hour (API fields RequestsServedChart and PullRequestsPulledChart).',
        max: 1,
        queries: peaks(15, pullZone, family('requests_total'), () => cachedRequests),
        alerts: ['BunnynetPullZoneHitRatioDrop'],
      }),
    ]),
    row(cdnDashboard, 'Errors', [
      lines('5xx responses (top 15)', 'percentunit', 12, {
        ...errorPanel,
        queries: peaks(15, pullZone, serverErrors),
      }),
      lines('3xx, 4xx and 5xx responses', 'reqps', 12, {
        description:
          'Responses a second with a status of 300 to 399, 400 to 499 and 500 to 599, of the selected pull zones together, averaged over half an hour (API fields Error3xxChart, Error4xxChart, Error5xxChart).',
        queries: { '{{code}}': `sum by (code) (${rate(pullZone, 'responses', ['code'])})` },
        colors: { '3xx': 'blue', '4xx': 'orange', '5xx': 'red' },
      }),
    ]),
    row(cdnDashboard, 'Cache and origin', [
      lines('Requests by cache and origin', 'reqps', 8, {
        description:
          'Requests a second of the selected pull zones together, averaged over half an hour (API fields RequestsServedChart and PullRequestsPulledChart).',
        queries: requestsOf(pullZone),
      }),
      bars('Cache miss ratio today (top 10)', 'percentunit', 8, {
        description:
          'Share of the requests of the UTC day so far that the cache did not serve; starts again at midnight (1 minus API field CacheHitRate).',
        queries: top(10, pullZone, highest(pullZone, notCached)),
        link: pullZone.link,
        alerts: ['BunnynetPullZoneHitRatioDrop'],
      }),
      lines('Origin response time (top 15)', 's', 8, {
        description:
          'In the newest hour that has ended and had requests (API field OriginResponseTimeChart).',
        queries: peaks(15, pullZone, family('origin_response_time_latest_hour_seconds'), () => originTime),
        alerts: ['BunnynetPullZoneOriginSlow'],
      }),
    ]),
    row(cdnDashboard, 'Bandwidth', [
      lines('Bandwidth by source', 'Bps', 12, {
        description:
          'Bytes a second of the selected pull zones together, averaged over half an hour (API fields BandwidthUsedChart, BandwidthCachedChart, OriginTrafficChart, OriginShieldBandwidthUsedChart, OriginShieldInternalBandwidthUsedChart).',
        queries: {
          served: `sum(${rate(pullZone, 'bandwidth_bytes')})`,
          'from the cache': `sum(${rate(pullZone, 'cached_bandwidth_bytes')})`,
          'from the origin': `sum(${rate(pullZone, 'origin_traffic_bytes')})`,
          'Origin Shield': `sum(${rate(pullZone, 'origin_shield_bandwidth_bytes')})`,
          'within Origin Shield': `sum(${rate(pullZone, 'origin_shield_internal_bandwidth_bytes')})`,
        },
      }),
      bars('Bandwidth by region (top 10)', 'Bps', 12, {
        description:
          'Bytes a second by the region that served them, of the selected pull zones together, averaged over half an hour (API field GeoTrafficDistribution, of which a pull zone counts the 50 largest points of presence; `other` are the rest).',
        queries: topBy('region', rate(pullZone, 'region_traffic_bytes', ['region'])),
      }),
    ]),
    row(cdnDashboard, 'Readings', [
      newestDay(
        'pull zones',
        values(pullZone, family('statistics_latest_day_timestamp_seconds')),
        'field RequestsServedChart and the other charts',
      ),
      numbers('Latest hour: pull zones', 's', 6, {
        description:
          'Time since the newest hour that has ended and had requests, of the pull zone whose hour is newest (newest key of API field RequestsServedChart).',
        steps: ['green', [10_800, 'orange']],
        queries: {
          'latest hour': `min(time() - 3600 - ${values(pullZone, family('statistics_latest_hour_timestamp_seconds'))})`,
        },
        link: toExporter,
      }),
    ]),
  ],
};
