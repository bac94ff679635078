/** What applications run: instances, load, and each region of them. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { lines } from '../panels.ts';
import { all, anywhere, highest, seriesOf, values } from '../promql.ts';
import { ranked, rankedNow } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { grid } from '../tables.ts';
import {
  application,
  applicationDashboard,
  rowToApplication,
  statusColors,
  toApplication,
} from './application.ts';

const family = (name: string): string => `bunnynet_application_overview_${name}`;
const inRegions = (name: string, by: readonly string[] = []): string =>
  values(application, family(`region_${name}`), { by: ['region', ...by] });
const every = all(application);

const load = [
  ['cpu_usage_ratio', 'CPU', 'averageCPU'],
  ['memory_usage_ratio', 'Memory', 'averageRAM'],
  ['volume_usage_ratio', 'Volumes', 'averageVolumesUsage'],
] as const;

/** A region of an application; the application's name stands for it, beside the region's own. */
const region = {
  ...application,
  ids: ['app_id', 'region'],
};
const inRow = (name: string): string => values(anywhere(region), family(`region_${name}`));

const readable = presence(
  'application_overview',
  ['app_id'],
  'bunnynet_application_overview_up',
  'bunnynet_application_overview_desired_instances',
);

/** The status of applications that have no instances and lack none. */
const stopped = 'bunnynet_application_status{status=~"inactive|suspended"}';

const rules: Rules = {
  about: 'What applications run.',
  groups: [
    {
      name: 'bunnynet-application-overview',
      interval: '1m',
      rules: [
        ...readable.records,
        {
          alert: 'BunnynetApplicationInstancesMissing',
          comment: 'What is inactive lacks nothing, and a suspended application has an alert of its own.',
          expr: `
          max by (app_id) (last_over_time(bunnynet_application_overview_desired_instances[3m]))
          - max by (app_id) (last_over_time(bunnynet_application_overview_active_instances[3m]))
          > [[instances]]
          unless on (app_id) max by (app_id) (last_over_time(${stopped}[3m])) == 1`,
          thresholds: { instances: 0 },
          for: '15m',
          keepFiringFor: '15m',
          severity: 'warning',
          held: readable,
          named: application,
          summary: 'Application {{ or $name $labels.app_id }} has fewer instances than it should',
          description:
            'For [[for]] application {{ $labels.app_id }} has had fewer active instances than desired; {{ $value }} are missing.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  const instances = (name: string) => ({ metric: family(`${name}_instances`) });
  const missing = highest(
    every,
    `${seriesOf(every, family('desired_instances'))} - ${family('active_instances')} > 0 unless on (app_id) ${stopped} == 1`,
  );
  return [
    row(overviewDashboard, 'Applications', [
      rankedNow(15, every, missing, {
        title: 'Instances missing',
        description:
          'Desired less active instances, of the 15 applications that lack the most; none that is inactive or suspended (API fields desiredInstances, activeInstances and status). An alert fires when some are missing for a quarter of an hour.',
        unit: 'short',
        span: 24,
        steps: ['orange'],
        link: toApplication,
        nothing: 'No application lacks an instance.',
        alerts: ['BunnynetApplicationInstancesMissing'],
      }),
    ]),
    row(applicationDashboard, 'Instances', [
      ranked(15, application, instances('desired'), {
        title: 'Instances desired',
        description: 'Of the 15 applications with the most (API field desiredInstances).',
        unit: 'short',
        span: 8,
      }),
      ranked(15, application, instances('active'), {
        title: 'Instances active',
        description: 'Of the 15 applications with the most (API field activeInstances).',
        unit: 'short',
        span: 8,
        alerts: ['BunnynetApplicationInstancesMissing'],
      }),
      ranked(
        15,
        application,
        { metric: family('active_regions') },
        {
          title: 'Regions',
          description: 'Active regions, of the 15 applications with the most (API field activeRegions).',
          unit: 'short',
          span: 8,
        },
      ),
      ...load.map(([name, title, apiField]) =>
        rankedNow(10, application, values(application, family(name)), {
          title: `${title}: the 10 fullest`,
          description: `Average use over the application, as the API reports it; it documents no window (API field ${apiField}).`,
          unit: 'percentunit',
          span: 8,
          height: 9,
          steps: ['green', [0.8, 'orange'], [0.95, 'red']],
          link: toApplication,
        }),
      ),
    ]),
    row(applicationDashboard, 'Regions', [
      grid({
        title: 'Regions',
        description:
          'At most 100 regions of the selected applications, those with the most instances (API field regions: instances, averageCPU, averageRAM, averageVolumesUsagePercentage, requests, anycastTraffic, outboundConnectionsRejectedDiff as «Rejected», the highest ephemeralStorageUsageRatio of a pod as «Scratch disk», and numberOfRestarts over all pods; the API documents no window).',
        unit: 'short',
        span: 24,
        entity: region,
        rows: `topk(100, ${values(region, family('region_instances'))})`,
        name: 'Application',
        link: rowToApplication,
        labels: [{ source: 'region', title: 'Region' }],
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
            expr: `sum by (app_id, region) (${values(anywhere(region), family('region_container_restarts'), { by: ['container'] })})`,
            steps: ['text', [1, 'orange']],
          },
          {
            title: 'Rejected',
            expr: inRow('rejected_outbound_connections'),
            steps: ['text', [1, 'orange']],
          },
        ],
        sort: { title: 'Instances', descending: true },
      }),
      rankedNow(10, application, values(application, family('target_latency_seconds')), {
        title: 'Latency aimed at: the 10 highest',
        description: 'What the application aims at (API field targetLatency).',
        unit: 's',
        span: 6,
      }),
      lines({
        title: 'Regions by state',
        description:
          'Regions of the selected applications in each deployment state (API field regions, status).',
        unit: 'short',
        span: 6,
        stacked: true,
        queries: [{ expr: `sum by (status) (${inRegions('status', ['status'])})`, legend: '{{status}}' }],
        colors: statusColors,
      }),
      lines({
        title: 'Pods by state',
        description: 'Pods of the selected applications in each state (API field regions, pods).',
        unit: 'short',
        span: 6,
        stacked: true,
        queries: [{ expr: `sum by (state) (${inRegions('pods', ['state'])})`, legend: '{{state}}' }],
        colors: { ready: 'green', scheduled: 'blue', notScheduled: 'red', deleting: 'gray' },
      }),
      rankedNow(
        10,
        application,
        `sum by (app_id, container) (${inRegions('container_restarts', ['container'])})`,
        {
          title: 'Restarts: the 10 containers with the most',
          description:
            'Restarts of a container over the pods that there are now, all regions together (API field regions, numberOfRestarts).',
          unit: 'short',
          span: 6,
          legend: '{{display}}: {{container}}',
        },
      ),
    ]),
  ];
}

export const applicationOverviewMonitoring: KindMonitoring = {
  kind: 'application_overview',
  panels,
  rules,
};
