/** How many applications the account has and may have (`/limits`). */
import { applicationApi } from '../forms.ts';
import { type Kind, ok } from '../kind.ts';
import type { Applications } from './application-overview.ts';

export const applicationLimits = {
  kind: 'application_limits',
  ...applicationApi,
  path: '/limits',
  traits: { isStill: true, number: 'maxNumberOfApplications', wholeNumbers: true },
  answers:
    ({ applications }) =>
    ({ isRemoved }) =>
      ok({
        maxNumberOfApplications: Math.max(20, 2 * applications.length),
        existingNumberOfApplications: applications.filter(({ id }) => !isRemoved(id)).length,
        maxNumberOfRegionsPerApplication: null,
        maxNumberOfInstancesPerRegion: 10,
        maxNumberOfInstancesPerApplication: 40,
        maxNumberOfVolumesPerApplication: 4,
        maxVolumeSize: 400,
      }),
  section: 'application_limits',
  targets: () => [{ ids: {} }],
} as const satisfies Kind<unknown, object, Applications>;
