/** What Shield did with requests, by protection and action, from counters. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines, newestDay } from '../panels.ts';
import { hourly, values } from '../promql.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

const requests = 'bunnynet_shield_requests_total';
const actions = [
  ['Blocked', 'blocked'],
  ['Challenged', 'challenged'],
  ['Logged', 'logged'],
] as const;

function panels(): readonly Row[] {
  return [
    row(
      shieldDashboard,
      'Requests by protection',
      actions.map(([title, action]) =>
        lines({
          title: `${title} in an hour, by protection`,
          description: `Requests of the selected zones together with the action ${action}, within an hour (API fields waf, ddos, rateLimit, accessLists, botDetection, uploadScanning, apiGuardian).`,
          unit: 'short',
          span: 8,
          queries: [
            {
              expr: `sum by (protection) (${hourly(zone, requests, { by: ['protection'], where: [`action="${action}"`] })})`,
              legend: '{{protection}}',
            },
          ],
        }),
      ),
    ),
    row(shieldDashboard, 'Readings', [
      newestDay(
        'requests by protection',
        values(zone, 'bunnynet_shield_requests_latest_day_timestamp_seconds'),
        'fields metrics of each protection',
      ),
    ]),
  ];
}

export const shieldStatisticsMonitoring: KindMonitoring = { kind: 'shield_statistics', panels };
