/** API Guardian: the requests that it inspects, blocks, logs and rate-limits. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, newestDay } from '../panels.ts';
import { all, anywhere, entityOf, hourly, top, usual, values } from '../promql.ts';
import type { Recording } from '../rules.ts';
import { grid } from '../tables.ts';
import { onShieldDashboard, shieldDashboard, zone } from './shield-zone.ts';

const endpoint = entityOf({
  ...onShieldDashboard,
  ids: ['shield_zone_id', 'endpoint_id'],
  info: 'bunnynet_shield_api_guardian_info',
});

const family = (name: string): string => `bunnynet_shield_api_guardian_${name}`;
const guardian = (name: string): string => values(endpoint, family(name));
const inHour = (name: string): string => hourly(endpoint, family(`${name}_total`));
const blockedToday = values(all(zone), family('blocked_requests_latest_day'), ['endpoint_id']);

const figures = [
  ['inspected_requests', 'inspected'],
  ['blocked_requests', 'blocked'],
  ['logged_requests', 'logged'],
  ['rate_limited_requests', 'rate-limited'],
  ['failed_validation_requests', 'failed validation'],
  ['failed_authentication_requests', 'failed authentication'],
] as const;

/** What a counter gained in the past hour, for alerts. */
function growth(name: string): Recording {
  return {
    record: `bunnynet:shield_api_guardian_${name}:growth1h`,
    expr: `
      max by (shield_zone_id, endpoint_id) (
        increase(bunnynet_shield_api_guardian_${name}_total[1h])
        and last_over_time(bunnynet_shield_api_guardian_latest_day_timestamp_seconds[3m:1m])
        and last_over_time(bunnynet_shield_api_guardian_latest_day_timestamp_seconds[3m:1m] offset 1h)
      )`,
  };
}

/** Far more than usual in the past hour. */
function rising({ record }: Recording): string {
  return `
    ${record}
    > [[requests]] + [[ratio]] * ${usual(record)}`;
}

const blocked = growth('blocked_requests');
const rateLimited = growth('rate_limited_requests');

export const apiGuardian: KindMonitoring = {
  kind: 'api_guardian',
  rules: {
    about: 'API Guardian: requests that it turns away.',
    reading: family('latest_day_timestamp_seconds'),
    names: endpoint,
    parent: zone,
    records: [
      {
        ...blocked,
        comment: `
          What was blocked in an hour that began with a reading: after an outage, the counters gain all that they missed at once.`,
      },
      rateLimited,
    ],
    alerts: {
      BunnynetShieldBlockedRequestsRising: {
        comment: 'Silent on the first day, when nothing is known about what is usual.',
        expr: rising(blocked),
        thresholds: { ratio: 3, requests: 100 },
        for: '10m',
        keepFiringFor: '15m',
        summary:
          'API Guardian is blocking far more than usual at {{ or $name $labels.endpoint_id }} in zone {{ or $parent $labels.shield_zone_id }}',
        description:
          'Requests of endpoint {{ $labels.endpoint_id }} in zone {{ $labels.shield_zone_id }} that API Guardian has blocked in the past hour: {{ $value | printf "%.0f" }}, more than [[ratio]] × the hourly average of the past day plus [[requests]].',
      },
      BunnynetShieldRateLimitedRequestsRising: {
        expr: rising(rateLimited),
        thresholds: { ratio: 3, requests: 100 },
        for: '10m',
        keepFiringFor: '15m',
        summary:
          'API Guardian is rate-limiting far more than usual at {{ or $name $labels.endpoint_id }} in zone {{ or $parent $labels.shield_zone_id }}',
        description:
          'Requests of endpoint {{ $labels.endpoint_id }} in zone {{ $labels.shield_zone_id }} that API Guardian has rate-limited in the past hour: {{ $value | printf "%.0f" }}, more than [[ratio]] × the hourly average of the past day plus [[requests]].',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Shield', [
      bars('Blocked by API Guardian today (top 10)', 'short', 8, {
        description:
          'Blocked requests of all endpoints of a zone in the newest UTC day, which starts from 0 at midnight (API field overviewPastTwentyEightDays, blockedRequests of its newest day).',
        queries: top(10, zone, `sum by (shield_zone_id) (${blockedToday})`),
        link: zone.link,
        nothing: 'No zone has an endpoint.',
        alerts: ['BunnynetShieldBlockedRequestsRising'],
      }),
    ]),
    row(shieldDashboard, 'API Guardian', [
      grid('Endpoints by blocked requests in the past 28 days (top 50)', 'short', 24, {
        description:
          'What API Guardian did in the past 28 days, a rolling window that can fall (API fields totalRequestsInspected, totalBlockedRequests, totalLoggedRequests, totalRateLimited, totalFailedRequestValidation, totalFailedAuthenticationEnforcement).',
        entity: endpoint,
        name: 'Endpoint',
        rows: `topk(50, ${guardian('blocked_requests_28d')})`,
        columns: figures.map(([figure, words]) => ({
          title: words.charAt(0).toUpperCase() + words.slice(1),
          expr: values(anywhere(endpoint), family(`${figure}_28d`)),
        })),
        sort: 'Blocked',
        alerts: ['BunnynetShieldBlockedRequestsRising', 'BunnynetShieldRateLimitedRequestsRising'],
      }),
      lines('Requests per hour at the selected endpoints', 'short', 12, {
        description:
          'What API Guardian did within an hour at the endpoints of the selected zones together, measured at each poll (API field overviewPastTwentyEightDays: requestsInspected, blockedRequests, loggedRequests, rateLimited, failedRequestValidation, failedAuthenticationEnforcement).',
        queries: Object.fromEntries(figures.map(([figure, words]) => [words, `sum(${inHour(figure)})`])),
      }),
      lines('Requests today at the selected endpoints', 'short', 12, {
        description:
          'Sums over the endpoints of the selected zones, in the newest UTC day, which starts from 0 at midnight (API field overviewPastTwentyEightDays: blockedRequests, loggedRequests, rateLimited, failedRequestValidation, failedAuthenticationEnforcement of its newest day).',
        queries: Object.fromEntries(
          figures.slice(1).map(([figure, words]) => [words, `sum(${guardian(`${figure}_latest_day`)})`]),
        ),
      }),
      bars('Blocked in the past hour by endpoint (top 10)', 'short', 12, {
        description: 'Requests that were blocked (API field overviewPastTwentyEightDays, blockedRequests).',
        queries: top(10, endpoint, inHour('blocked_requests')),
        link: zone.link,
        alerts: ['BunnynetShieldBlockedRequestsRising'],
      }),
      bars('Rate-limited in the past hour by endpoint (top 10)', 'short', 12, {
        description: 'Requests that were rate-limited (API field overviewPastTwentyEightDays, rateLimited).',
        queries: top(10, endpoint, inHour('rate_limited_requests')),
        link: zone.link,
        alerts: ['BunnynetShieldRateLimitedRequestsRising'],
      }),
    ]),
    row(shieldDashboard, 'Readings', [
      newestDay(
        'API Guardian',
        guardian('latest_day_timestamp_seconds'),
        'field overviewPastTwentyEightDays',
      ),
    ]),
  ],
};
