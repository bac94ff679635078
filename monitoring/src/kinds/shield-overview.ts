/** What the protections of a zone do: events, requests by action, and what is billed. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, grid, lines, numbers } from '../panels.ts';
import { hourly, named, values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

const family = (name: string): string => `bunnynet_shield_overview_${name}`;
const figure = (name: string): string => values(zone, family(name));
const inHour = (name: string, by: readonly string[] = []): string =>
  hourly(zone, family(`${name}_total`), { by });

const days = 'overviewPastTwentyEightDays';
const acted = `${values(zone, family('requests_28d'), { by: ['category', 'action'] })}`;
const rows = `topk(100, sum by (shield_zone_id) (${values(zone, family('events_28d'), { by: ['category'] })}))`;

function inRows(expr: string): string {
  return `${expr} and on (shield_zone_id) ${rows}`;
}

const billed = `${figure('monthly_billable_requests')} / (${figure('clean_requests_limit')} > 0)`;

function panels(): readonly Row[] {
  return [
    row(shieldDashboard, 'Protections', [
      grid({
        title: 'Zones, past 28 days',
        description:
          'At most 100 of the selected zones, those with the most events. Past 28 days, a rolling window that can fall (API fields overview, uploadScanning, apiGuardian); billed requests of this calendar month and the clean requests of the plan (API fields totalBillableRequests, totalCleanRequestsLimit).',
        unit: 'short',
        span: 24,
        key: { label: 'shield_zone_id', title: 'Id' },
        labels: [{ label: 'display', title: 'Zone' }],
        columns: [
          { title: 'Events', expr: named(zone, rows) },
          { title: 'Inspected by API Guardian', expr: inRows(figure('inspected_requests_28d')) },
          {
            title: 'Failed a check of it',
            expr: inRows(
              `sum by (shield_zone_id) (${values(zone, family('failed_requests_28d'), { by: ['check'] })})`,
            ),
          },
          { title: 'Files scanned', expr: inRows(figure('scanned_files_28d')) },
          { title: 'Billed this month', expr: inRows(figure('monthly_billable_requests')) },
          { title: 'Clean requests of the plan', expr: inRows(figure('clean_requests_limit')) },
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
        queries: [{ expr: `sum by (category, action) (${acted})`, legend: '{{category}} {{action}}' }],
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
      ranked(15, zone, billed, {
        title: 'Billed requests of the month, of those in the plan: the 15 fullest',
        description:
          'Requests of this calendar month that are billed, to the clean requests that the plan includes (API fields totalBillableRequests and totalCleanRequestsLimit). Falls back at the end of the month.',
        unit: 'percentunit',
        span: 8,
      }),
      numbers({
        title: 'Newest day of the protections’ figures',
        description:
          'Time since the newest UTC day of the figures began; more than a day means that the API has reported no new day (newest key of API field overviewPastTwentyEightDays).',
        unit: 's',
        span: 24,
        steps: ['green', [172800, 'orange']],
        queries: [{ expr: `time() - min(${figure('latest_day_timestamp_seconds')})`, legend: 'oldest' }],
        nothing: 'none',
      }),
    ]),
  ];
}

export const shieldOverviewMonitoring: KindMonitoring = { kind: 'shield_overview', panels };
