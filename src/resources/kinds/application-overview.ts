/** What a Magic Containers application runs, in all and by region (`/apps/{app}/overview`). */
import * as z from 'zod';
import { defineResource } from '../define.ts';
import {
  asCounted,
  count,
  countedBy,
  each,
  type FamilyOf,
  familiesOf,
  flag,
  gauge,
  highestOf,
  inside,
  label,
  labelled,
  nested,
  ratio,
  seriesOf,
  shown,
  states,
  timestamp,
} from '../families.ts';
import { elements, integer, listOf, mapped, number, object, percentage, type ValueOf } from '../fields.ts';
import type { CounterSample, Sample, TargetContext } from '../resource.ts';
import { applications, latency, latencySettings } from './application.ts';

const regionStates = ['unknown', 'active', 'progressing', 'inactive', 'failing'] as const;
const oneIsOne = '1 for the state that it is in, 0 for the others';

const podStates = ['notScheduled', 'scheduled', 'ready', 'deleting'] as const;
const containerStates = ['notStarted', 'started', 'ready'] as const;

/** How many pods of an application have series. */
const maxPods = 200;

const settings = {
  ...latencySettings,
  pods: z
    .enum(['each', 'off'])
    .default('each')
    .describe(
      `Whether each pod and container has series of its own (at most ${maxPods} pods an application)`,
    ),
};
type Target = TargetContext<z.output<z.ZodObject<typeof settings>>>;

const asPercentage = 'from 0 to 1, assuming that the API reports a percentage';

/** Free texts are not read: messages, reasons and images are the customer's. */
const container = object({
  name: label('container_name'),
  status: states('container_status', `State of each container (%s): ${oneIsOne}`, containerStates),
  numberOfRestarts: asCounted(
    'container_restarts_total',
    'Restarts of each container, as the API counts them',
  ),
  exitCode: gauge('container_last_exit_code', 'Exit code of the last run of each container', integer),
}).ignoring('id cpuUsage ramUsage reason message image imageDisplay');

const volume = object({
  id: label('volume_id'),
  usageBytes: gauge('pod_volume_usage_bytes', 'Bytes that each pod stores on each volume'),
  sizeBytes: gauge('pod_volume_size_bytes', 'Size of each volume of each pod'),
});

const pod = object({
  name: label('pod_name'),
  status: states('pod_status', `State of each pod (%s): ${oneIsOne}`, podStates),
  cpuUsageCores: gauge('pod_cpu_cores', 'CPU cores that each pod uses'),
  ramUsageBytes: gauge('pod_memory_bytes', 'Memory that each pod uses'),
  outboundBandwidthBytesPerSecond: gauge(
    'pod_outbound_bytes_per_second',
    'Bytes per second that each pod sends',
  ),
  lastHeartBeat: timestamp('pod_last_heartbeat_timestamp_seconds', 'Last heartbeat of each pod'),
  ephemeralStorageUsageBytes: gauge(
    'pod_ephemeral_storage_usage_bytes',
    'Bytes of ephemeral storage that each pod uses',
  ),
  ephemeralStorageLimitBytes: gauge(
    'pod_ephemeral_storage_limit_bytes',
    'Bytes of ephemeral storage that each pod may use',
  ),
  ephemeralStorageUsageRatio: number,
  outboundConnectionsRejectedDiff: count(
    'pod_rejected_outbound_connections',
    'Rejected outbound connections of each pod; their window is not documented',
  ),
  outboundConnectionsLimit: count(
    'pod_outbound_connections_limit',
    'Outbound connections that each pod may have',
  ),
  volumes: each(volume),
  containers: each(container),
}).ignoring(`outboundTrafficChart{*} cpuUsage ramUsage message volumesUtilizationPercentage{*}`);
type Pod = ValueOf<typeof pod>;
type Pods = readonly (Pod | undefined)[];

/** By container, over all pods: pods come and go, so their names are not used. */
function restarts(pods: Pods) {
  const sums = new Map<string, number>();
  for (const one of pods.flatMap((held) => held?.containers ?? [])) {
    if (!one?.name || one.numberOfRestarts === undefined) continue;
    sums.set(one.name, (sums.get(one.name) ?? 0) + one.numberOfRestarts);
  }
  return Array.from(sums, ([container_name, value]) => ({ labels: { container_name }, value }));
}

function rejectedConnections(pods: Pods): number | undefined {
  const given = pods.flatMap((one) => one?.outboundConnectionsRejectedDiff ?? []);
  return given.length === 0 ? undefined : given.reduce((sum, one) => sum + one, 0);
}

const podsOfRegion = shown(
  listOf(pod),
  {
    name: 'region_pods',
    words: 'Number of pods in each region by status',
    ...countedBy(podStates, ({ status }: Pod) => status),
  },
  {
    name: 'region_container_restarts',
    words:
      'Restarts of each container in each region, summed over the current pods; falls when a pod is removed',
    fields: ['numberOfRestarts'],
    labels: ['container_name'],
    series: restarts,
  },
  {
    name: 'region_rejected_outbound_connections',
    words:
      'Rejected outbound connections in each region, summed over its pods; their window is not documented',
    fields: ['outboundConnectionsRejectedDiff'],
    series: rejectedConnections,
  },
  {
    name: 'region_ephemeral_storage_usage_ratio',
    words: 'Ephemeral storage usage of the fullest pod in each region, as the API reports it',
    fields: ['ephemeralStorageUsageRatio'],
    ofDuplicates: 'highest',
    // The fullest pod will be evicted first.
    series: (all) => highestOf(all.map((one) => one?.ephemeralStorageUsageRatio)),
  },
);

