import { expect, it } from 'vitest';
import { applicationOverview } from '../../../src/resources/kinds/application-overview.ts';
import { type About, type Body, expose } from '../expose.ts';

const read = (answer: Body, about: About = {}) =>
  expose(applicationOverview, answer, { ids: { app_id: 'HbqFNk0' }, ...about });

const answer = {
  targetLatency: { indicator: 50, statusGrade: 'doingGreat' },
  activeRegions: { indicator: 2, statusGrade: 'doingGreat' },
  activeInstances: { indicator: 3, statusGrade: 'doingGreat' },
  desiredInstances: 4,
  status: 'active',
  averageCPU: { indicator: 12.5, statusGrade: 'doingGreat' },
  averageRAM: { indicator: 70, statusGrade: 'notBad' },
  averageVolumesUsage: { indicator: 91.5, statusGrade: 'couldBeBetter' },
  limits: { cpuCores: 2, ramBytes: 4294967296, outboundBandwidthBytesPerSecond: 125000000 },
  regions: [
    {
      region: 'DE',
      isRequired: true,
      instances: 2,
      status: 'Active',
      requests: 1204,
      anycastTraffic: 5000000,
      pods: [
        {
          name: 'pod-1',
          status: 'ready',
          message: 'very-secret',
          lastHeartBeat: '2026-08-20T11:59:30.1234567Z',
          cpuUsageCores: 0.5,
          ramUsageBytes: 3221225472,
          outboundBandwidthBytesPerSecond: 125000,
          volumes: [{ id: 'vol-1', usageBytes: 4000000000, sizeBytes: 10000000000 }],
          ephemeralStorageUsageBytes: 1000,
          ephemeralStorageLimitBytes: 10000000000,
          outboundConnectionsLimit: 500,
          outboundConnectionsRejectedDiff: 2,
          containers: [
            {
              name: 'app',
              numberOfRestarts: 3,
              exitCode: 137,
              status: 'started',
              reason: 'very-secret',
              image: 'very-secret',
            },
            { name: 'sidecar', numberOfRestarts: null },
          ],
        },
        {
          name: 'pod-2',
          status: 'scheduled',
          outboundConnectionsRejectedDiff: 5,
          containers: [{ name: 'app', numberOfRestarts: 1 }],
        },
      ],
    },
    { region: 'SG', isRequired: false, instances: 1, status: 'progressing' },
  ],
};

it('shows what the application runs, in total and by region, with its pods added up', async () => {
  const { rows, asked } = await read(answer, { settings: { pods: 'off' } });
  expect(asked).toEqual(['/apps/HbqFNk0/overview']);
  expect(rows).toBe(`\
bunnynet_application_overview_desired_instances{app_id="HbqFNk0"} 4
bunnynet_application_overview_active_instances{app_id="HbqFNk0"} 3
bunnynet_application_overview_active_regions{app_id="HbqFNk0"} 2
bunnynet_application_overview_cpu_usage_ratio{app_id="HbqFNk0"} 0.125
bunnynet_application_overview_memory_usage_ratio{app_id="HbqFNk0"} 0.7
bunnynet_application_overview_volume_usage_ratio{app_id="HbqFNk0"} 0.915
bunnynet_application_overview_target_latency_seconds{app_id="HbqFNk0"} 0.05
bunnynet_application_overview_instance_limit_cpu_cores{app_id="HbqFNk0"} 2
bunnynet_application_overview_instance_limit_memory_bytes{app_id="HbqFNk0"} 4294967296
bunnynet_application_overview_instance_limit_outbound_bytes_per_second{app_id="HbqFNk0"} 125000000
bunnynet_application_overview_region_instances{app_id="HbqFNk0",region="DE"} 2
bunnynet_application_overview_region_instances{app_id="HbqFNk0",region="SG"} 1
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="DE",status="unknown"} 0
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="DE",status="active"} 1
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="DE",status="progressing"} 0
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="DE",status="inactive"} 0
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="DE",status="failing"} 0
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="SG",status="unknown"} 0
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="SG",status="active"} 0
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="SG",status="progressing"} 1
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="SG",status="inactive"} 0
bunnynet_application_overview_region_status{app_id="HbqFNk0",region="SG",status="failing"} 0
bunnynet_application_overview_region_requests{app_id="HbqFNk0",region="DE"} 1204
bunnynet_application_overview_region_anycast_traffic_bytes{app_id="HbqFNk0",region="DE"} 5000000
bunnynet_application_overview_region_required{app_id="HbqFNk0",region="DE"} 1
bunnynet_application_overview_region_required{app_id="HbqFNk0",region="SG"} 0
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",status="not_scheduled"} 0
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",status="scheduled"} 1
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",status="ready"} 1
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",status="deleting"} 0
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",status="unknown"} 0
bunnynet_application_overview_region_container_restarts{app_id="HbqFNk0",region="DE",container_name="app"} 4
bunnynet_application_overview_region_rejected_outbound_connections{app_id="HbqFNk0",region="DE"} 7
`);
});

