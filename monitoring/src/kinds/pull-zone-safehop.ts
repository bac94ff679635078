/** SafeHop: requests to the origin that were retried, and those that it saved. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines } from '../panels.ts';
import { hourly, peaks } from '../promql.ts';
import { cdnDashboard, pullZone } from './pull-zone.ts';

const nothing = 'No pull zone has SafeHop.';

export const pullZoneSafehop: KindMonitoring = {
  kind: 'pull_zone_safehop',
  rows: [
    row(cdnDashboard, 'Origin Shield and SafeHop', [
      lines('Retried requests per hour (top 10)', 'short', 6, {
        description: 'Requests within an hour (API field RequestsRetriedChart).',
        queries: peaks(10, pullZone, 'bunnynet_pull_zone_safehop_retried_requests_total', hourly, nothing),
        nothing,
      }),
      lines('Saved requests per hour (top 10)', 'short', 6, {
        description: 'Requests within an hour that succeeded on a retry (API field RequestsSavedChart).',
        queries: peaks(10, pullZone, 'bunnynet_pull_zone_safehop_saved_requests_total', hourly, nothing),
        nothing,
      }),
    ]),
  ],
};
