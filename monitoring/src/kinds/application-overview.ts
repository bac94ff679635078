/** What applications run: instances, load, and each region of them. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, textOf, yesNo } from '../panels.ts';
import { all, anywhere, highest, peaks, seriesOf, top, values } from '../promql.ts';
import { sameAs, upToThree } from '../rules.ts';
import { grid } from '../tables.ts';
import { application, applicationDashboard, statusColors } from './application.ts';

const every = all(application);
/** A region is shown with its own name and the application's. */
const region = { ...application, ids: ['app_id', 'region'] };

const family = (name: string): string => `bunnynet_application_overview_${name}`;
const inRow = (name: string): string => values(anywhere(region), family(`region_${name}`));
const inRegions = (name: string, by: string): string =>
  values(application, family(`region_${name}`), ['region', by]);

/** A pod is shown with its own name and the application's. */
const pod = { ...application, ids: ['app_id', 'region', 'pod_name'] };
const podFamily = (name: string): string => `bunnynet_application_${name}`;
const ofPod = (name: string): string => values(anywhere(pod), podFamily(name));
const podName = '{{display}} {{region}} {{pod_name}}';
const podIds = pod.ids.join(', ');

/** What each pod uses of the limit of one instance. */
const memoryShare = 'bunnynet:application_pod_memory:ratio';
const cpuShare = 'bunnynet:application_pod_cpu:ratio';

function shareOfLimit(used: string, limit: string): string {
  return `
          max by (app_id, region, pod_name) (
            max by (job, instance, app_id, region, pod_name) (last_over_time(bunnynet_application_${used}[3m:1m]))
            / on (job, instance, app_id) group_left ()
            max by (job, instance, app_id) (last_over_time(bunnynet_application_overview_instance_limit_${limit}[3m:1m]))
          ) < Inf`;
}

/** Template text: the names of the pods that a query with the application's id has. */
function pods(expr: string): string {
  return upToThree('pod_name', `max by (pod_name) (${expr})`, ['app_id'], 'none can be read now');
}

const podOf = sameAs(['app_id']);
const oldestPod = `{{ with query (printf "bottomk(1, max by (pod_name, region) (last_over_time(bunnynet_application_pod_last_heartbeat_timestamp_seconds{${podOf.matchers}}[3m:1m])))" ${podOf.values}) }}{{ . | first | label "pod_name" }} in {{ . | first | label "region" }}{{ else }}not read now{{ end }}`;

const regionNow = (name: string, ...more: readonly string[]): string =>
  `last_over_time(bunnynet_application_overview_region_${name}{${[podOf.matchers, ...more].join(',')}}[3m:1m])`;
/** Template text: the regions of an application that lack all their instances, or are not active, and which of them are required. */
const emptyRegions = `{{ range $at, $one := query (printf \`max by (region) (${regionNow('instances')}) == 0 or max by (region) (${regionNow('status', 'status="active"')}) == 0\` ${podOf.values} ${podOf.values}) | sortByLabel "region" }}{{ if $at }}, {{ end }}{{ $one.Labels.region }}{{ range query (printf \`max(${regionNow('required', 'region=%q')}) == 1\` ${podOf.values} $one.Labels.region) }} (required){{ end }}{{ else }}none{{ end }}`;

/** A record of the selected pods. */
function selected(record: string, from: string): string {
  return `${record} and on (${podIds}) ${seriesOf(pod, podFamily(from))}`;
}

function fullest(title: string, description: string, share: string, legend = podName) {
  return bars(title, 'percentunit', 12, {
    description,
    steps: ['green', [0.8, 'orange'], [0.95, 'red']],
    queries: top(10, pod, share, legend),
    link: application.link,
    nothing: 'No instance reports it.',
  });
}

function partOf(part: string, whole: string, by: readonly string[] = []): string {
  return highest(pod, `${seriesOf(pod, podFamily(part))} / (${podFamily(whole)} > 0)`, by);
}

/** The status of applications that have no instances and lack none. */
const stopped = 'bunnynet_application_status{status=~"inactive|suspended"}';
const missing = `${seriesOf(every, family('desired_instances'))} - ${family('active_instances')} > 0 unless on (app_id) ${stopped} == 1`;

