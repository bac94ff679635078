import { expect, it } from 'vitest';
import { applicationOverview } from '../../src/resources/application-overview.ts';
import { type About, type Body, expose } from './expose.ts';

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
  regions: [
    {
      region: 'DE',
      instances: 2,
      status: 'Active',
      requests: 1204,
      anycastTraffic: 5000000,
      pods: [
        {
          name: 'pod-1',
          status: 'ready',
          outboundConnectionsRejectedDiff: 2,
          containers: [
            { name: 'app', numberOfRestarts: 3 },
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
    { region: 'SG', instances: 1, status: 'progressing' },
  ],
};

it('shows what the application runs, in total and by region, with its pods added up', async () => {
  const { rows, asked } = await read(answer);
  expect(asked).toEqual(['/apps/HbqFNk0/overview']);
  expect(rows).toBe(`\
bunnynet_application_overview_desired_instances{app_id="HbqFNk0"} 4
bunnynet_application_overview_active_instances{app_id="HbqFNk0"} 3
bunnynet_application_overview_active_regions{app_id="HbqFNk0"} 2
bunnynet_application_overview_cpu_usage_ratio{app_id="HbqFNk0"} 0.125
bunnynet_application_overview_memory_usage_ratio{app_id="HbqFNk0"} 0.7
bunnynet_application_overview_volume_usage_ratio{app_id="HbqFNk0"} 0.915
bunnynet_application_overview_target_latency_seconds{app_id="HbqFNk0"} 0.05
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
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",state="notScheduled"} 0
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",state="scheduled"} 1
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",state="ready"} 1
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",state="deleting"} 0
bunnynet_application_overview_region_pods{app_id="HbqFNk0",region="DE",state="unknown"} 0
bunnynet_application_overview_region_container_restarts{app_id="HbqFNk0",region="DE",container_name="app"} 4
bunnynet_application_overview_region_rejected_outbound_connections{app_id="HbqFNk0",region="DE"} 7
`);
});

it('keeps the same series when pods come and go', async () => {
  const [germany, singapore] = answer.regions;
  const pods = germany?.pods?.map((pod) => ({ ...pod, name: `${pod.name}-new` }));
  const { rows } = await read({ ...answer, regions: [{ ...germany, pods }, singapore] });
  expect(rows).toBe((await read(answer)).rows);
  expect(rows).not.toContain('pod-');
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
  expect(rows).toContain('region_pods{app_id="HbqFNk0",region="DE",state="ready"} 0\n');
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
  expect(rows).toBe('bunnynet_application_overview_region_requests{app_id="HbqFNk0",region="SG"} 0\n');
  expect(mismatched).toEqual([]);
});

it('leaves out only the fields of the wrong type, and notes their names', async () => {
  const { rows, mismatched } = await read({
    desiredInstances: '4',
    averageCPU: 12,
    regions: ['DE', { region: 'SG', instances: 1.5, requests: 7, pods: [{ status: 3, containers: {} }] }],
  });
  expect(rows.replaceAll(/^.*region_pods.*\n/gm, '')).toBe(
    'bunnynet_application_overview_region_requests{app_id="HbqFNk0",region="SG"} 7\n',
  );
  expect(new Set(mismatched)).toEqual(new Set(['desiredInstances', 'averageCPU', 'regions']));
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
    `region_pods{${of},state="ready"} 1`,
    `region_pods{${of},state="unknown"} 2`,
    `region_cpu_usage_ratio{${of}} 0.3`,
    `region_memory_usage_ratio{${of}} 0.4`,
    `region_volume_usage_ratio{${of}} 0.6`,
    `region_ephemeral_storage_usage_ratio{${of}} 0.5`,
  ])
    expect(rows).toContain(`bunnynet_application_overview_${row}\n`);
});
