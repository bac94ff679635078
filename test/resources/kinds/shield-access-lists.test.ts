import { expect, it } from 'vitest';
import { shieldAccessLists } from '../../../src/resources/kinds/shield-access-lists.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(shieldAccessLists, answer, { ids: { shield_zone_id: '501' } });

it('shows how much of the access lists is used, and the oldest of the lists that are enabled', async () => {
  const { rows, asked } = await read({
    managedLists: [
      { listId: 1, name: 'VPN', isEnabled: false, lastUpdated: '2026-01-01T00:00:00Z' },
      { listId: 2, isEnabled: true, lastUpdated: '2026-08-20T06:00:00Z' },
      { listId: 3, isEnabled: true, lastUpdated: '2026-08-19T06:00:00' },
      { listId: 4, isEnabled: true, lastUpdated: '0001-01-01T00:00:00' },
    ],
    customLists: [{ listId: 5, isEnabled: true, lastUpdated: '2025-01-01T00:00:00Z', entryCount: 3 }],
    customEntryCount: 3,
    customEntryLimit: 5000,
    customListCount: 1,
    customListLimit: 10,
    error: { statusCode: 0, success: false, message: null, errorKey: null },
  });
  const perList = `\
list_enabled{list_id="5"} 1
list_enabled{list_id="1"} 0
list_enabled{list_id="2"} 1
list_enabled{list_id="3"} 1
list_enabled{list_id="4"} 1
list_entries{list_id="5"} 3
`;
  expect(asked).toEqual(['/shield/shield-zone/501/access-lists']);
  expect(
    rows
      .replaceAll(/shield_zone_id="501",?/g, '')
      .replaceAll('{}', '')
      .replaceAll('bunnynet_shield_access_lists_', ''),
  ).toBe(`\
custom_entries 3
custom_entries_limit 5000
custom_lists 1
custom_lists_limit 10
oldest_update_timestamp_seconds 1787119200
${perList}`);
});

it('has series of at most 50 lists of a zone, the custom ones first', async () => {
  const all = (from: number) =>
    Array.from({ length: 40 }, (_, index) => ({ listId: from + index, isEnabled: true, entryCount: index }));
  const { rows } = await read({ managedLists: all(100), customLists: all(200) });
  const ids = [...rows.matchAll(/list_enabled\{.*list_id="(\d+)"/g)].map(([, id]) => Number(id));
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([50, 200, 109]);
});
