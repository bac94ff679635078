/** What a Magic Containers application runs, in all and by region (`/apps/{app}/overview`). */
import { applications, inSeconds, type LatencySettings, latencySettings } from './application.ts';
import { divided, integer, listOf, number, object, readFields, text, type ValueOf } from './fields.ts';
import { defineResource, familiesOf, type Sample } from './resource.ts';

const regionStates = ['unknown', 'active', 'progressing', 'inactive', 'failing'] as const;
const podStates = ['notScheduled', 'scheduled', 'ready', 'deleting'] as const;

const indicator = object({ indicator: number });

const container = object({ name: text, numberOfRestarts: integer });
const pod = object({
  status: text,
  outboundConnectionsRejectedDiff: integer,
  containers: listOf(container),
});
const region = object({
  region: text,
  instances: integer,
  status: text,
  requests: number,
  anycastTraffic: number,
  pods: listOf(pod),
});
const overview = object({
  targetLatency: indicator,
  activeRegions: indicator,
  activeInstances: indicator,
  desiredInstances: integer,
  averageCPU: indicator,
  averageRAM: indicator,
  averageVolumesUsage: indicator,
  regions: listOf(region),
});

/** A region with what its pods add up to: pods come and go, so that none is named. */
interface RegionReading {
  readonly region: string;
  readonly state: (typeof regionStates)[number] | undefined;
  readonly instances: number | null | undefined;
  readonly requests: number | null | undefined;
  readonly anycastTraffic: number | null | undefined;
  /** Pods by state, where the API lists them. */
  readonly pods: ReadonlyMap<string, number> | undefined;
  readonly rejectedConnections: number | undefined;
  /** By the name of the container. */
  readonly restarts: ReadonlyMap<string, number>;
}

export interface ApplicationOverviewReading extends Omit<ValueOf<typeof overview>, 'regions'> {
  readonly regions: readonly RegionReading[];
}

/** The state of a list that this text is, whatever its case. */
function stateOf<State extends string>(states: readonly State[], given: string | null | undefined) {
  return states.find((state) => state.toLowerCase() === given?.toLowerCase());
}

function readRegion(given: ValueOf<typeof region>, unrecognized: () => void): RegionReading {
  const { region: name, status, pods, instances, requests, anycastTraffic } = given;
  const state = stateOf(regionStates, status);
  if (status && !state) unrecognized();
  const byState = new Map<string, number>(podStates.map((podState) => [podState, 0]));
  const restarts = new Map<string, number>();
  let rejectedConnections: number | undefined;
  for (const one of pods ?? []) {
    const podState = stateOf(podStates, one?.status);
    if (podState) byState.set(podState, (byState.get(podState) ?? 0) + 1);
    else if (one?.status) unrecognized();
    const rejected = one?.outboundConnectionsRejectedDiff;
    if (typeof rejected === 'number') rejectedConnections = (rejectedConnections ?? 0) + rejected;
    for (const { name: containerName, numberOfRestarts } of one?.containers?.filter((held) => !!held) ?? []) {
      if (!containerName || typeof numberOfRestarts !== 'number') continue;
      restarts.set(containerName, (restarts.get(containerName) ?? 0) + numberOfRestarts);
    }
  }
  return {
    region: name ?? '',
    state: state ?? (status ? 'unknown' : undefined),
    instances,
    requests,
    anycastTraffic,
    pods: pods ? byState : undefined,
    rejectedConnections,
    restarts,
  };
}

const { gauge } = familiesOf<ApplicationOverviewReading, LatencySettings>('bunnynet_application_overview');

/** A family with one series for each region that has the value. */
function perRegion(name: string, help: string, pick: (region: RegionReading) => number | null | undefined) {
  return gauge(
    `region_${name}`,
    help,
    ({ regions }) =>
      regions.flatMap((one): Sample[] => {
        const value = pick(one);
        return typeof value === 'number' ? [{ labels: { region: one.region }, value }] : [];
      }),
    ['region'],
  );
}

