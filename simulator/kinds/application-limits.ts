/** How many applications the account has and may have (`/limits`). */
import { ofAccount } from '../answers.ts';
import { applicationApi } from '../forms.ts';
import type { Kind } from '../kind.ts';
import type { Applications } from './application.ts';

export const applicationLimits = {
  kind: 'application_limits',
  section: 'application_limits',
  ...applicationApi,
  path: '/limits',
  traits: { isStill: true, integer: 'maxNumberOfApplications' },
  ...ofAccount(({ applications }: Applications, { isRemoved }) => ({
    maxNumberOfApplications: Math.max(20, 2 * applications.length),
    existingNumberOfApplications: applications.filter(({ id }) => !isRemoved(id)).length,
    maxNumberOfRegionsPerApplication: null,
    maxNumberOfInstancesPerRegion: 10,
    maxNumberOfInstancesPerApplication: 40,
    maxNumberOfVolumesPerApplication: 4,
    maxVolumeSize: 400,
    maxCpuMilliCoresPerPod: 8_000,
    maxMemoryBytesPerPod: 32 * 2 ** 30,
  })),
} as const satisfies Kind;
