/** How much of a Shield Zone's access lists is used, and how old they are (`/shield/shield-zone/{zone}/access-lists`). */
import { defineResource } from '../define.ts';
import { besideError } from '../envelope.ts';
import { count, lowestOf, shown } from '../families.ts';
import { boolean, instant, listOf, object } from '../fields.ts';
import { zones } from './shield-zone.ts';

const unread = `listId configurationId name description type category action requiredPlan entryCount updateFrequency`;

const managedLists = shown(listOf(object({ isEnabled: boolean, lastUpdated: instant }, unread)), {
  name: 'oldest_update_timestamp_seconds',
  words:
    'When the enabled managed list was updated whose last update is the longest ago, as Unix time; nothing while none is enabled (%s, lastUpdated and isEnabled)',
  series: (all) => lowestOf(all.map((one) => (one?.isEnabled ? one.lastUpdated : undefined))),
});

const lists = object({
  customEntryCount: count('custom_entries', 'Entries that the custom access lists have together'),
  customEntryLimit: count('custom_entries_limit', 'Entries that the plan allows them'),
  customListCount: count('custom_lists', 'Number of custom access lists'),
  customListLimit: count('custom_lists_limit', 'Custom access lists that the plan allows'),
  managedLists,
}).ignoring(`customLists[isEnabled lastUpdated ${unread}]`);

export const shieldAccessLists = defineResource({
  kind: 'shield_access_lists',
  noun: 'Shield access lists',
  defaultIntervalSeconds: 3600,
  listing: zones,
  path: '/shield/shield-zone/{shieldZoneId}/access-lists',
  answer: besideError(lists),
});
