/** The volumes of applications and their instances (`/apps/{app}/volumes`). */
import { ofEach } from '../answers.ts';
import { hourMs } from '../days.ts';
import { drift, guid, hash, round, unit } from '../entities.ts';
import { applicationApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { Application } from './application.ts';
import { podOf, regionsOf } from './application-overview.ts';

export const applicationVolume = {
  kind: 'application_volume',
  section: 'application_volumes',
  ...applicationApi,
  path: '/apps/{app}/volumes',
  traits: { field: 'items', ids: ['id', 'name'], number: 'size', status: true },
  ...ofEach('applications', volumes),
} as const satisfies Kind;

/** Every third application has one volume, the others have two, sometimes with the same name. */
function volumes(one: Application, { nowMs }: Request) {
  const { seed, index, volumeGb } = one;
  const names = index % 3 === 0 ? ['data'] : ['data', index % 6 === 5 ? 'data' : 'cache'];
  const size = round(Math.max(1, volumeGb / names.length), 1);
  const items = names.map((name, place) => ({
    name,
    id: guid(hash(seed, place, 0x99)),
    size,
    totalUsage: round(size * (0.2 + 0.7 * drift(hash(seed, place), nowMs, 24 * hourMs)), 2),
    containersCount: 1,
    volumeInstances: regionsOf(one).map((region, order) => ({
      id: guid(hash(seed, place, order)),
      attachedPods: [podOf(one, order, 0, nowMs).name],
      region,
      status: unit(seed, place, Math.floor(nowMs / hourMs)) < 0.1 ? 'detached' : 'attached',
      size,
      usage: round(size * unit(seed, place, 7), 2),
    })),
  }));
  // All volumes are on one page; some answers have a cursor all the same.
  return ok({ items, meta: { totalItems: items.length }, cursor: index % 6 === 5 ? 'bmV4dA' : null });
}
