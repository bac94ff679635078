/** What a Magic Containers application runs, in all and by region (`/apps/{app}/overview`). */
import { applicationPath, applications, latency, latencySettings } from './application.ts';
import { count, countSamples, each, gauge, ratio, shown, states } from './families.ts';
import {
  type FieldType,
  integer,
  listOf,
  mapped,
  number,
  object,
  oneOf,
  percentage,
  text,
} from './fields.ts';
import { defineResource, type Sample } from './resource.ts';

const regionStates = ['unknown', 'active', 'progressing', 'inactive', 'failing'] as const;
const podStates = ['notScheduled', 'scheduled', 'ready', 'deleting', 'unknown'] as const;

const asPercentage = 'from 0 to 1, taking what the API reports as a percentage';

/** A figure with its grade, which is not read. */
function indicator(type: FieldType<number>): FieldType<number> {
  return mapped(object({ indicator: type }), (about) => about.indicator);
}

const pod = object({
  status: oneOf(podStates),
  ephemeralStorageUsageRatio: number,
  outboundConnectionsRejectedDiff: integer,
  containers: listOf(object({ name: text, numberOfRestarts: integer })),
});
type Pods = readonly (ReturnType<typeof pod> | undefined)[];

/** By the name of the container, over all pods: pods come and go, so that none is named. */
function restarts(pods: Pods): readonly Sample[] {
  const sums = new Map<string, number>();
  for (const one of pods.flatMap((held) => held?.containers ?? [])) {
    if (!one?.name || one.numberOfRestarts === undefined) continue;
    sums.set(one.name, (sums.get(one.name) ?? 0) + one.numberOfRestarts);
  }
  return Array.from(sums, ([container, value]) => ({ labels: { container }, value }));
}

function rejectedConnections(pods: Pods): number | undefined {
  const given = pods.flatMap((one) => one?.outboundConnectionsRejectedDiff ?? []);
  return given.length === 0 ? undefined : given.reduce((sum, one) => sum + one, 0);
}

/** The highest: the pod that will be evicted first. */
function fullestEphemeralStorage(pods: Pods): number | undefined {
  const given = pods.flatMap((one) => one?.ephemeralStorageUsageRatio ?? []);
  return given.length === 0 ? undefined : Math.max(...given);
}

const pods = shown(
  listOf(pod),
  {
    name: 'region_pods',
    words: 'Number of pods in each region by their state',
    labels: ['state'],
    series: (all) =>
      countSamples(
        'state',
        podStates,
        all.map((one) => one?.status),
      ),
  },
  {
    name: 'region_container_restarts',
    words:
      'Restarts of each container in each region, added up over the pods that there are, so that it falls when a pod goes',
    fields: ['numberOfRestarts'],
    labels: ['container'],
    series: restarts,
  },
  {
    name: 'region_rejected_outbound_connections',
    words: 'Outbound connections rejected of late in each region, added up over its pods',
    fields: ['outboundConnectionsRejectedDiff'],
    series: rejectedConnections,
  },
  {
    name: 'region_ephemeral_storage_usage_ratio',
    words: 'Use of the ephemeral storage by the fullest pod in each region, as the API reports it',
    fields: ['ephemeralStorageUsageRatio'],
    together: 'most',
    series: fullestEphemeralStorage,
  },
);

const region = object({
  region: text,
  instances: count('region_instances', 'Instances in each region'),
  status: states(
    'region_status',
    regionStates,
    'Deployment state of each region (%s): 1 for the state that it is in, 0 for the others',
  ),
  averageCPU: ratio(
    'region_cpu_usage_ratio',
    percentage,
    `Average use of the CPU in each region, ${asPercentage}`,
  ),
  averageRAM: ratio(
    'region_memory_usage_ratio',
    percentage,
    `Average use of the memory in each region, ${asPercentage}`,
  ),
  averageVolumesUsagePercentage: ratio(
    'region_volume_usage_ratio',
    percentage,
    `Average use of the volumes in each region, ${asPercentage}`,
  ),
  requests: gauge(
    'region_requests',
    number,
    'Requests in each region, as the API reports them; their window is not documented',
  ),
  anycastTraffic: gauge(
    'region_anycast_traffic_bytes',
    number,
    'Anycast traffic in each region; its window is not documented',
  ),
  pods,
});

const share = indicator(percentage);

const overview = object(
  {
    desiredInstances: count('desired_instances', 'Instances that the application should have'),
    activeInstances: gauge('active_instances', indicator(number), 'Instances that are active'),
    activeRegions: gauge('active_regions', indicator(number), 'Regions that are active'),
    averageCPU: gauge('cpu_usage_ratio', share, `Average use of the CPU, ${asPercentage}`),
    averageRAM: gauge('memory_usage_ratio', share, `Average use of the memory, ${asPercentage}`),
    averageVolumesUsage: gauge('volume_usage_ratio', share, `Average use of the volumes, ${asPercentage}`),
    targetLatency: latency(
      'target_latency_seconds',
      indicator(number),
      'Latency that the application aims at',
    ),
    regions: each('region', 'region', region),
  },
  'currentLatency',
  'status',
  'averageLatency',
  'totalVolumeSizeInGb',
  'monthlyCost',
  'latencyChart',
);

export const applicationOverview = defineResource({
  kind: 'application_overview',
  product: 'Magic Containers',
  reference: 'GET /apps/{appId}/overview',
  noun: 'overview of the application',
  section: 'application_overviews',
  defaultIntervalSeconds: 60,
  settings: latencySettings,
  listing: applications,
  answer: overview,
  path: (ids) => `${applicationPath(ids)}/overview`,
});
