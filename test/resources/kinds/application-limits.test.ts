import { expect, it } from 'vitest';
import { applicationLimits } from '../../../src/resources/kinds/application-limits.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(applicationLimits, answer, { ids: { account: 'main' } });

it('shows how many applications exist, and the limits on number and size', async () => {
  const { rows, asked } = await read({
    maxNumberOfApplications: 20,
    existingNumberOfApplications: 7,
    maxNumberOfRegionsPerApplication: 41,
    maxNumberOfInstancesPerRegion: 10,
    maxNumberOfInstancesPerApplication: 40,
    maxNumberOfVolumesPerApplication: 4,
    maxVolumeSize: 400,
    maxCpuMilliCoresPerPod: 8500,
    maxMemoryBytesPerPod: 34359738368,
  });
  expect(asked).toEqual(['/limits']);
  expect(rows).toBe(`\
bunnynet_application_limits_applications{account="main"} 7
bunnynet_application_limits_max_applications{account="main"} 20
bunnynet_application_limits_max_regions_per_application{account="main"} 41
bunnynet_application_limits_max_instances_per_region{account="main"} 10
bunnynet_application_limits_max_instances_per_application{account="main"} 40
bunnynet_application_limits_max_volumes_per_application{account="main"} 4
bunnynet_application_limits_max_volume_size_bytes{account="main"} 400000000000
bunnynet_application_limits_max_cpu_cores_per_instance{account="main"} 8.5
bunnynet_application_limits_max_memory_bytes_per_instance{account="main"} 34359738368
`);
});
