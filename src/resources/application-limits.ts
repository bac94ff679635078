/** How many Magic Containers applications an account has and may have, and how large they may be (`/limits`). */
import { gauge } from './families.ts';
import { gigabytes, integer, object } from './fields.ts';
import { defineResource } from './resource.ts';

const limits = object({
  existingNumberOfApplications: gauge('applications', integer, 'Applications that the account has'),
  maxNumberOfApplications: gauge('max_applications', integer, 'Applications that the account may have'),
  maxNumberOfRegionsPerApplication: gauge(
    'max_regions_per_application',
    integer,
    'Regions that an application may have',
  ),
  maxNumberOfInstancesPerRegion: gauge(
    'max_instances_per_region',
    integer,
    'Instances that a region may have',
  ),
  maxNumberOfInstancesPerApplication: gauge(
    'max_instances_per_application',
    integer,
    'Instances that an application may have',
  ),
  maxNumberOfVolumesPerApplication: gauge(
    'max_volumes_per_application',
    integer,
    'Volumes that an application may have',
  ),
  maxVolumeSize: gauge(
    'max_volume_size_bytes',
    gigabytes,
    'Size that a volume may have, taking what the API reports as gigabytes (%s, times 1e9)',
  ),
});

export const applicationLimits = defineResource({
  kind: 'application_limits',
  product: 'Magic Containers',
  api: 'application',
  reference: 'GET /limits',
  noun: 'limits of the account',
  ofAccount: true,
  defaultIntervalSeconds: 3600,
  answer: limits,
  path: () => '/limits',
});
