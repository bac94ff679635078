/** The traffic of applications. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines, newestDay } from '../panels.ts';
import { hourly, peaks, values } from '../promql.ts';
import { application, applicationDashboard } from './application.ts';

const latestDay = values(application, 'bunnynet_application_traffic_latest_day_timestamp_seconds');

export const applicationStatistics: KindMonitoring = {
  kind: 'application_statistics',
  rows: [
    row(applicationDashboard, 'Traffic', [
      lines('Traffic per hour (top 15)', 'short', 24, {
        description:
          'Traffic within an hour, in the unit of the API, which is not documented (API field trafficChart).',
        queries: peaks(15, application, 'bunnynet_application_traffic_total', hourly),
      }),
    ]),
    row(applicationDashboard, 'Readings', [newestDay('traffic', latestDay, 'field trafficChart')]),
  ],
};
