/** The traffic of applications. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { newestDay } from '../panels.ts';
import { values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { application, applicationDashboard } from './application.ts';

function panels(): readonly Row[] {
  return [
    row(applicationDashboard, 'Traffic', [
      ranked(
        15,
        application,
        { metric: 'bunnynet_application_traffic_total', as: 'hourly' },
        {
          title: 'Traffic in an hour: the 15 busiest applications',
          description:
            'Traffic within an hour, in the unit of the API, which is not documented (API field trafficChart).',
          unit: 'short',
          span: 24,
        },
      ),
    ]),
    row(applicationDashboard, 'Readings', [
      newestDay(
        'traffic',
        values(application, 'bunnynet_application_traffic_latest_day_timestamp_seconds'),
        'field trafficChart',
      ),
    ]),
  ];
}

export const applicationStatisticsMonitoring: KindMonitoring = { kind: 'application_statistics', panels };