const exitText = textOf({ 0: ['0', 'text'], 137: ['137 killed', 'red'], 143: ['143 stopped', 'orange'] });

const load = [
  ['cpu_usage_ratio', 'Highest CPU (top 10)', 'averageCPU'],
  ['memory_usage_ratio', 'Highest memory (top 10)', 'averageRAM'],
  ['volume_usage_ratio', 'Highest volume use (top 10)', 'averageVolumesUsage'],
] as const;

export const applicationOverview: KindMonitoring = {
  kind: 'application_overview',
  rules: {
    about: 'What applications run.',
    reading: family('desired_instances'),
    subject: application,
    interval: '1m',
    records: [
      {
        record: memoryShare,
        comment: 'What each pod uses of the memory that one instance may use, and of its CPU.',
        expr: shareOfLimit('pod_memory_bytes', 'memory_bytes'),
      },
      { record: cpuShare, expr: shareOfLimit('pod_cpu_cores', 'cpu_cores') },
    ],
    alerts: {
      BunnynetApplicationMemoryNearLimit: {
        comment: 'At its limit a container is killed (exit code 137).',
        note: 'In March 2026 the API gave instances with `cpuUsage` and `ramUsage` alone, whose units nobody knows, and without limits. Such an instance has no figure of its memory, so the alert says nothing about it.',
        expr: `max by (app_id) (${memoryShare}) > [[share]]`,
        thresholds: { share: 0.9 },
        for: '10m',
        keepFiringFor: '15m',
        summary: 'An instance of application {{ or $name $labels.app_id }} is near its memory limit',
        description: `Instances of application {{ $labels.app_id }} that have used more than {{ humanizePercentage "[[share]]" }} of their memory limit for [[for]]: ${pods(`${memoryShare}{%s} > [[share]]`)}. The most is {{ $value | humanizePercentage }}.`,
      },
      BunnynetApplicationContainerRestarting: {
        expr: `
          max by (app_id) (
            max by (app_id, region, pod_name, container_name) (increase(bunnynet_application_container_restarts_total[30m]))
          ) >= [[restarts]]`,
        thresholds: { restarts: 2 },
        for: '2m',
        keepFiringFor: '15m',
        summary: 'A container of application {{ or $name $labels.app_id }} keeps restarting',
        description: `Restarts of a container of application {{ $labels.app_id }} within half an hour: {{ $value | printf "%.0f" }}. Last exit codes:{{ range query (printf "max by (container_name, region) (last_over_time(bunnynet_application_container_last_exit_code{${podOf.matchers}}[30m]))" ${podOf.values}) }} {{ .Labels.container_name }} in {{ .Labels.region }} {{ .Value }};{{ end }} 137 means killed, usually because it ran out of memory.`,
      },
      BunnynetApplicationHeartbeatStopped: {
        comment:
          'Measured at the last reading, so that an outage of the API does not look like one of the pod.',
        expr: `
          max by (app_id) (
            max by (job, instance, app_id) (last_over_time(bunnynet_application_overview_last_success_timestamp_seconds[3m:1m]))
            - on (job, instance, app_id) group_right ()
            max by (job, instance, app_id, region, pod_name) (last_over_time(bunnynet_application_pod_last_heartbeat_timestamp_seconds[3m:1m]))
            unless on (job, instance, app_id, region, pod_name) last_over_time(bunnynet_application_pod_status{status="deleting"}[3m:1m]) == 1
          ) > [[seconds]]`,
        thresholds: { seconds: 600 },
        for: '5m',
        keepFiringFor: '10m',
        severity: 'critical',
        summary: 'An instance of application {{ or $name $labels.app_id }} has no heartbeat',
        description: `The last heartbeat of an instance of application {{ $labels.app_id }} was {{ $value | humanizeDuration }} old when it was last read. The instance whose heartbeat is oldest: ${oldestPod}.`,
      },
      BunnynetApplicationInstancesMissing: {
        comment: 'An inactive application lacks nothing, and a suspended one has an alert of its own.',
        expr: `
          max by (app_id) (last_over_time(bunnynet_application_overview_desired_instances[3m:1m]))
          - max by (app_id) (last_over_time(bunnynet_application_overview_active_instances[3m:1m]))
          > [[instances]]
          unless on (app_id) max by (app_id) (last_over_time(${stopped}[3m:1m])) == 1`,
        thresholds: { instances: 0 },
        for: '15m',
        keepFiringFor: '15m',
        summary: 'Application {{ or $name $labels.app_id }} has fewer instances than it should',
        description: `Application {{ $labels.app_id }} has had fewer active instances than desired for [[for]]. Missing: {{ $value | printf "%.0f" }}. Regions without an instance, or not active: ${emptyRegions}.`,
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Applications', [
      bars('Missing instances', 'short', 24, {
        height: 5,
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
      grid('Instances', 'short', 24, {
        description:
          'At most 100 instances of the selected applications. Memory and CPU are shares of what one instance may use (API fields regions, pods: ramUsageBytes, cpuUsageCores; limits), "Restarts" are those of all containers since the instance began (numberOfRestarts), "Exit code" is the highest of their last ones (exitCode), "Heartbeat" is the age of the last one (lastHeartBeat), as they were at the last poll.',
        height: 10,
        entity: pod,
        rows: `topk(100, ${values(pod, podFamily('pod_status'))})`,
        labels: { region: { title: 'Region', width: 90 }, pod_name: { title: 'Instance', width: 160 } },
        columns: [
          {
            title: 'Memory',
            expr: values(anywhere(pod), memoryShare),
            unit: 'percentunit',
            steps: ['text', [0.8, 'orange'], [0.9, 'red']],
          },
          {
            title: 'CPU',
            expr: values(anywhere(pod), cpuShare),
            unit: 'percentunit',
            steps: ['text', [0.8, 'orange'], [0.95, 'red']],
          },
          {
            title: 'Restarts',
            expr: `sum by (${podIds}) (${values(anywhere(pod), podFamily('container_restarts_total'), ['container_name'])})`,
            steps: ['text', [1, 'orange']],
          },
          {
            title: 'Exit code',
            expr: ofPod('container_last_exit_code'),
            unit: 'none',
            text: exitText,
            steps: ['text', [1, 'orange']],
          },
          {
            title: 'Heartbeat',
            expr: `time() - ${ofPod('pod_last_heartbeat_timestamp_seconds')}`,
            unit: 's',
            steps: ['text', [600, 'red']],
          },
          { title: 'Outbound', expr: ofPod('pod_outbound_bytes_per_second'), unit: 'Bps' },
          {
            title: 'Ready',
            expr: values(anywhere(pod), podFamily('pod_status'), [], ['status="ready"']),
            text: yesNo,
          },
        ],
        alerts: [
          'BunnynetApplicationMemoryNearLimit',
          'BunnynetApplicationContainerRestarting',
          'BunnynetApplicationHeartbeatStopped',
        ],
      }),
      lines('Desired instances', 'short', 8, {
        description: 'Of the 15 applications with the most (API field desiredInstances).',
        queries: peaks(15, application, family('desired_instances')),
      }),
      lines('Active instances', 'short', 8, {
        description: 'Of the 15 applications with the most (API field activeInstances).',
        queries: peaks(15, application, family('active_instances')),
        alerts: ['BunnynetApplicationInstancesMissing'],
      }),
      lines('Regions', 'short', 8, {
        description: 'Active regions, of the 15 applications with the most (API field activeRegions).',
        queries: peaks(15, application, family('active_regions')),
      }),
      ...load.map(([name, title, apiField]) =>
        bars(title, 'percentunit', 8, {
          description: `Average use over the application, as the API reports it; it documents no window (API field ${apiField}).`,
          height: 9,
          steps: ['green', [0.8, 'orange'], [0.95, 'red']],
          queries: top(10, application, values(application, family(name))),
          link: application.link,
        }),
      ),
    ]),
    row(applicationDashboard, 'Instances in detail', [
      fullest(
        'Memory limit used (top 10)',
        'Memory of an instance as a share of what one may use (API fields regions, pods, ramUsageBytes and limits, ramBytes). An alert fires above 90 %.',
        selected(memoryShare, 'pod_memory_bytes'),
      ),
      fullest(
        'CPU limit used (top 10)',
        'CPU cores of an instance as a share of what one may use (API fields regions, pods, cpuUsageCores and limits, cpuCores).',
        selected(cpuShare, 'pod_cpu_cores'),
      ),
      fullest(
        'Outbound bandwidth limit used (top 10)',
        'Bytes per second that an instance sends as a share of what one may send (API fields regions, pods and limits: outboundBandwidthBytesPerSecond).',
        highest(
          pod,
          `${seriesOf(pod, podFamily('pod_outbound_bytes_per_second'))} / on (app_id) group_left () (${values(anywhere(application), family('instance_limit_outbound_bytes_per_second'))} > 0)`,
        ),
      ),
      fullest(
        'Ephemeral storage used (top 10)',
        'Ephemeral storage of an instance as a share of its limit (API fields regions, pods: ephemeralStorageUsageBytes, ephemeralStorageLimitBytes).',
        partOf('pod_ephemeral_storage_usage_bytes', 'pod_ephemeral_storage_limit_bytes'),
      ),
      fullest(
        'Volumes of instances (top 10)',
        'Use of each volume of an instance (API fields regions, pods, volumes: usageBytes, sizeBytes).',
        partOf('pod_volume_usage_bytes', 'pod_volume_size_bytes', ['volume_id']),
        `${podName} {{volume_id}}`,
      ),
      bars('Rejected outbound connections (top 10)', 'short', 12, {
        description:
          'Rejected outbound connections of an instance; the API documents no window (API fields regions, pods, outboundConnectionsRejectedDiff).',
        queries: top(10, pod, values(pod, podFamily('pod_rejected_outbound_connections')), podName),
        link: application.link,
      }),
      lines('Containers by state', 'short', 12, {
        description:
          'Containers of the selected applications in each state (API fields regions, pods, containers, status).',
        stacked: true,
        queries: {
          '{{status}}': `sum by (status) (${values(pod, podFamily('container_status'), ['container_name', 'status'])})`,
        },
        colors: { ready: 'green', started: 'blue', not_started: 'red' },
      }),
      lines('Pods left out', 'short', 12, {
        description:
          'Pods of an application beyond the 200 that have series of their own (API fields regions, pods).',
        queries: peaks(15, application, family('pods_left_out')),
      }),
    ]),
    row(applicationDashboard, 'Regions', [
      grid('Regions', 'short', 24, {
        description:
          'At most 100 regions of the selected applications, those with the most instances (API field regions: isRequired, instances, averageCPU, averageRAM, averageVolumesUsagePercentage, requests, anycastTraffic, outboundConnectionsRejectedDiff as "Rejected", the highest ephemeralStorageUsageRatio of a pod as "Ephemeral", and numberOfRestarts over all pods; the API documents no window).',
        entity: region,
        rows: `topk(100, ${values(region, family('region_instances'))})`,
        labels: { region: 'Region' },
        columns: [
          { title: 'Required', expr: inRow('required'), text: yesNo },
          { title: 'Instances', expr: inRow('instances') },
          { title: 'CPU', expr: inRow('cpu_usage_ratio'), unit: 'percentunit' },
          { title: 'Memory', expr: inRow('memory_usage_ratio'), unit: 'percentunit' },
          { title: 'Volumes', expr: inRow('volume_usage_ratio'), unit: 'percentunit' },
          { title: 'Ephemeral', expr: inRow('ephemeral_storage_usage_ratio'), unit: 'percentunit' },
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
      bars('Target latency (top 10)', 's', 6, {
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
        queries: { '{{status}}': `sum by (status) (${inRegions('pods', 'status')})` },
        colors: { ready: 'green', scheduled: 'blue', not_scheduled: 'red', deleting: 'gray' },
      }),
      bars('Container restarts (top 10)', 'short', 6, {
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
