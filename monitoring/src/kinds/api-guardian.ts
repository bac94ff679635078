/** API Guardian: the requests that it inspects, blocks, logs and rate-limits. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, newestDay } from '../panels.ts';
import { all, anywhere, entityOf, hourly, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { grid } from '../tables.ts';
import { rowToZone, shieldDashboard, toZone, zone } from './shield-zone.ts';

const endpoint = entityOf({
  ids: ['shield_zone_id', 'endpoint_id'],
  info: 'bunnynet_shield_api_guardian_info',
  selection: ['shield_zone_id=~"$zone"'],
});

const family = (name: string): string => `bunnynet_shield_api_guardian_${name}`;
const guardian = (name: string): string => values(endpoint, family(name));

const figures = [
  ['inspected_requests', 'inspected', 'RequestsInspected'],
  ['blocked_requests', 'blocked', 'BlockedRequests'],
  ['logged_requests', 'logged', 'LoggedRequests'],
  ['rate_limited_requests', 'rate-limited', 'RateLimited'],
  ['failed_validation_requests', 'failed validation', 'FailedRequestValidation'],
  ['failed_authentication_requests', 'failed authentication', 'FailedAuthenticationEnforcement'],
] as const;

const readable = presence(
  'shield_api_guardian',
  ['shield_zone_id', 'endpoint_id'],
  'bunnynet_shield_api_guardian_up',
  'bunnynet_shield_api_guardian_latest_day_timestamp_seconds',
);

const rules: Rules = {
  about: 'API Guardian: requests that it turns away.',
  groups: [
    {
      name: 'bunnynet-shield-api-guardian',
      interval: '2m',
      rules: [
        ...readable.records,
        displayRecord(endpoint),
        {
          record: 'bunnynet:shield_api_guardian_blocked_requests:growth1h',
          comment: `
          What was blocked in an hour at whose beginning there was a reading: after an outage the counters gain at once what the
          outage had.`,
          expr: `
          max by (shield_zone_id, endpoint_id) (
            increase(bunnynet_shield_api_guardian_blocked_requests_total[1h])
            and last_over_time(bunnynet_shield_api_guardian_latest_day_timestamp_seconds[3m])
            and last_over_time(bunnynet_shield_api_guardian_latest_day_timestamp_seconds[3m] offset 1h)
          )`,
        },
        {
          record: 'bunnynet:shield_api_guardian_rate_limited_requests:growth1h',
          expr: `
          max by (shield_zone_id, endpoint_id) (
            increase(bunnynet_shield_api_guardian_rate_limited_requests_total[1h])
            and last_over_time(bunnynet_shield_api_guardian_latest_day_timestamp_seconds[3m])
            and last_over_time(bunnynet_shield_api_guardian_latest_day_timestamp_seconds[3m] offset 1h)
          )`,
        },
        {
          alert: 'BunnynetShieldBlockedRequestsRising',
          comment: 'Silent for the first day, when it is not known what is usual.',
          expr: `
          bunnynet:shield_api_guardian_blocked_requests:growth1h
          > [[requests]] + [[ratio]] * (avg_over_time(bunnynet:shield_api_guardian_blocked_requests:growth1h[1d] offset 1h) and last_over_time(bunnynet:shield_api_guardian_blocked_requests:growth1h[2h] offset 22h))`,
          thresholds: { ratio: 3, requests: 100 },
          for: '10m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: endpoint,
          summary:
            'API Guardian is blocking far more than usual at {{ or $name $labels.endpoint_id }} in zone {{ $labels.shield_zone_id }}',
          description:
            'API Guardian has blocked {{ $value | humanize }} requests of endpoint {{ $labels.endpoint_id }} in the past hour, more than [[ratio]] times the hourly average of the past day plus [[requests]].',
        },
        {
          alert: 'BunnynetShieldRateLimitedRequestsRising',
          expr: `
          bunnynet:shield_api_guardian_rate_limited_requests:growth1h
          > [[requests]] + [[ratio]] * (avg_over_time(bunnynet:shield_api_guardian_rate_limited_requests:growth1h[1d] offset 1h) and last_over_time(bunnynet:shield_api_guardian_rate_limited_requests:growth1h[2h] offset 22h))`,
          thresholds: { ratio: 3, requests: 100 },
          for: '10m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: endpoint,
          summary:
            'API Guardian is rate-limiting far more than usual at {{ or $name $labels.endpoint_id }} in zone {{ $labels.shield_zone_id }}',
          description:
            'API Guardian has rate-limited {{ $value | humanize }} requests of endpoint {{ $labels.endpoint_id }} in the past hour, more than [[ratio]] times the hourly average of the past day plus [[requests]].',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  const blockedToday = values(all(zone), family('blocked_requests_latest_day'), { by: ['endpoint_id'] });
  return [
    row(overviewDashboard, 'Shield', [
      rankedNow(10, all(zone), `sum by (shield_zone_id) (${blockedToday})`, {
        title: 'Blocked by API Guardian today: 10 worst zones',
        description:
          'Blocked requests of all endpoints of a zone in the newest UTC day, which starts from 0 at midnight (API field overviewPastTwentyEightDays, blockedRequests of its newest day).',
        unit: 'short',
        span: 8,
        link: toZone,
        nothing: 'No zone has an endpoint.',
        alerts: ['BunnynetShieldBlockedRequestsRising'],
      }),
    ]),
    row(shieldDashboard, 'API Guardian', [
      grid({
        title: 'The 50 endpoints with the most blocked requests, past 28 days',
        description:
          'What API Guardian did in the past 28 days, a rolling window that can fall (API fields totalRequestsInspected, totalBlockedRequests, totalLoggedRequests, totalRateLimited, totalFailedRequestValidation, totalFailedAuthenticationEnforcement).',
        unit: 'short',
        span: 24,
        entity: endpoint,
        rows: `topk(50, ${guardian('blocked_requests_28d')})`,
        name: 'Endpoint',
        link: rowToZone,
        columns: figures.map(([figure, words]) => ({
          title: words.charAt(0).toUpperCase() + words.slice(1),
          expr: values(anywhere(endpoint), family(`${figure}_28d`)),
        })),
        sort: { title: 'Blocked', descending: true },
        alerts: ['BunnynetShieldBlockedRequestsRising', 'BunnynetShieldRateLimitedRequestsRising'],
      }),
      lines({
        title: 'Selected endpoints, an hour',
        description:
          'What API Guardian did within an hour at the endpoints of the selected zones together, measured at each poll (API field overviewPastTwentyEightDays: requestsInspected, blockedRequests, loggedRequests, rateLimited, failedRequestValidation, failedAuthenticationEnforcement).',
        unit: 'short',
        span: 12,
        queries: figures.map(([figure, words]) => ({
          expr: `sum(${hourly(endpoint, family(`${figure}_total`))})`,
          legend: words,
        })),
      }),
      lines({
        title: 'Selected endpoints in the newest day',
        description:
          'Sums over the endpoints of the selected zones, in the newest UTC day, which starts from 0 at midnight (API field overviewPastTwentyEightDays: blockedRequests, loggedRequests, rateLimited, failedRequestValidation, failedAuthenticationEnforcement of its newest day).',
        unit: 'short',
        span: 12,
        queries: figures
          .filter(([figure]) => figure !== 'inspected_requests')
          .map(([figure, words]) => ({ expr: `sum(${guardian(`${figure}_latest_day`)})`, legend: words })),
      }),
      rankedNow(10, endpoint, hourly(endpoint, family('blocked_requests_total')), {
        title: 'Blocked in the past hour: the 10 worst endpoints',
        description: 'Requests that were blocked (API field overviewPastTwentyEightDays, blockedRequests).',
        unit: 'short',
        span: 12,
        link: toZone,
        alerts: ['BunnynetShieldBlockedRequestsRising'],
      }),
      rankedNow(10, endpoint, hourly(endpoint, family('rate_limited_requests_total')), {
        title: 'Rate-limited in the past hour: the 10 worst endpoints',
        description: 'Requests that were rate-limited (API field overviewPastTwentyEightDays, rateLimited).',
        unit: 'short',
        span: 12,
        link: toZone,
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
  ];
}

export const apiGuardianMonitoring: KindMonitoring = { kind: 'api_guardian', panels, rules };