export const applicationOverview = defineResource({
  kind: 'application_overview',
  api: 'application',
  reference: 'GET /apps/{appId}/overview',
  noun: "application's overview",
  section: 'application_overviews',
  ids: [{ label: 'app_id', setting: 'id', form: 'opaque' }],
  defaultIntervalSeconds: 60,
  settings: latencySettings,
  fields: overview.names,
  enumeratedFields: ['regions'],
  listing: applications,

  async read(get, ids, diagnostics): Promise<ApplicationOverviewReading> {
    const body = await get(`/apps/${encodeURIComponent(ids['app_id'] ?? '')}/overview`);
    const { regions, ...rest } = readFields(overview, body, diagnostics);
    const named = regions?.filter((one) => !!one?.region) ?? [];
    return {
      ...rest,
      regions: named.flatMap((one) =>
        one ? [readRegion(one, () => diagnostics.unrecognized('regions'))] : [],
      ),
    };
  },

  families: [
    gauge(
      'desired_instances',
      'Instances that the application should have (API field desiredInstances).',
      ({ desiredInstances }) => desiredInstances ?? undefined,
    ),
    gauge(
      'active_instances',
      'Instances that are active (API field activeInstances).',
      ({ activeInstances }) => activeInstances?.indicator ?? undefined,
    ),
    gauge(
      'active_regions',
      'Regions that are active (API field activeRegions).',
      ({ activeRegions }) => activeRegions?.indicator ?? undefined,
    ),
    gauge(
      'cpu_usage_ratio',
      'Average use of the CPU, from 0 to 1, taking what the API reports as a percentage (API field averageCPU).',
      ({ averageCPU }) => divided(averageCPU?.indicator, 100),
    ),
    gauge(
      'memory_usage_ratio',
      'Average use of the memory, from 0 to 1, taking what the API reports as a percentage (API field averageRAM).',
      ({ averageRAM }) => divided(averageRAM?.indicator, 100),
    ),
    gauge(
      'volume_usage_ratio',
      'Average use of the volumes, from 0 to 1, taking what the API reports as a percentage (API field averageVolumesUsage).',
      ({ averageVolumesUsage }) => divided(averageVolumesUsage?.indicator, 100),
    ),
    gauge(
      'target_latency_seconds',
      'Latency that the application aims at (API field targetLatency, converted by the setting latency_unit).',
      ({ targetLatency }, { settings }) => inSeconds(targetLatency?.indicator, settings),
    ),
    perRegion(
      'instances',
      'Instances in each region (API field regions, instances).',
      ({ instances }) => instances,
    ),
    gauge(
      'region_status',
      'Deployment state of each region (API field regions, status): 1 for the state that it is in, 0 for the others.',
      ({ regions }) =>
        regions.flatMap(({ region, state }) =>
          state
            ? regionStates.map((status) => ({ labels: { region, status }, value: status === state ? 1 : 0 }))
            : [],
        ),
      ['region', 'status'],
    ),
    perRegion(
      'requests',
      'Requests in each region, as the API reports them; their window is not documented (API field regions, requests).',
      ({ requests }) => requests,
    ),
    perRegion(
      'anycast_traffic_bytes',
      'Anycast traffic in each region; its window is not documented (API field regions, anycastTraffic).',
      ({ anycastTraffic }) => anycastTraffic,
    ),
    gauge(
      'region_pods',
      'Number of pods in each region by their state (API field regions, pods).',
      ({ regions }) =>
        regions.flatMap(({ region, pods = [] }) =>
          Array.from(pods, ([state, value]) => ({ labels: { region, state }, value })),
        ),
      ['region', 'state'],
    ),
    gauge(
      'region_container_restarts',
      'Restarts of each container in each region, added up over the pods that there are, so that it falls when a pod goes (API field regions, numberOfRestarts).',
      ({ regions }) =>
        regions.flatMap(({ region, restarts }) =>
          Array.from(restarts, ([name, value]) => ({ labels: { region, container: name }, value })),
        ),
      ['region', 'container'],
    ),
    perRegion(
      'rejected_outbound_connections',
      'Outbound connections rejected of late in each region, added up over its pods (API field regions, outboundConnectionsRejectedDiff).',
      ({ rejectedConnections }) => rejectedConnections,
    ),
  ],
});
