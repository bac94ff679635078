/** How many Magic Containers applications an account has and may have, and how large they may be (`/limits`). */
import { integer, object, readFields, type ValueOf } from './fields.ts';
import { defineResource, familiesOf } from './resource.ts';

const limits = object({
  existingNumberOfApplications: integer,
  maxNumberOfApplications: integer,
  maxNumberOfRegionsPerApplication: integer,
  maxNumberOfInstancesPerRegion: integer,
  maxNumberOfInstancesPerApplication: integer,
  maxNumberOfVolumesPerApplication: integer,
  maxVolumeSize: integer,
});

export type ApplicationLimitsReading = ValueOf<typeof limits>;

const { gauge } = familiesOf<ApplicationLimitsReading>('bunnynet_application_limits');

const figures = [
  ['applications', 'existingNumberOfApplications', 'Applications that the account has'],
  ['max_applications', 'maxNumberOfApplications', 'Applications that the account may have'],
  ['max_regions_per_application', 'maxNumberOfRegionsPerApplication', 'Regions that an application may have'],
  ['max_instances_per_region', 'maxNumberOfInstancesPerRegion', 'Instances that a region may have'],
  [
    'max_instances_per_application',
    'maxNumberOfInstancesPerApplication',
    'Instances that an application may have',
  ],
  ['max_volumes_per_application', 'maxNumberOfVolumesPerApplication', 'Volumes that an application may have'],
] as const;

export const applicationLimits = defineResource({
  kind: 'application_limits',
  api: 'application',
  reference: 'GET /limits',
  noun: "account's limits of applications",
  section: 'application_limits',
  ids: [{ label: 'account', setting: 'account', form: 'opaque' }],
  defaultIntervalSeconds: 3600,
  fields: limits.names,
  ofAccount: true,

  async read(get, _ids, diagnostics): Promise<ApplicationLimitsReading> {
    return readFields(limits, await get('/limits'), diagnostics);
  },

  families: [
    ...figures.map(([name, field, words]) =>
      gauge(name, `${words} (API field ${field}).`, (reading) => reading[field] ?? undefined),
    ),
    gauge(
      'max_volume_size_bytes',
      'Size that a volume may have, taking what the API reports as gigabytes (API field maxVolumeSize, times 1e9).',
      ({ maxVolumeSize }) => (typeof maxVolumeSize === 'number' ? maxVolumeSize * 1e9 : undefined),
    ),
  ],
});
