/** What applications run: instances, load, and each region of them. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines } from '../panels.ts';
import { all, anywhere, highest, peaks, seriesOf, top, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { application, applicationDashboard, statusColors } from './application.ts';

const every = all(application);
/** A region is shown with its own name and the application's. */
const region = { ...application, ids: ['app_id', 'region'] };

const family = (name: string): string => `bunnynet_application_overview_${name}`;
const inRow = (name: string): string => values(anywhere(region), family(`region_${name}`));
const inRegions = (name: string, by: string): string =>
  values(application, family(`region_${name}`), ['region', by]);

/** The status of applications that have no instances and lack none. */
const stopped = 'bunnynet_application_status{status=~"inactive|suspended"}';
const missing = `${seriesOf(every, family('desired_instances'))} - ${family('active_instances')} > 0 unless on (app_id) ${stopped} == 1`;

const load = [
  ['cpu_usage_ratio', 'CPU', 'averageCPU'],
  ['memory_usage_ratio', 'Memory', 'averageRAM'],
  ['volume_usage_ratio', 'Volumes', 'averageVolumesUsage'],
] as const;

export const applicationOverview: KindMonitoring = {
  kind: 'application_overview',
  rules: {
    about: 'What applications run.',
    reading: family('desired_instances'),
    subject: application,
    interval: '1m',
    alerts: {
      BunnynetApplicationInstancesMissing: {
        comment: 'An inactive application lacks nothing, and a suspended one has an alert of its own.',
        expr: `
          max by (app_id) (last_over_time(bunnynet_application_overview_desired_instances[3m]))
          - max by (app_id) (last_over_time(bunnynet_application_overview_active_instances[3m]))
          > [[instances]]
          unless on (app_id) max by (app_id) (last_over_time(${stopped}[3m])) == 1`,
        thresholds: { instances: 0 },
        for: '15m',
        keepFiringFor: '15m',
        summary: 'Application {{ or $name $labels.app_id }} has fewer instances than it should',
        description:
          'For [[for]] application {{ $labels.app_id }} has had fewer active instances than desired; {{ $value }} are missing.',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Applications', [
      bars('Instances missing', 'short', 24, {
        description:
          'Desired minus active instances, for the 15 applications that lack the most, without those that are inactive or suspended (API fields desiredInstances, activeInstances and status). An alert fires if instances are missing for 15 minutes.',
        steps: ['orange'],
        queries: top(15, every, highest(every, missing)),
        link: application.link,
        nothing: 'No application lacks an instance.',
        alerts: ['BunnynetApplicationInstancesMissing'],
      }),
    ]),
    row(applicationDashboard, 'Instances', [
      lines('Instances desired', 'short', 8, {
        description: 'Of the 15 applications with the most (API field desiredInstances).',
        queries: peaks(15, application, family('desired_instances')),
      }),
      lines('Instances active', 'short', 8, {
        description: 'Of the 15 applications with the most (API field activeInstances).',
        queries: peaks(15, application, family('active_instances')),
        alerts: ['BunnynetApplicationInstancesMissing'],
      }),
      lines('Regions', 'short', 8, {
        description: 'Active regions, of the 15 applications with the most (API field activeRegions).',
        queries: peaks(15, application, family('active_regions')),
      }),
      ...load.map(([name, title, apiField]) =>
        bars(`${title}: the 10 fullest`, 'percentunit', 8, {
          description: `Average use over the application, as the API reports it; it documents no window (API field ${apiField}).`,
          height: 9,
          steps: ['green', [0.8, 'orange'], [0.95, 'red']],
          queries: top(10, application, values(application, family(name))),
          link: application.link,
        }),
      ),
    ]),
    row(applicationDashboard, 'Regions', [
      grid('Regions', 'short', 24, {
        description:
          'At most 100 regions of the selected applications, those with the most instances (API field regions: instances, averageCPU, averageRAM, averageVolumesUsagePercentage, requests, anycastTraffic, outboundConnectionsRejectedDiff as «Rejected», the highest ephemeralStorageUsageRatio of a pod as «Scratch disk», and numberOfRestarts over all pods; the API documents no window).',
        entity: region,
        rows: `topk(100, ${values(region, family('region_instances'))})`,
        labels: { region: 'Region' },
        columns: [
          { title: 'Instances', expr: inRow('instances') },
          { title: 'CPU', expr: inRow('cpu_usage_ratio'), unit: 'percentunit' },
          { title: 'Memory', expr: inRow('memory_usage_ratio'), unit: 'percentunit' },
          { title: 'Volumes', expr: inRow('volume_usage_ratio'), unit: 'percentunit' },
          { title: 'Scratch disk', expr: inRow('ephemeral_storage_usage_ratio'), unit: 'percentunit' },
          { title: 'Requests', expr: inRow('requests') },
          { title: 'Anycast traffic', expr: inRow('anycast_traffic_bytes'), unit: 'decbytes' },
          {
            title: 'Restarts',
            expr: `sum by (app_id, region) (${values(anywhere(region), family('region_container_restarts'), ['container_name'])})`,
            steps: ['text', [1, 'orange']],
          },
          {
            title: 'Rejected',
            expr: inRow('rejected_outbound_connections'),
            steps: ['text', [1, 'orange']],
          },
        ],
      }),
      bars('Target latency: the 10 highest', 's', 6, {
        description: 'The latency that the application aims for (API field targetLatency).',
        queries: top(10, application, values(application, family('target_latency_seconds'))),
      }),
      lines('Regions by state', 'short', 6, {
        description:
          'Regions of the selected applications in each deployment state (API field regions, status).',
        stacked: true,
        queries: { '{{status}}': `sum by (status) (${inRegions('status', 'status')})` },
        colors: statusColors,
      }),
      lines('Pods by state', 'short', 6, {
        description: 'Pods of the selected applications in each state (API field regions, pods).',
        stacked: true,
        queries: { '{{state}}': `sum by (state) (${inRegions('pods', 'state')})` },
        colors: { ready: 'green', scheduled: 'blue', notScheduled: 'red', deleting: 'gray' },
      }),
      bars('Restarts: the 10 containers with the most', 'short', 6, {
        description:
          'Restarts of a container over the pods that there are now, all regions together (API field regions, numberOfRestarts).',
        queries: top(
          10,
          application,
          `sum by (app_id, container_name) (${inRegions('container_restarts', 'container_name')})`,
          '{{display}}: {{container_name}}',
        ),
      }),
    ]),
  ],
};
