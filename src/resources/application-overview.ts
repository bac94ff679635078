/** What a Magic Containers application runs, in all and by region (`/apps/{app}/overview`). */
import { applications, latency, latencySettings } from './application.ts';
import { defineResource } from './define.ts';
import { count, countedBy, each, gauge, highestOf, label, ratio, shown, states } from './families.ts';
import { integer, listOf, mapped, number, object, oneOf, percentage, text, type ValueOf } from './fields.ts';

const regionStates = ['unknown', 'active', 'progressing', 'inactive', 'failing'] as const;
const podStates = ['notScheduled', 'scheduled', 'ready', 'deleting', 'unknown'] as const;

const asPercentage = 'from 0 to 1, assuming that the API reports a percentage';

const pod = object({
  status: oneOf(podStates),
  ephemeralStorageUsageRatio: number,
  outboundConnectionsRejectedDiff: integer,
  containers: listOf(
    object({ name: text, numberOfRestarts: integer }).ignoring(
      'id cpuUsage ramUsage reason message status image imageDisplay exitCode',
    ),
  ),
}).ignoring(`name lastHeartBeat outboundTrafficChart{*} cpuUsage ramUsage message volumesUtilizationPercentage{*}
  ephemeralStorageUsageBytes ephemeralStorageLimitBytes outboundConnectionsLimit`);
type Pods = readonly (ValueOf<typeof pod> | undefined)[];

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

const pods = shown(
  listOf(pod),
  {
    name: 'region_pods',
    words: 'Number of pods in each region by state',
    ...countedBy('state', podStates, ({ status }: ValueOf<typeof pod>) => status),
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
    together: 'most',
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
  pods,
}).ignoring('isRequired');

/** A figure beside its grade. */
const indicator = mapped(object({ indicator: number }).ignoring('statusGrade'), (about) => about.indicator);
const share = mapped(object({ indicator: percentage }).ignoring('statusGrade'), (about) => about.indicator);

const overview = object({
  desiredInstances: count('desired_instances', 'Desired instances'),
  activeInstances: gauge('active_instances', 'Active instances', indicator),
  activeRegions: gauge('active_regions', 'Active regions', indicator),
  averageCPU: gauge('cpu_usage_ratio', `Average CPU usage, ${asPercentage}`, share),
  averageRAM: gauge('memory_usage_ratio', `Average memory usage, ${asPercentage}`, share),
  averageVolumesUsage: gauge('volume_usage_ratio', `Average volume usage, ${asPercentage}`, share),
  targetLatency: latency('target_latency_seconds', 'Target latency', indicator),
  regions: each(region),
}).ignoring(`currentLatency{indicator statusGrade} status averageLatency totalVolumeSizeInGb monthlyCost
  latencyChart{*}`);

export const applicationOverview = defineResource({
  kind: 'application_overview',
  noun: 'overview of the application',
  section: 'application_overviews',
  defaultIntervalSeconds: 60,
  settings: latencySettings,
  listing: applications,
  path: '/apps/{appId}/overview',
  answer: overview,
});
