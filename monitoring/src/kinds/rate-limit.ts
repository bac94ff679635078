/** Rate limits: how often they are breached, and how many of the allowed ones exist. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, newestDay } from '../panels.ts';
import { all, anywhere, entityOf, hourly, named, top, usual, values } from '../promql.ts';
import { upToThree } from '../rules.ts';
import { onShieldDashboard, shieldDashboard, zone } from './shield-zone.ts';

export const limit = entityOf({
  ...onShieldDashboard,
  ids: ['shield_zone_id', 'rate_limit_id'],
  info: 'bunnynet_shield_rate_limit_info',
  known: ['bunnynet_shield_rate_limit_breaches_28d'],
});

const family = (name: string): string => `bunnynet_shield_rate_limit_${name}`;
const inHour = (name: string): string => hourly(zone, family(`${name}_total`), ['rate_limit_id']);

export const zoneNames = 'bunnynet:shield_zone_display:zone';
/** Template text: the rate limits that were breached in the past hour and only log that. */
const onlyLogging = upToThree(
  'name',
  'max by (name) (last_over_time(bunnynet_shield_rate_limit_info{%s}[3m:1m]) and on (job, instance, rate_limit_id) last_over_time(bunnynet_shield_rate_limit_action{status="log"}[3m:1m]) == 1 and on (job, instance, rate_limit_id) increase(bunnynet_shield_rate_limit_breaches_total[1h]) > 0)',
  ['shield_zone_id'],
  'none',
);

const growth = 'bunnynet:shield_rate_limit_breaches:growth1h';

const today = values(all(zone), family('breaches_latest_day'), ['rate_limit_id']);
const counted = values(zone, family('breaches_28d'), ['rate_limit_id']);
const allowed = values(anywhere(zone), 'bunnynet_shield_zone_rate_limit_rules_limit');

/** The rate limits with the most breaches in the past 28 days. */
function busiest(title: string, figure: string, apiField: string) {
  const names = `* on (shield_zone_id) group_left (zone) ${zoneNames}`;
  return bars(title, 'short', 12, {
    description: `Breaches of a rate limit in the past 28 days, a rolling window that can fall (API field overview, ${apiField}).`,
    height: 10,
    queries: {
      '{{display}} of {{zone}}': `${named(limit, `topk(10, ${values(limit, family(figure))})`)} ${names}`,
    },
    link: zone.link,
  });
}

export const rateLimit: KindMonitoring = {
  kind: 'rate_limit',
  rules: {
    about: 'Rate limits: how often they are breached.',
    reading: family('latest_day_timestamp_seconds'),
    ids: ['shield_zone_id'],
    names: limit,
    subject: zone,
    records: [
      {
        record: zoneNames,
        forDashboards: true,
        comment: 'For the dashboards: the name of a zone, beside that of its rate limit.',
        expr: 'label_replace(bunnynet:shield_zone_display, "zone", "$1", "display", "(.+)")',
      },
      {
        record: growth,
        comment:
          'Of rate limits that had a reading at the beginning of the hour: after an outage, the counters gain all that they missed at once.',
        expr: `
          sum by (shield_zone_id) (
            max by (shield_zone_id, rate_limit_id) (
              increase(bunnynet_shield_rate_limit_breaches_total[1h])
              and last_over_time(bunnynet_shield_rate_limit_latest_day_timestamp_seconds[3m:1m])
              and last_over_time(bunnynet_shield_rate_limit_latest_day_timestamp_seconds[3m:1m] offset 1h)
            )
          )`,
      },
    ],
    alerts: {
      BunnynetShieldRateLimitBreachesRising: {
        expr: `
          ${growth}
          > [[breaches]] + [[ratio]] * ${usual(growth)}`,
        thresholds: { ratio: 3, breaches: 100 },
        for: '10m',
        keepFiringFor: '15m',
        summary: 'Rate limits of zone {{ or $name $labels.shield_zone_id }} are breached far more than usual',
        description: `Breaches of the rate limits of zone {{ $labels.shield_zone_id }} in the past hour: {{ $value | printf "%.0f" }}, more than [[ratio]] × the hourly average of the past day plus [[breaches]]. Of what is breached, these only log, and stop nothing: ${onlyLogging}.`,
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Shield', [
      bars('Rate limit breaches today (top 10)', 'short', 8, {
        description:
          'Breaches of all rate limits of a zone in the newest UTC day, which starts from 0 at midnight (API field ratelimitOverviewPastTwentyEightDays, totalBreaches of its newest day).',
        queries: top(10, zone, `sum by (shield_zone_id) (${today})`),
        link: zone.link,
        nothing: 'No zone has a rate limit.',
        alerts: ['BunnynetShieldRateLimitBreachesRising'],
      }),
    ]),
    row(shieldDashboard, 'Zones', [
      bars('Rate limit rules used (top 10)', 'percentunit', 8, {
        description:
          'Share of the allowed rate limits that have metrics (number of ratelimitId in the rate limit metrics, and API field rateLimitRulesLimit). A rate limit that was deleted in the past 28 days may still be counted.',
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        queries: top(10, zone, `count by (shield_zone_id) (${counted}) / (${allowed} > 0)`),
        link: zone.link,
        nothing: 'No zone has a rate limit.',
        alerts: ['BunnynetShieldRateLimitRulesNearLimit'],
      }),
    ]),
    row(shieldDashboard, 'Rate limits', [
      lines('Breaches per hour by action', 'short', 12, {
        description:
          'Breaches within an hour of the rate limits of the selected zones together, measured at each poll (API field ratelimitOverviewPastTwentyEightDays: totalBreaches, loggedBreaches, challengedBreaches, blockedBreaches).',
        queries: {
          all: `sum(${inHour('breaches')})`,
          logged: `sum(${inHour('logged_breaches')})`,
          challenged: `sum(${inHour('challenged_breaches')})`,
          blocked: `sum(${inHour('blocked_breaches')})`,
        },
        alerts: ['BunnynetShieldRateLimitBreachesRising'],
      }),
      bars('Breaches in the past hour by zone (top 10)', 'short', 12, {
        description:
          'Breaches of all rate limits of a zone together (API field ratelimitOverviewPastTwentyEightDays, totalBreaches).',
        queries: top(10, zone, `sum by (shield_zone_id) (${inHour('breaches')})`),
        link: zone.link,
        alerts: ['BunnynetShieldRateLimitBreachesRising'],
      }),
      busiest('Breaches in the past 28 days by rate limit (top 10)', 'breaches_28d', 'totalBreaches'),
      busiest(
        'Blocked breaches in the past 28 days by rate limit (top 10)',
        'blocked_breaches_28d',
        'blockedBreaches',
      ),
    ]),
    row(shieldDashboard, 'Readings', [
      newestDay(
        'rate limits',
        values(zone, family('latest_day_timestamp_seconds')),
        'field ratelimitOverviewPastTwentyEightDays',
      ),
    ]),
  ],
};
