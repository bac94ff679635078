/** How many Magic Containers applications an account has and may have, and how large they may be (`/limits`). */
import { defineResource } from '../define.ts';
import { count, gauge } from '../families.ts';
import { divided, gigabytes, integer, mapped, object } from '../fields.ts';

const milli = mapped(integer, (value) => divided(value, 1000));

export const applicationLimits = defineResource({
  kind: 'application_limits',
  product: 'Magic Containers',
  api: 'application',
  noun: 'account limits',
  ofAccount: true,
  optionalProduct: 'api',
  defaultIntervalSeconds: 3600,
  path: '/limits',
  answer: object({
    existingNumberOfApplications: count('applications', 'Applications of the account'),
    maxNumberOfApplications: count('max_applications', 'Maximum number of applications of the account'),
    maxNumberOfRegionsPerApplication: count(
      'max_regions_per_application',
      'Maximum number of regions of an application',
    ),
    maxNumberOfInstancesPerRegion: count(
      'max_instances_per_region',
      'Maximum number of instances in a region',
    ),
    maxNumberOfInstancesPerApplication: count(
      'max_instances_per_application',
      'Maximum number of instances of an application',
    ),
    maxNumberOfVolumesPerApplication: count(
      'max_volumes_per_application',
      'Maximum number of volumes of an application',
    ),
    maxVolumeSize: gauge(
      'max_volume_size_bytes',
      'Maximum size of a volume, assuming that the API reports gigabytes (%s, times 1e9)',
      gigabytes,
    ),
    maxCpuMilliCoresPerPod: gauge(
      'max_cpu_cores_per_instance',
      'Maximum number of CPU cores of an instance (%s, divided by 1000)',
      milli,
    ),
    maxMemoryBytesPerPod: count('max_memory_bytes_per_instance', 'Maximum memory of an instance in bytes'),
  }),
});
