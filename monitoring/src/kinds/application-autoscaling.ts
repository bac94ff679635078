/** Between how many instances applications scale, and which of them can scale no further. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { anywhere, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { application, applicationDashboard } from './application.ts';

const family = (name: string): string => `bunnynet_application_autoscaling_${name}`;
const field = (name: string): string => values(anywhere(application), family(name));
const running = 'bunnynet_application_overview_region_instances';

export const applicationAutoscaling: KindMonitoring = {
  kind: 'application_autoscaling',
  rules: {
    about: 'Autoscaling of applications.',
    reading: family('max_instances'),
    subject: application,
    alerts: {
      BunnynetApplicationAutoscalingAtMaximum: {
        comment: 'An application whose minimum is its maximum does not scale, so it lacks nothing.',
        expr: `
          max by (app_id) (last_over_time(${running}[3m:1m]))
          >= max by (app_id) (last_over_time(bunnynet_application_autoscaling_max_instances[3m:1m]))
          > max by (app_id) (last_over_time(bunnynet_application_autoscaling_min_instances[3m:1m]))`,
        for: '30m',
        keepFiringFor: '30m',
        summary: 'Application {{ or $name $labels.app_id }} cannot scale further',
        description:
          'Application {{ $labels.app_id }} has been at the maximum of its autoscaling for [[for]]. Instances in a region: {{ $value }}.',
      },
    },
  },
  rows: [
    row(applicationDashboard, 'Instances', [
      grid('Autoscaling', 'short', 24, {
        description:
          'At most 100 of the selected applications, those with the most instances in one region: how many these are, and between which numbers autoscaling keeps them in each region (API fields instances of a region, min and max).',
        entity: application,
        rows: `topk(100, ${values(application, running)} and on (app_id) ${family('max_instances')})`,
        columns: [
          { title: 'Instances in busiest region', expr: values(anywhere(application), running) },
          { title: 'Minimum', expr: field('min_instances') },
          { title: 'Maximum', expr: field('max_instances') },
        ],
        alerts: ['BunnynetApplicationAutoscalingAtMaximum'],
      }),
    ]),
  ],
};
