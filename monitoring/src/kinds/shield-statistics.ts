/** What Shield did with requests, by protection and action, from counters. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines, newestDay } from '../panels.ts';
import { hourly, values } from '../promql.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

const inHour = (action: string): string =>
  hourly(zone, 'bunnynet_shield_requests_total', ['protection'], [`action="${action}"`]);

export const shieldStatistics: KindMonitoring = {
  kind: 'shield_statistics',
  rows: [
    row(
      shieldDashboard,
      'Requests by protection',
      ['Blocked', 'Challenged', 'Logged'].map((action) =>
        lines(`${action} per hour by protection`, 'short', 8, {
          description: `Requests of the selected zones together with the action ${action.toLowerCase()}, within an hour (API fields waf, ddos, rateLimit, accessLists, botDetection, uploadScanning, apiGuardian).`,
          queries: { '{{protection}}': `sum by (protection) (${inHour(action.toLowerCase())})` },
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
  ],
};