/** The rows of pods and containers, without the labels of the application and the region. */
function podRows(rows: string): string {
  const all = rows.match(/^bunnynet_application_(?:pod|container)_.*\n/gm) ?? [];
  return all.join('').replaceAll('bunnynet_application_', '').replaceAll('app_id="HbqFNk0",region="DE",', '');
}

it('shows each pod and container, with what it uses', async () => {
  const { rows, page } = await read(answer);
  expect(podRows(rows)).toBe(`\
pod_status{pod_name="pod-1",status="not_scheduled"} 0
pod_status{pod_name="pod-1",status="scheduled"} 0
pod_status{pod_name="pod-1",status="ready"} 1
pod_status{pod_name="pod-1",status="deleting"} 0
pod_status{pod_name="pod-1",status="unknown"} 0
pod_status{pod_name="pod-2",status="not_scheduled"} 0
pod_status{pod_name="pod-2",status="scheduled"} 1
pod_status{pod_name="pod-2",status="ready"} 0
pod_status{pod_name="pod-2",status="deleting"} 0
pod_status{pod_name="pod-2",status="unknown"} 0
pod_cpu_cores{pod_name="pod-1"} 0.5
pod_memory_bytes{pod_name="pod-1"} 3221225472
pod_outbound_bytes_per_second{pod_name="pod-1"} 125000
pod_last_heartbeat_timestamp_seconds{pod_name="pod-1"} 1787227170.1234567
pod_ephemeral_storage_usage_bytes{pod_name="pod-1"} 1000
pod_ephemeral_storage_limit_bytes{pod_name="pod-1"} 10000000000
pod_rejected_outbound_connections{pod_name="pod-1"} 2
pod_rejected_outbound_connections{pod_name="pod-2"} 5
pod_outbound_connections_limit{pod_name="pod-1"} 500
pod_volume_usage_bytes{pod_name="pod-1",volume_id="vol-1"} 4000000000
pod_volume_size_bytes{pod_name="pod-1",volume_id="vol-1"} 10000000000
container_status{pod_name="pod-1",container_name="app",status="not_started"} 0
container_status{pod_name="pod-1",container_name="app",status="started"} 1
container_status{pod_name="pod-1",container_name="app",status="ready"} 0
container_status{pod_name="pod-1",container_name="app",status="unknown"} 0
container_restarts_total{pod_name="pod-1",container_name="app"} 3
container_restarts_total{pod_name="pod-2",container_name="app"} 1
container_last_exit_code{pod_name="pod-1",container_name="app"} 137
`);
  expect(page).toContain('# TYPE bunnynet_application_container_restarts_total counter\n');
  expect(page).not.toContain('secret');
});

it('shows at most 200 pods of an application, and counts the others', async () => {
  const podsOf = (region: string, length: number) => ({
    region,
    pods: Array.from({ length }, (_, at) => ({ name: `${region}-${at}`, status: 'ready', cpuUsageCores: 1 })),
  });
  const many = { regions: [podsOf('DE', 150), podsOf('SG', 75)] };
  const { rows } = await read(many);
  expect(rows.match(/^bunnynet_application_pod_cpu_cores/gm)).toHaveLength(200);
  expect(rows.match(/^bunnynet_application_pod_cpu_cores.*region="SG"/gm)).toHaveLength(50);
  expect(rows).toContain('bunnynet_application_overview_pods_left_out{app_id="HbqFNk0"} 25\n');
  expect(rows).toContain('region_pods{app_id="HbqFNk0",region="SG",status="ready"} 75\n');
  expect((await read(answer)).rows).toContain('overview_pods_left_out{app_id="HbqFNk0"} 0\n');
});

