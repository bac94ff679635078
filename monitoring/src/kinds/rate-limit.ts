/** Rate limits: how often they are breached, and how many of those allowed there are. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, newestDay } from '../panels.ts';
import { all, anywhere, entityOf, hourly, named, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { shieldDashboard, toZone, zone } from './shield-zone.ts';

const limit = entityOf({
  ids: ['shield_zone_id', 'rate_limit_id'],
  info: 'bunnynet_shield_rate_limit_info',
  known: ['bunnynet_shield_rate_limit_breaches_28d'],
  selection: ['shield_zone_id=~"$zone"'],
});

const family = (name: string): string => `bunnynet_shield_rate_limit_${name}`;

const zoneNames = 'bunnynet:shield_zone_display:zone';

const breachFigures = ['breaches', 'logged_breaches', 'challenged_breaches', 'blocked_breaches'] as const;

const readable = presence(
  'shield_rate_limit',
  ['shield_zone_id'],
  'bunnynet_shield_rate_limit_up',
  'bunnynet_shield_rate_limit_latest_day_timestamp_seconds',
);

const rules: Rules = {
  about: 'Rate limits: how often they are breached.',
  groups: [
    {
      name: 'bunnynet-shield-rate-limit',
      interval: '2m',
      rules: [
        ...readable.records,
        displayRecord(limit),
        {
          record: zoneNames,
          forDashboards: true,
          comment: 'For the dashboards: the name of a zone, beside that of its rate limit.',
          expr: 'label_replace(bunnynet:shield_zone_display, "zone", "$1", "display", "(.+)")',
        },
        {
          record: 'bunnynet:shield_rate_limit_breaches:growth1h',
          comment:
            'Of rate limits that had a reading at the beginning of the hour: after an outage the counters gain at once what the outage had.',
          expr: `
          sum by (shield_zone_id) (
            max by (shield_zone_id, rate_limit_id) (
              increase(bunnynet_shield_rate_limit_breaches_total[1h])
              and last_over_time(bunnynet_shield_rate_limit_latest_day_timestamp_seconds[3m])
              and last_over_time(bunnynet_shield_rate_limit_latest_day_timestamp_seconds[3m] offset 1h)
            )
          )`,
        },
        {
          alert: 'BunnynetShieldRateLimitBreachesRising',
          expr: `
          bunnynet:shield_rate_limit_breaches:growth1h
          > [[breaches]] + [[ratio]] * (avg_over_time(bunnynet:shield_rate_limit_breaches:growth1h[1d] offset 1h) and last_over_time(bunnynet:shield_rate_limit_breaches:growth1h[2h] offset 22h))`,
          thresholds: { ratio: 3, breaches: 100 },
          for: '10m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: zone,
          summary:
            'Rate limits of zone {{ or $name $labels.shield_zone_id }} are breached far more than usual',
          description:
            'The rate limits of zone {{ $labels.shield_zone_id }} were breached {{ $value | humanize }} times in the past hour, more than [[ratio]] times the hourly average of the past day plus [[breaches]].',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  const ofZones = { by: ['rate_limit_id'] };
  const counted = values(zone, family('breaches_28d'), ofZones);
  const allowed = values(anywhere(zone), 'bunnynet_shield_zone_rate_limit_rules_limit');
  const today = values(all(zone), family('breaches_latest_day'), ofZones);
  const inHour = hourly(zone, family('breaches_total'), ofZones);
  return [
    row(overviewDashboard, 'Shield', [
      rankedNow(10, all(zone), `sum by (shield_zone_id) (${today})`, {
        title: 'Rate limit breaches today: 10 worst zones',
        description:
          'Breaches of all rate limits of a zone in the newest UTC day, which starts from 0 at midnight (API field ratelimitOverviewPastTwentyEightDays, totalBreaches of its newest day).',
        unit: 'short',
        span: 8,
        link: toZone,
        nothing: 'No zone has a rate limit.',
        alerts: ['BunnynetShieldRateLimitBreachesRising'],
      }),
    ]),
    row(shieldDashboard, 'Zones', [
      rankedNow(10, zone, `count by (shield_zone_id) (${counted}) / (${allowed} > 0)`, {
        title: 'Rate limits, of those allowed: the 10 fullest',
        description:
          'Share of the allowed rate limits that have metrics (number of ratelimitId in the rate limit metrics, and API field rateLimitRulesLimit). A rate limit that was deleted in the past 28 days may still be counted.',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        link: toZone,
        nothing: 'No zone has a rate limit.',
        alerts: ['BunnynetShieldRateLimitsNearLimit'],
      }),
    ]),
    row(shieldDashboard, 'Rate limits', [
      lines({
        title: 'Breaches in an hour, by what was done',
        description:
          'Breaches within an hour of the rate limits of the selected zones together, measured at each poll (API field ratelimitOverviewPastTwentyEightDays: totalBreaches, loggedBreaches, challengedBreaches, blockedBreaches).',
        unit: 'short',
        span: 12,
        queries: breachFigures.map((figure) => ({
          expr: `sum(${hourly(zone, family(`${figure}_total`), ofZones)})`,
          legend: figure === 'breaches' ? 'all' : figure.replace('_breaches', ''),
        })),
        alerts: ['BunnynetShieldRateLimitBreachesRising'],
      }),
      rankedNow(10, zone, `sum by (shield_zone_id) (${inHour})`, {
        title: 'Breaches in the past hour: the 10 worst zones',
        description:
          'Breaches of all rate limits of a zone together (API field ratelimitOverviewPastTwentyEightDays, totalBreaches).',
        unit: 'short',
        span: 12,
        link: toZone,
        alerts: ['BunnynetShieldRateLimitBreachesRising'],
      }),
      ...(
        [
          ['breaches_28d', 'Breaches, past 28 days: the 10 busiest rate limits', 'totalBreaches'],
          ['blocked_breaches_28d', 'Blocked breaches, past 28 days: the 10 busiest', 'blockedBreaches'],
        ] as const
      ).map(([figure, title, apiField]) =>
        bars({
          title,
          description: `Breaches of a rate limit in the past 28 days, a rolling window that can fall (API field overview, ${apiField}).`,
          unit: 'short',
          span: 12,
          height: 10,
          queries: [
            {
              expr: `${named(limit, `topk(10, ${values(limit, family(figure))})`)} * on (shield_zone_id) group_left (zone) ${zoneNames}`,
              legend: '{{display}} of {{zone}}',
            },
          ],
          link: toZone,
        }),
      ),
    ]),
    row(shieldDashboard, 'Readings', [
      newestDay(
        'rate limits',
        values(zone, family('latest_day_timestamp_seconds')),
        'field ratelimitOverviewPastTwentyEightDays',
      ),
    ]),
  ];
}

export const rateLimitMonitoring: KindMonitoring = { kind: 'rate_limit', panels, rules };
