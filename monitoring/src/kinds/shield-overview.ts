/** What the protections of a zone do: events, requests by action, and what is billed. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines, newestDay } from '../panels.ts';
import { anywhere, hourly, share, top, usual, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

const family = (name: string): string => `bunnynet_shield_overview_${name}`;
const field = (name: string, by: readonly string[] = []): string => values(anywhere(zone), family(name), by);
const inHour = (name: string, by: readonly string[] = []): string =>
  hourly(zone, family(`${name}_total`), by);

const wafEvents = 'bunnynet:shield_waf_events:growth1h';

const acted = values(zone, family('requests_28d'), ['protection', 'action']);

export const shieldOverview: KindMonitoring = {
  kind: 'shield_overview',
  rules: {
    about: 'What the protections of zones do.',
    reading: family('latest_day_timestamp_seconds'),
    subject: zone,
    records: [
      {
        record: wafEvents,
        comment:
          'The WAF events of an hour that began with a reading: after an outage, the counters gain all that they missed at once.',
        expr: `
          max by (shield_zone_id) (
            increase(bunnynet_shield_overview_events_total{protection="waf"}[1h])
            and on (job, instance, shield_zone_id) last_over_time(bunnynet_shield_overview_latest_day_timestamp_seconds[3m:1m])
            and on (job, instance, shield_zone_id) last_over_time(bunnynet_shield_overview_latest_day_timestamp_seconds[3m:1m] offset 1h)
          )`,
      },
    ],
    alerts: {
      BunnynetShieldWafEventsRising: {
        comment: 'Silent on the first day, when nothing is known about what is usual.',
        expr: `
          ${wafEvents}
          > [[events]] + [[ratio]] * ${usual(wafEvents)}`,
        thresholds: { ratio: 10, events: 1000 },
        for: '10m',
        keepFiringFor: '15m',
        severity: 'info',
        summary:
          'Far more requests than usual trigger the firewall of zone {{ or $name $labels.shield_zone_id }}',
        description:
          'Events of the web application firewall of zone {{ $labels.shield_zone_id }} in the past hour: {{ $value | printf "%.0f" }}, more than [[ratio]] × the hourly average of the past day plus [[events]].',
      },
      BunnynetShieldRequestsUsedUp: {
        comment: 'No limit, or one of 0, is none.',
        expr: `
          max by (shield_zone_id) (last_over_time(bunnynet_shield_overview_monthly_billable_requests[3m:1m]))
          / (max by (shield_zone_id) (last_over_time(bunnynet_shield_overview_clean_requests_limit[3m:1m])) > 0)
          >= [[share]]`,
        thresholds: { share: 1 },
        for: '1h',
        severity: 'info',
        summary: 'Zone {{ or $name $labels.shield_zone_id }} has used up the requests of its plan',
        description:
          'Zone {{ $labels.shield_zone_id }} has used {{ $value | humanizePercentage }} of the clean requests of a month that its plan includes. What comes on top is charged.',
      },
    },
  },
  rows: [
    row(shieldDashboard, 'Protections', [
      grid('Zones in the past 28 days', 'short', 24, {
        description:
          'At most 100 of the selected zones, those with the most events. Requests that API Guardian inspected and that failed a check of it, and files that were scanned, in the past 28 days, a rolling window that can fall (API fields overview, uploadScanning, apiGuardian); billed requests of this calendar month and the clean requests of the plan (API fields totalBillableRequests, totalCleanRequestsLimit).',
        entity: zone,
        // By the protection with the most events.
        rows: `topk(100, ${values(zone, family('events_28d'))})`,
        columns: [
          { title: 'Events', expr: `sum by (shield_zone_id) (${field('events_28d', ['protection'])})` },
          { title: 'Inspected', expr: field('inspected_requests_28d') },
          {
            title: 'Failed a check',
            expr: `sum by (shield_zone_id) (${field('failed_requests_28d', ['check'])})`,
          },
          { title: 'Scanned', expr: field('scanned_files_28d') },
          { title: 'Billed', expr: field('monthly_billable_requests') },
          { title: 'In the plan', expr: field('clean_requests_limit') },
        ],
      }),
      lines('Events per hour by protection', 'short', 12, {
        description:
          'What each protection counts as its own, of the selected zones together, within an hour (API field overviewPastTwentyEightDays).',
        queries: { '{{protection}}': `sum by (protection) (${inHour('events', ['protection'])})` },
        alerts: ['BunnynetShieldWafEventsRising'],
      }),
      lines('Requests per hour by protection and action', 'short', 12, {
        description:
          'Requests that a protection acted on, of the selected zones together, within an hour (API fields overviewPastTwentyEightDays of each protection).',
        queries: {
          '{{protection}} {{action}}': `sum by (protection, action) (${inHour('requests', ['protection', 'action'])})`,
        },
      }),
      bars('Requests in the past 28 days (top 10)', 'short', 8, {
        description:
          'Requests that a protection acted on, of the selected zones together, in the past 28 days, a rolling window that can fall (API fields waf, dDoS, ratelimit, botDetection, accessList, uploadScanning, apiGuardian).',
        queries: { '{{protection}} {{action}}': `topk(10, sum by (protection, action) (${acted}))` },
      }),
      lines('API Guardian and uploads per hour', 'short', 8, {
        description:
          'Requests that API Guardian inspected, those that failed a check of it, and uploaded files that were scanned, of the selected zones together, within an hour (API fields apiGuardianOverviewPastTwentyEightDays, uploadScanningOverviewPastTwentyEightDays).',
        queries: {
          inspected: `sum(${inHour('inspected_requests')})`,
          'failed {{check}}': `sum by (check) (${inHour('failed_requests', ['check'])})`,
          'files scanned': `sum(${inHour('scanned_files')})`,
        },
      }),
      bars('Included requests used (top 10)', 'percentunit', 8, {
        description:
          'Requests of this calendar month that are billed, as a share of the clean requests that the plan includes (API fields totalBillableRequests and totalCleanRequestsLimit). The 10 fullest zones; falls back at the end of the month.',
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        queries: top(
          10,
          zone,
          share(zone, family('monthly_billable_requests'), family('clean_requests_limit')),
        ),
        link: zone.link,
        nothing: 'No plan includes any.',
        alerts: ['BunnynetShieldRequestsUsedUp'],
      }),
    ]),
    row(shieldDashboard, 'Readings', [
      newestDay(
        'protections',
        values(zone, family('latest_day_timestamp_seconds')),
        'field overviewPastTwentyEightDays',
      ),
    ]),
  ],
};
