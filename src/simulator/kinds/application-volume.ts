/** The volumes of applications and their instances (`/apps/{app}/volumes`). */
import { hourMs } from '../days.ts';
import { guid, round } from '../entities.ts';
import { applicationApi } from '../forms.ts';
import type { Kind } from '../kind.ts';
import { drift, hash, unit } from '../random.ts';
import { type Application, ofApplication } from './application.ts';
import { type Applications, podOf, regionsOf } from './application-overview.ts';

export const applicationVolume = {
  kind: 'application_volume',
  ...applicationApi,
  path: '/apps/{app}/volumes',
  traits: { field: 'items', list: true, ids: ['id', 'name'], number: 'size', states: ['status'] },
  answers: ({ applications }) => ofApplication(applications, 'volumes', volumes),
  section: 'application_volumes',
  targets: ({ applications }) => applications.map(({ id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, Applications>;

function volumes(one: Application, nowMs: number): unknown {
  const items = volumesOf(one, nowMs);
  const instances = items.reduce((sum, { totalInstancesCount }) => sum + totalInstancesCount, 0);
  return {
    items,
    meta: { totalItems: items.length },
    // Beside all of them a cursor leads nowhere.
    cursor: one.index % 6 === 5 ? 'bmV4dA' : null,
    summary: { totalPods: instances, totalContainers: instances, totalStorage: one.volumeGb },
  };
}

/** Every third application has one volume, the others have two, sometimes with the same name. */
function volumesOf(one: Application, nowMs: number) {
  const { seed, index, volumeGb } = one;
  const names = index % 3 === 0 ? ['data'] : ['data', index % 6 === 5 ? 'data' : 'cache'];
  return names.map((name, place) => {
    const size = round(Math.max(1, volumeGb / names.length), 1);
    const volumeInstances = regionsOf(one).map((region, regionIndex) => ({
      id: guid(hash(seed, place, regionIndex)),
      attachedPods: [podOf(one, regionIndex, 0, nowMs).name],
      attachedContainers: ['app'],
      region,
      status: unit(seed, place, Math.floor(nowMs / hourMs)) < 0.1 ? 'detached' : 'attached',
      size,
      usage: round(size * unit(seed, place, 7), 2),
      set: 'default',
    }));
    return {
      name,
      id: guid(hash(seed, place, 0x99)),
      size,
      totalUsage: round(size * (0.2 + 0.7 * drift(hash(seed, place), nowMs, 24 * hourMs)), 2),
      totalInstancesCount: volumeInstances.length,
      attachedInstancesCount: volumeInstances.filter(({ status }) => status === 'attached').length,
      containersCount: 1,
      volumeInstances,
    };
  });
}
