/** What the protections of a zone do: events, requests by action, and what is billed. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines, newestDay } from '../panels.ts';
import { anywhere, hourly, share, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { grid } from '../tables.ts';
import { rowToZone, shieldDashboard, toZone, zone } from './shield-zone.ts';

const family = (name: string): string => `bunnynet_shield_overview_${name}`;
const figure = (name: string, by: readonly string[] = []): string =>
  values(anywhere(zone), family(name), { by });
const inHour = (name: string, by: readonly string[] = []): string =>
  hourly(zone, family(`${name}_total`), { by });

const days = 'overviewPastTwentyEightDays';
const acted = values(zone, family('requests_28d'), { by: ['category', 'action'] });
/** The zones with the most events: those of the protection that counts most. */
const rows = `topk(100, ${values(zone, family('events_28d'))})`;

function panels(): readonly Row[] {
  return [
    row(shieldDashboard, 'Protections', [
      grid({
        title: 'Zones, past 28 days',
        description:
          'At most 100 of the selected zones, those with the most events. Requests that API Guardian inspected and that failed a check of it, and files that were scanned, in the past 28 days, a rolling window that can fall (API fields overview, uploadScanning, apiGuardian); billed requests of this calendar month and the clean requests of the plan (API fields totalBillableRequests, totalCleanRequestsLimit).',
        unit: 'short',
        span: 24,
        entity: zone,
        rows,
        name: 'Zone',
        link: rowToZone,
        columns: [
          { title: 'Events', expr: `sum by (shield_zone_id) (${figure('events_28d', ['category'])})` },
          { title: 'Inspected', expr: figure('inspected_requests_28d') },
          {
            title: 'Failed a check',
            expr: `sum by (shield_zone_id) (${figure('failed_requests_28d', ['check'])})`,
          },
          { title: 'Scanned', expr: figure('scanned_files_28d') },
          { title: 'Billed', expr: figure('monthly_billable_requests') },
          { title: 'In the plan', expr: figure('clean_requests_limit') },
        ],
        sort: { title: 'Events', descending: true },
      }),
      lines({
        title: 'Events in an hour, by protection',
        description: `What each protection counts as its own, of the selected zones together, within an hour (API field ${days}).`,
        unit: 'short',
        span: 12,
        queries: [{ expr: `sum by (category) (${inHour('events', ['category'])})`, legend: '{{category}}' }],
      }),
      lines({
        title: 'Requests in an hour, by protection and action',
        description: `Requests that a protection acted on, of the selected zones together, within an hour (API fields ${days} of each protection).`,
        unit: 'short',
        span: 12,
        queries: [
          {
            expr: `sum by (category, action) (${inHour('requests', ['category', 'action'])})`,
            legend: '{{category}} {{action}}',
          },
        ],
      }),
      bars({
        title: 'Requests in the past 28 days, by protection and action',
        description:
          'Requests that a protection acted on, of the selected zones together, in the past 28 days, a rolling window that can fall (API fields waf, dDoS, ratelimit, botDetection, accessList, uploadScanning, apiGuardian).',
        unit: 'short',
        span: 8,
        queries: [
          { expr: `topk(10, sum by (category, action) (${acted}))`, legend: '{{category}} {{action}}' },
        ],
      }),
      lines({
        title: 'API Guardian and uploads, an hour',
        description:
          'Requests that API Guardian inspected, those that failed a check of it, and uploaded files that were scanned, of the selected zones together, within an hour (API fields apiGuardianOverviewPastTwentyEightDays, uploadScanningOverviewPastTwentyEightDays).',
        unit: 'short',
        span: 8,
        queries: [
          { expr: `sum(${inHour('inspected_requests')})`, legend: 'inspected' },
          {
            expr: `sum by (check) (${inHour('failed_requests', ['check'])})`,
            legend: 'failed {{check}}',
          },
          { expr: `sum(${inHour('scanned_files')})`, legend: 'files scanned' },
        ],
      }),
      rankedNow(10, zone, share(zone, family('monthly_billable_requests'), family('clean_requests_limit')), {
        title: 'Billed requests, of those in the plan',
        description:
          'Requests of this calendar month that are billed, to the clean requests that the plan includes (API fields totalBillableRequests and totalCleanRequestsLimit). The 15 fullest zones; falls back at the end of the month.',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        link: toZone,
        nothing: 'No plan includes any.',
      }),
    ]),
    row(shieldDashboard, 'Readings', [
      newestDay(
        'protections',
        values(zone, family('latest_day_timestamp_seconds')),
        'field overviewPastTwentyEightDays',
      ),
    ]),
  ];
}

export const shieldOverviewMonitoring: KindMonitoring = { kind: 'shield_overview', panels };
