/** Between how many instances applications scale (`/apps/{app}/autoscaling`). */
import { ofEach } from '../answers.ts';
import { hash } from '../entities.ts';
import { applicationApi } from '../forms.ts';
import { type Kind, ok } from '../kind.ts';
import type { Application } from './application.ts';
import { perRegionOf } from './application-overview.ts';

export const applicationAutoscaling = {
  kind: 'application_autoscaling',
  section: 'application_autoscaling',
  ...applicationApi,
  path: '/apps/{app}/autoscaling',
  traits: { isStill: true, integer: 'max' },
  // Some are at their maximum, and a few of those do not scale.
  ...ofEach('applications', (one: Application) => {
    const instances = perRegionOf(one);
    const room = hash(one.seed, 0x55) % 4;
    return ok({ min: hash(one.seed, 0x56) % 5 === 0 ? instances : 1, max: instances + room });
  }),
} as const satisfies Kind;