const region = object({
  region: label('region'),
  instances: count('region_instances', 'Instances in each region'),
  status: states(
    'region_status',
    'Deployment state of each region (%s): 1 for the state that it is in, 0 for the others',
    regionStates,
  ),
  averageCPU: ratio('region_cpu_usage_ratio', `Average CPU usage in each region, ${asPercentage}`),
  averageRAM: ratio('region_memory_usage_ratio', `Average memory usage in each region, ${asPercentage}`),
  averageVolumesUsagePercentage: ratio(
    'region_volume_usage_ratio',
    `Average volume usage in each region, ${asPercentage}`,
  ),
  requests: gauge('region_requests', 'Requests in each region; their window is not documented'),
  anycastTraffic: gauge(
    'region_anycast_traffic_bytes',
    'Anycast traffic in each region; its window is not documented',
  ),
  isRequired: flag('region_required', 'Whether the application has to run in each region'),
  pods: podsOfRegion,
});

/** A figure beside its grade. */
const indicator = mapped(object({ indicator: number }).ignoring('statusGrade'), (about) => about.indicator);
const share = mapped(object({ indicator: percentage }).ignoring('statusGrade'), (about) => about.indicator);

/** What a single instance may use; the same for all. */
const instanceLimits = object({
  cpuCores: gauge('instance_limit_cpu_cores', 'CPU cores that one instance may use'),
  ramBytes: gauge('instance_limit_memory_bytes', 'Memory that one instance may use'),
  outboundBandwidthBytesPerSecond: gauge(
    'instance_limit_outbound_bytes_per_second',
    'Bytes per second that one instance may send',
  ),
});

const overview = object({
  desiredInstances: count('desired_instances', 'Desired instances'),
  activeInstances: gauge('active_instances', 'Active instances', indicator),
  activeRegions: gauge('active_regions', 'Active regions', indicator),
  averageCPU: gauge('cpu_usage_ratio', `Average CPU usage, ${asPercentage}`, share),
  averageRAM: gauge('memory_usage_ratio', `Average memory usage, ${asPercentage}`, share),
  averageVolumesUsage: gauge('volume_usage_ratio', `Average volume usage, ${asPercentage}`, share),
  targetLatency: latency('target_latency_seconds', 'Target latency', indicator),
  limits: inside(instanceLimits, {}),
  regions: each(region),
}).ignoring(`currentLatency{indicator statusGrade} status averageLatency totalVolumeSizeInGb monthlyCost
  latencyChart{*}`);
type Overview = ValueOf<typeof overview>;

/** A pod without a name has no series. */
function namedIn(pods: Pods = []): readonly Pod[] {
  return pods.filter(isNamed);
}

function isNamed(one: Pods[number]): one is Pod {
  return Boolean(one?.name);
}

/** The pods that have series, by region. */
function podsShown({ regions = [] }: Overview, { settings }: Target) {
  let room = settings.pods === 'off' ? 0 : maxPods;
  return regions.map(({ region = '', pods }) => {
    const shownHere = namedIn(pods).slice(0, room);
    room -= shownHere.length;
    return { region, pods: shownHere };
  });
}

const ofPods = familiesOf(elements(pod)).map((family): FamilyOf<Overview> => {
  const { words, ...ofPod } = nested(family);
  return {
    ...ofPod,
    words: words.replace('%s', '%s, pods'),
    fields: ['regions'],
    labels: ['region', ...(family.labels ?? [])],
    series(reading, target: Target) {
      const series: (Sample | CounterSample)[] = [];
      for (const { region, pods } of podsShown(reading, target))
        for (const one of labelled({ region }, seriesOf(family, pods, target))) series.push(one);
      return series;
    },
  };
});

const podsLeftOut: FamilyOf<Overview> = {
  name: 'overview_pods_left_out',
  words: `Pods without series of their own because the application has more than ${maxPods} (%s, pods)`,
  fields: ['regions'],
  series({ regions }, target: Target) {
    if (target.settings.pods === 'off') return undefined;
    return regions && Math.max(0, regions.flatMap(({ pods }) => namedIn(pods)).length - maxPods);
  },
};

export const applicationOverview = defineResource({
  kind: 'application_overview',
  noun: 'application overview',
  section: 'application_overviews',
  defaultIntervalSeconds: 60,
  settings,
  listing: applications,
  familyPrefix: 'bunnynet_application',
  path: '/apps/{appId}/overview',
  answer: overview,
  families: (own) => [
    ...own.map((family) => ({ ...family, name: `overview_${family.name}` })),
    podsLeftOut,
    ...ofPods,
  ],
});