it('shows no pod with the setting pods: off, and none without a name', async () => {
  const off = await read(answer, { settings: { pods: 'off' } });
  expect(off.rows).not.toMatch(/pod-|pods_left_out/);
  const nameless = await read({ regions: [{ region: 'DE', pods: [{ status: 'ready', cpuUsageCores: 1 }] }] });
  expect(podRows(nameless.rows)).toBe('');
});

it('shows no use of a pod whose API does not give it, and a state that it does not know as unknown', async () => {
  const pod = { name: 'pod-1', status: 'hibernating', cpuUsageCores: null, volumes: null, containers: null };
  const { rows, unrecognized } = await read({ regions: [{ region: 'DE', pods: [pod] }] });
  expect(podRows(rows)).toBe(`\
pod_status{pod_name="pod-1",status="not_scheduled"} 0
pod_status{pod_name="pod-1",status="scheduled"} 0
pod_status{pod_name="pod-1",status="ready"} 0
pod_status{pod_name="pod-1",status="deleting"} 0
pod_status{pod_name="pod-1",status="unknown"} 1
`);
  expect(unrecognized).toEqual(['regions: pods.status hibernating']);
});

it('reads latencies in seconds if the configuration says so', async () => {
  const { rows } = await read(
    { targetLatency: { indicator: 0.05 } },
    { settings: { latency_unit: 'seconds' } },
  );
  expect(rows).toBe('bunnynet_application_overview_target_latency_seconds{app_id="HbqFNk0"} 0.05\n');
});

it('counts unknown states of a region as unknown', async () => {
  const { rows, unrecognized } = await read({
    regions: [{ region: 'DE', status: 'sleeping', pods: [{ status: 'dreaming' }] }],
  });
  expect(rows).toContain('region_status{app_id="HbqFNk0",region="DE",status="unknown"} 1\n');
  expect(rows).toContain('region_pods{app_id="HbqFNk0",region="DE",status="ready"} 0\n');
  expect(unrecognized).toEqual(['regions: status sleeping', 'regions: pods.status dreaming']);
});

it('leaves out null and missing fields instead of showing 0', async () => {
  const { rows, mismatched } = await read({
    desiredInstances: null,
    averageCPU: null,
    averageRAM: { indicator: null },
    regions: [
      null,
      { region: null, instances: 3 },
      { region: 'DE', pods: null },
      { region: 'SG', requests: 0 },
    ],
  });
  expect(rows).toBe(`\
bunnynet_application_overview_region_requests{app_id="HbqFNk0",region="SG"} 0
bunnynet_application_overview_pods_left_out{app_id="HbqFNk0"} 0
`);
  expect(mismatched).toEqual([]);
});

it('adds up two entries of one region, and shows its ratios and the fullest pod', async () => {
  const region = {
    region: 'DE',
    status: 'active',
    averageCPU: 20,
    averageRAM: 40,
    averageVolumesUsagePercentage: 60,
  };
  const { rows } = await read({
    regions: [
      {
        ...region,
        instances: 2,
        pods: [{ status: 'ready', ephemeralStorageUsageRatio: 0.5 }, { status: '' }],
      },
      {
        ...region,
        instances: 3,
        averageCPU: 30,
        pods: [{ status: 'vanishing', ephemeralStorageUsageRatio: 0.25 }],
      },
    ],
  });
  const of = 'app_id="HbqFNk0",region="DE"';
  for (const row of [
    `region_instances{${of}} 5`,
    `region_status{${of},status="active"} 1`,
    `region_pods{${of},status="ready"} 1`,
    `region_pods{${of},status="unknown"} 2`,
    `region_cpu_usage_ratio{${of}} 0.3`,
    `region_memory_usage_ratio{${of}} 0.4`,
    `region_volume_usage_ratio{${of}} 0.6`,
    `region_ephemeral_storage_usage_ratio{${of}} 0.5`,
  ])
    expect(rows).toContain(`bunnynet_application_overview_${row}\n`);
});
