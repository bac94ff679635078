import { expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { type Route, reply, startWhole, type Whole } from './whole.ts';

const minuteMs = 60_000;
/** Long enough for three lists of pull zones; two decide. */
const longMs = runs(31, 60) * minuteMs;

/** A page of zones: each with the id of its pull zone. Shield keeps those whose pull zone is gone. */
const zonesOf =
  (...zones: readonly (readonly [id: number, pullZone: number, more?: object])[]): Route =>
  () => ({
    data: zones.map(([shieldZoneId, pullZoneId, more]) => ({
      shieldZoneId,
      pullZoneId,
      wafEnabled: false,
      ...more,
    })),
    page: { totalCount: zones.length, totalPages: 1, currentPage: 1, nextPage: 2, pageSize: 100 },
  });

const pullZonesOf =
  (...ids: readonly number[]): Route =>
  () => ({
    Items: ids.map((Id) => ({ Id, Name: `zone-${Id}` })),
    TotalItems: ids.length,
    HasMoreItems: false,
  });

const overage = '/shield/metrics/overages/';

async function start(document: object = {}, pullZones = pullZonesOf(7)) {
  const whole = await startWhole({
    document: {
      discovery: { interval: '10m' },
      shield_zones: { targets: 'all', interval: '5m' },
      shield_overage: { targets: 'all', interval: '5m' },
      ...document,
    },
    routes: {
      '/shield/shield-zones': zonesOf([501, 7], [502, 8]),
      '/pullzone': pullZones,
      '*': ({ path }) => (path.startsWith(overage) ? { totalOverage: 1 } : reply(404)),
    },
  });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  return whole;
}

/** The ids of the zones that are read, by kind. */
const read = ({ exporter }: Whole) =>
  exporter
    .targets()
    .map(({ target }) => `${target.kind} ${target.ids['shield_zone_id']}`)
    .sort();

const both = ['shield_overage 501', 'shield_overage 502', 'shield_zone 501', 'shield_zone 502'];
const rest = ['shield_overage 501', 'shield_zone 501'];

it('a zone whose pull zone is lacking in two complete lists is left out of every kind, and said once', async () => {
  const whole = await start();
  expect(read(whole)).toEqual(both);
  // The first list was begun before Shield listed the zone: it counts for nothing.
  await whole.pass(11 * minuteMs);
  expect(read(whole)).toEqual(both);
  await whole.pass(11 * minuteMs);
  expect(read(whole)).toEqual(rest);
  const asked = () => whole.requests.filter(({ path }) => path === `${overage}502`).length;
  const before = asked();
  await whole.pass(runs(11, 60) * minuteMs);
  expect(asked()).toBe(before);
  expect(whole.said('left out: its pull zone').map(({ msg, level }) => [msg, level])).toEqual([
    ['1 Shield Zone of account is left out: its pull zone is gone, and the API lists it for ever', 30],
  ]);
  expect((await whole.get('/')).body).toContain('and 1 whose pull zones are gone');
  expect((await whole.get('/api/v1/targets')).body).toContain('"orphans":1');
  expect(await whole.value('bunnynet_shield_zone_up', { shield_zone_id: '502' })).toBe(undefined);
});

it('a new pull zone that Shield lists first is never left out', async () => {
  const whole = await start();
  // It is in the list of pull zones from the second one on that is begun after Shield listed it.
  await whole.pass(11 * minuteMs);
  whole.routes['/pullzone'] = pullZonesOf(7, 8);
  await whole.pass(longMs);
  expect(read(whole)).toEqual(both);
  expect(whole.said('left out')).toEqual([]);
});

it('lists of pull zones that fail leave out nothing', async () => {
  const whole = await start();
  whole.routes['/pullzone'] = () => reply(500);
  await whole.pass(longMs);
  expect(read(whole)).toEqual(both);
});

it('one list alone leaves out nothing', async () => {
  const whole = await start({}, () => reply(500));
  await whole.pass(11 * minuteMs);
  const lists = () => whole.requests.filter(({ path }) => path === '/pullzone').length;
  const failed = lists();
  whole.routes['/pullzone'] = pullZonesOf(7);
  while (lists() === failed) await whole.pass(minuteMs);
  await whole.pass(minuteMs);
  expect([lists() - failed, read(whole)]).toEqual([1, both]);
  await whole.pass(11 * minuteMs);
  expect([lists() - failed, read(whole)]).toEqual([2, rest]);
});

it('what comes back is read again', async () => {
  const whole = await start();
  await whole.pass(30 * minuteMs);
  expect(read(whole)).toEqual(rest);
  whole.routes['/pullzone'] = pullZonesOf(7, 8);
  await whole.pass(11 * minuteMs);
  expect(read(whole)).toEqual(both);
  await whole.sweep();
  expect(whole.said('left out')).toHaveLength(1);
});

it('a zone that Shield calls deleted is left out at once', async () => {
  const whole = await start();
  whole.routes['/pullzone'] = pullZonesOf(7, 8);
  whole.routes['/shield/shield-zones'] = zonesOf(
    [501, 7],
    [502, 8, { deletedDateTime: '2026-08-15T11:00:00' }],
  );
  await whole.pass(6 * minuteMs);
  expect(read(whole)).toEqual(rest);
});

it('`orphans: keep` reads them all the same, and so does a target that is named', async () => {
  const kept = await start({ shield_zones: { targets: 'all', orphans: 'keep', interval: '5m' } });
  const named = await start({ shield_overage: { targets: [502] } });
  // The clock is that of both exporters.
  await kept.pass(longMs);
  expect(read(kept)).toEqual(both);
  expect(read(named)).toEqual(['shield_overage 502', 'shield_zone 501']);
});

it('a zone whose pull zone is gone is left out also where the clock was a month ahead at the start', async () => {
  const whole = await start();
  whole.setClock(-31 * 24 * 60 * minuteMs);
  await whole.pass(longMs);
  expect(read(whole)).toEqual(rest);
});

it('a new zone is not left out because the clock was set back', async () => {
  const all = { targets: 'all', interval: '1m' };
  const whole = await start({ shield_zones: all, shield_overage: all });
  whole.routes['/shield/shield-zones'] = zonesOf([501, 7]);
  await whole.pass(25 * minuteMs);
  expect(read(whole)).toEqual(rest);
  whole.setClock(-60 * minuteMs);
  whole.routes['/pullzone'] = pullZonesOf(7, 8);
  whole.routes['/shield/shield-zones'] = zonesOf([501, 7], [502, 8]);
  await whole.pass(2 * minuteMs);
  expect(read(whole)).toEqual(both);
});
