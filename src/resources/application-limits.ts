/** How many Magic Containers applications an account has and may have, and how large they may be (`/limits`). */
import { defineResource } from './define.ts';
import { count, gauge } from './families.ts';
import { gigabytes, object } from './fields.ts';

export const applicationLimits = defineResource({
  kind: 'application_limits',
  product: 'Magic Containers',
  api: 'application',
  noun: 'limits of the account',
  ofAccount: true,
  defaultIntervalSeconds: 3600,
  path: '/limits',
  answer: object({
    existingNumberOfApplications: count('applications', 'Applications that the account has'),
    maxNumberOfApplications: count('max_applications', 'Applications that the account may have'),
    maxNumberOfRegionsPerApplication: count(
      'max_regions_per_application',
      'Regions that an application may have',
    ),
    maxNumberOfInstancesPerRegion: count('max_instances_per_region', 'Instances that a region may have'),
    maxNumberOfInstancesPerApplication: count(
      'max_instances_per_application',
      'Instances that an application may have',
    ),
    maxNumberOfVolumesPerApplication: count(
      'max_volumes_per_application',
      'Volumes that an application may have',
    ),
    maxVolumeSize: gauge(
      'max_volume_size_bytes',
      'Size that a volume may have, taking what the API reports as gigabytes (%s, times 1e9)',
      gigabytes,
    ),
  }),
});
