/** The access lists of Shield Zones: those of the vendor, and their own (`/shield/shield-zone/{zone}/access-lists`). */
import { dayMs, hourMs, secondOf } from '../days.ts';
import { count, hash } from '../entities.ts';
import { noError, shieldApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { ofZone, type Zone } from './shield-zone.ts';

export const shieldAccessLists = {
  kind: 'shield_access_lists',
  section: 'shield_access_lists',
  ...shieldApi,
  path: '/shield/shield-zone/{zone}/access-lists',
  traits: { integer: 'customListCount' },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofZone(lists),
} as const satisfies Kind;

const managed = ['VPN providers', 'Data centres', 'Tor exit nodes', 'Search engine crawlers'] as const;
const listLimits = [1, 5, 10, 25] as const;
const entryLimits = [100, 1_000, 5_000, 20_000] as const;

/** The answer has no `data`: its fields are beside `error`. A plan without custom lists has null for their limits. */
function lists({ seed, index, planType }: Zone, { nowMs }: Request) {
  const listLimit = listLimits[planType] ?? 0;
  const customLists = count(hash(seed, 0x61) % (listLimit + 1), (place) => ({
    listId: 7_000 + 10 * index + place,
    name: `office-${place + 1}`,
    description: null,
    isEnabled: true,
    type: 0,
    category: 0,
    action: 2,
    entryCount: hash(seed, place, 0x62) % 40,
    lastUpdated: secondOf(nowMs - (hash(seed, place, 0x63) % 400) * dayMs),
  }));
  return ok({
    managedLists: managed.map((name, place) => ({
      listId: place + 1,
      configurationId: hash(seed, place) % 2 === 0 ? 90_000 + place : null,
      name,
      description: 'A list that the vendor keeps',
      isEnabled: hash(seed, place) % 2 === 0,
      type: 1,
      category: 2 ** place,
      action: 2,
      requiredPlan: 1,
      entryCount: 4_000 + (hash(seed, place, 0x64) % 9_000),
      updateFrequency: 'Daily',
      // The vendor writes this date for a list that was never filled.
      lastUpdated:
        place === 3 ? '0001-01-01T00:00:00' : `${secondOf(nowMs - (nowMs % dayMs) - place * hourMs)}Z`,
    })),
    customLists: customLists.length === 0 ? null : customLists,
    customEntryCount: customLists.reduce((sum, { entryCount }) => sum + entryCount, 0),
    customEntryLimit: planType === 0 ? null : entryLimits[planType],
    customListCount: customLists.length,
    customListLimit: planType === 0 ? null : listLimit,
    ...(seed % 2 === 0 && { error: noError }),
  });
}
