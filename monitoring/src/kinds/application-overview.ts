/** What applications run: instances, load, and each region of them. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, grid, lines } from '../panels.ts';
import { all, named, namedWorst, values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { application, applicationDashboard, toApplication } from './application.ts';

const family = (name: string): string => `bunnynet_application_overview_${name}`;
const figure = (name: string): string => values(application, family(name));
const inRegions = (name: string, by: readonly string[] = []): string =>
  values(application, family(`region_${name}`), { by: ['region', ...by] });

const missing = (entity: typeof application): string =>
  `${values(entity, family('desired_instances'))} - ${values(entity, family('active_instances'))}`;

const load = [
  ['cpu_usage_ratio', 'CPU', 'averageCPU'],
  ['memory_usage_ratio', 'Memory', 'averageRAM'],
  ['volume_usage_ratio', 'Volumes', 'averageVolumesUsage'],
] as const;

/** The rows of the table of regions, with one label that a table can join on. */
const rows = `topk(100, ${inRegions('instances')})`;
const key = '"key", "/", "app_id", "region"';
const inRows = (expr: string): string =>
  `max by (key) (label_join(${expr} and on (app_id, region) ${rows}, ${key}))`;

const readable = presence(
  'application_overview',
  ['app_id'],
  'bunnynet_application_overview_up',
  'bunnynet_application_overview_desired_instances',
);

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
          expr: `
          max by (app_id) (last_over_time(bunnynet_application_overview_desired_instances[3m]))
          - max by (app_id) (last_over_time(bunnynet_application_overview_active_instances[3m]))
          > [[instances]]`,
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
  return [
    row(overviewDashboard, 'Applications', [
      ranked(10, all(application), missing(all(application)), {
        title: 'Instances missing: the 10 worst applications',
        description:
          'Desired less active instances (API fields desiredInstances and activeInstances). An alert fires when some are missing for a quarter of an hour.',
        unit: 'short',
        span: 24,
        height: 6,
        link: toApplication,
      }),
    ]),
    row(applicationDashboard, 'Instances', [
      lines({
        title: 'Instances',
        description:
          'Desired and active instances, of the 15 applications with the most (API fields desiredInstances and activeInstances).',
        unit: 'short',
        span: 8,
        queries: [
          { expr: namedWorst(15, application, figure('desired_instances')), legend: '{{display}} desired' },
          { expr: namedWorst(15, application, figure('active_instances')), legend: '{{display}} active' },
        ],
      }),
      ranked(15, application, figure('active_regions'), {
        title: 'Regions',
        description: 'Active regions, of the 15 applications with the most (API field activeRegions).',
        unit: 'short',
        span: 8,
      }),
      ranked(15, application, figure('target_latency_seconds'), {
        title: 'Latency aimed at',
        description:
          'What the application aims at, of the 15 applications where it is highest (API field targetLatency).',
        unit: 's',
        span: 8,
      }),
      ...load.map(([name, title, apiField]) =>
        ranked(15, application, figure(name), {
          title: `${title}: the 15 fullest`,
          description: `Average use over the application, as the API reports it; it documents no window (API field ${apiField}).`,
          unit: 'percentunit',
          span: 8,
        }),
      ),
    ]),
    row(applicationDashboard, 'Regions', [
      grid({
        title: 'Regions',
        description:
          'At most 100 regions of the selected applications, those with the most instances (API field regions: instances, requests, anycastTraffic, outboundConnectionsRejectedDiff, and numberOfRestarts over all pods; the API documents no window).',
        unit: 'short',
        span: 24,
        key: { label: 'key', title: 'Application / region' },
        columns: [
          { title: 'Instances', expr: inRows(inRegions('instances')) },
          { title: 'Requests', expr: inRows(inRegions('requests')) },
          { title: 'Anycast traffic', expr: inRows(inRegions('anycast_traffic_bytes')), unit: 'decbytes' },
          {
            title: 'Restarts',
            expr: inRows(`sum by (app_id, region) (${inRegions('container_restarts', ['container'])})`),
            steps: ['text', [1, 'orange']],
          },
          {
            title: 'Rejected connections',
            expr: inRows(inRegions('rejected_outbound_connections')),
            steps: ['text', [1, 'orange']],
          },
        ],
        sort: { title: 'Instances', descending: true },
      }),
      lines({
        title: 'Regions by state',
        description:
          'Regions of the selected applications in each deployment state (API field regions, status).',
        unit: 'short',
        span: 8,
        stacked: true,
        queries: [{ expr: `sum by (status) (${inRegions('status', ['status'])})`, legend: '{{status}}' }],
      }),
      lines({
        title: 'Pods by state',
        description: 'Pods of the selected applications in each state (API field regions, pods).',
        unit: 'short',
        span: 8,
        stacked: true,
        queries: [{ expr: `sum by (state) (${inRegions('pods', ['state'])})`, legend: '{{state}}' }],
      }),
      bars({
        title: 'Restarts: the 15 containers with the most',
        description:
          'Restarts of a container over the pods that there are now, all regions together (API field regions, numberOfRestarts).',
        unit: 'short',
        span: 8,
        queries: [
          {
            expr: named(
              application,
              `topk(15, sum by (app_id, container) (${inRegions('container_restarts', ['container'])}))`,
            ),
            legend: '{{display}}: {{container}}',
          },
        ],
      }),
    ]),
  ];
}

export const applicationOverviewMonitoring: KindMonitoring = {
  kind: 'application_overview',
  panels,
  rules,
};
