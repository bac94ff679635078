/** How many applications an account has and may have, and how large they may be. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { values } from '../promql.ts';
import { grid } from '../tables.ts';
import { account, accountDashboard } from './billing.ts';

const limit = (name: string): string => values(account, `bunnynet_application_limits_${name}`);

export const applicationLimits: KindMonitoring = {
  kind: 'application_limits',
  rows: [
    row(accountDashboard, 'Limits', [
      grid('Applications', 'short', 24, {
        description:
          'Applications that an account has and may have, and what each may have (API fields existingNumberOfApplications, maxNumberOfApplications, maxNumberOfRegionsPerApplication, maxNumberOfInstancesPerRegion, maxNumberOfInstancesPerApplication, maxNumberOfVolumesPerApplication, maxVolumeSize, maxCpuMilliCoresPerPod, maxMemoryBytesPerPod, as they are now).',
        height: 5,
        entity: account,
        rows: `topk(100, ${limit('applications')})`,
        columns: [
          { title: 'Applications', expr: limit('applications') },
          { title: 'Allowed', expr: limit('max_applications') },
          { title: 'Regions/app', expr: limit('max_regions_per_application') },
          { title: 'Instances/region', expr: limit('max_instances_per_region') },
          { title: 'Instances/app', expr: limit('max_instances_per_application') },
          { title: 'Volumes/app', expr: limit('max_volumes_per_application') },
          { title: 'Volume size', expr: limit('max_volume_size_bytes'), unit: 'decbytes' },
          { title: 'Cores/instance', expr: limit('max_cpu_cores_per_instance') },
          { title: 'Memory/instance', expr: limit('max_memory_bytes_per_instance'), unit: 'decbytes' },
        ],
      }),
    ]),
  ],
};
