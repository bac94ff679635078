/** How much of a Shield Zone's access lists is used, and how old they are (`/shield/shield-zone/{zone}/access-lists`). */
import { defineResource } from '../define.ts';
import { besideError } from '../envelope.ts';
import { count, type FamilyOf, lowestOf, shown } from '../families.ts';
import { boolean, id, instant, integer, listOf, object, type ValueOf } from '../fields.ts';
import { zones } from './shield-zone.ts';

const maxLists = 50;

/** What visitors are matched with is not read. */
const accessList = object({
  listId: id,
  isEnabled: boolean,
  entryCount: integer,
  lastUpdated: instant,
}).ignoring('configurationId name description type category action requiredPlan updateFrequency');
type AccessList = ValueOf<typeof accessList>;

interface Lists {
  readonly managedLists?: readonly (AccessList | undefined)[] | undefined;
  readonly customLists?: readonly (AccessList | undefined)[] | undefined;
}

/** A figure of each list, the custom lists first: at most 50 of a zone. */
function ofEachList(name: string, words: string, figure: (one: AccessList) => number | undefined) {
  const family: FamilyOf<Lists> = {
    name,
    words: `${words}; at most ${maxLists} lists of a zone, the custom ones first`,
    fields: ['customLists', 'managedLists'],
    labels: ['list_id'],
    comesAndGoes: true,
    series: ({ customLists = [], managedLists = [] }) =>
      [...customLists, ...managedLists]
        .flatMap((one) => {
          const value = one && figure(one);
          return one?.listId === undefined || value === undefined
            ? []
            : [{ labels: { list_id: one.listId }, value }];
        })
        .slice(0, maxLists),
  };
  return family;
}

const managedLists = shown(listOf(accessList), {
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
  customLists: listOf(accessList),
});

export const shieldAccessLists = defineResource({
  kind: 'shield_access_lists',
  noun: 'Shield access lists',
  defaultIntervalSeconds: 3600,
  listing: zones,
  path: '/shield/shield-zone/{shieldZoneId}/access-lists',
  answer: besideError(lists),
  families: (own) => [
    ...own,
    ofEachList(
      'list_enabled',
      'Whether each access list is enabled: 1 yes, 0 no (%s, isEnabled)',
      ({ isEnabled }) => (isEnabled === undefined ? undefined : Number(isEnabled)),
    ),
    ofEachList(
      'list_entries',
      'Entries of each access list (%s, entryCount)',
      ({ entryCount }) => entryCount,
    ),
  ],
});
