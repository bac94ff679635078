import { describe, expect, it } from 'vitest';
import type { TargetStatus } from '../../src/polling/target-task.ts';
import type { StatusQuery } from '../../src/status/query.ts';
import { buildView } from '../../src/status/view.ts';
import { calm, causeInput, everything, failing, kinds, nowMs, status, tallyOf } from './fixtures.ts';

const one = status({ app_id: 'one' }, { name: 'Storefront', lastSuccessMs: nowMs - 60_000 });
const two = failing({ app_id: 'two' }, { name: 'basket', stale: true, lastSuccessMs: nowMs - 600_000 });
const three = failing({ shield_zone_id: '3' }, { kind: 'shield_zone', result: 'auth', message: 'HTTP 401' });
const four = status(
  { library_id: '4711', video_id: '0f8c' },
  { kind: 'video_storage', state: 'pending', lastSuccessMs: undefined, lastDurationSeconds: undefined },
);
const five = status(
  { shield_zone_id: '5' },
  { kind: 'shield_zone', state: 'absent', lastSuccessMs: undefined },
);
const all = [one, two, three, four, five];

const nextPolls = new Map([
  [one, 5000],
  [two, 0],
  [four, 9000],
]);

function look(query: Partial<StatusQuery>, statuses: readonly TargetStatus[] = all) {
  const sources = {
    kinds,
    telemetryPath: '/metrics',
    accounts: () => ['account'],
    exporterStatus: () => calm,
    causeInput: () => causeInput(statuses),
    targets: () => statuses,
    listings: () => [],
    tallies: () => tallyOf(statuses),
    nextPollInMs: (each: TargetStatus) => nextPolls.get(each),
  };
  return buildView(sources, { ...everything, ...query }, nowMs);
}

async function find(query: Partial<StatusQuery>, statuses?: readonly TargetStatus[]) {
  return (await look(query, statuses)).matching;
}

describe('a query of the targets', () => {
  it('counts every target by kind and state, whatever is asked for', async () => {
    const view = await look({ text: 'nothing' });
    expect(view.counts).toEqual({
      targets: 5,
      ok: 1,
      failing: 2,
      absent: 1,
      pending: 1,
      lacking: 0,
      stale: 1,
    });
    expect(view.kinds.map(({ kind }) => kind)).toEqual(kinds.map(({ kind }) => kind));
    const late = status({ app_id: 'late' }, { state: 'stale', stale: true });
    expect((await look({}, [one, late])).counts).toMatchObject({ targets: 2, ok: 1, failing: 0, stale: 1 });
    const shield = view.kinds.find(({ kind }) => kind === 'shield_zone');
    expect(shield?.counts).toEqual({
      targets: 2,
      ok: 0,
      failing: 1,
      absent: 1,
      pending: 0,
      lacking: 0,
      stale: 0,
    });
  });

  it('puts the worst first: failing with stale values, failing, absent, stale, pending, ok', async () => {
    const late = status({ app_id: 'late' }, { state: 'stale', stale: true });
    expect(await find({}, [...all, late])).toEqual([two, three, five, late, four, one]);
  });

  it('sorts by every column, with empty values last in either direction', async () => {
    expect((await find({ sort: 'name' })).slice(0, 2)).toEqual([three, four]);
    expect((await find({ sort: 'last_success' })).slice(0, 2)).toEqual([two, one]);
    expect((await find({ sort: 'last_success' })).slice(3)).toEqual([four, five]);
    expect((await find({ sort: 'last_success', descending: true })).slice(3)).toEqual([four, five]);
    expect((await find({ sort: 'next_poll' })).slice(0, 3)).toEqual([two, one, four]);
    expect((await find({ sort: 'next_poll', descending: true })).slice(0, 3)).toEqual([four, one, two]);
    expect((await find({ sort: 'duration' })).at(-1)).toBe(four);
    expect((await find({ sort: 'kind', descending: true }))[0]).toBe(four);
  });

  it('counts the states from the API by kind, and sorts the worst first among healthy targets', async () => {
    const active = status({ app_id: 'a' }, { condition: 'active' });
    const none = status({ shield_zone_id: '1' }, { kind: 'shield_zone' });
    const suspended = status({ app_id: 'b' }, { condition: 'suspended' });
    const ill = status({ app_id: 'c' }, { condition: 'failing' });
    const statuses = [active, none, suspended, ill, three];
    const view = await look({}, statuses);
    expect(view.kinds.map(({ reported }) => [...reported])).toEqual([
      [
        ['failing', 1],
        ['suspended', 1],
        ['active', 1],
      ],
      [],
      [],
    ]);
    expect(await find({}, statuses)).toEqual([three, ill, suspended, active, none]);
    expect(await find({ text: 'suspended' }, statuses)).toEqual([suspended]);
  });

  it('filters by kind and by state, including stale', async () => {
    expect(await find({ kinds: ['shield_zone'] })).toEqual([three, five]);
    expect(await find({ kinds: ['shield_zone', 'video_storage'], states: ['failing', 'pending'] })).toEqual([
      three,
      four,
    ]);
    expect(await find({ states: ['stale'] })).toEqual([two]);
    expect(await find({ states: ['ok', 'stale'] })).toEqual([two, one]);
  });

  it('finds words in names, ids, kinds, credentials and reasons, ignoring case', async () => {
    expect(await find({ text: 'STORE' })).toEqual([one]);
    expect(await find({ text: '4711/0f' })).toEqual([four]);
    expect(await find({ text: '401 shield' })).toEqual([three]);
    expect(await find({ text: '401 storefront' })).toEqual([]);
  });

  it('finds exactly the targets of a state that the API reports, also if another state contains its name', async () => {
    const active = status({ app_id: 'a' }, { condition: 'active' });
    const inactive = status({ app_id: 'b' }, { condition: 'inactive' });
    expect(await find({ conditions: ['active'] }, [active, inactive])).toEqual([active]);
    expect(await find({ text: 'active' }, [active, inactive])).toEqual([active, inactive]);
  });
});
