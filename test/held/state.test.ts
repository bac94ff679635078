/** Counters outlive a restart: nothing is lost, nothing is counted twice, and none is ever lower than it was on the page. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CounterBook } from '../../src/counting/counter-book.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';
import { countersOf, dayMs, document, kinds, minuteMs, routesOf } from './steady.ts';
import { eventually, type Route, startWhole, type Whole, type WholeOptions } from './whole.ts';

const apiUrl = 'https://api.test';
const at = (text: string) => Date.parse(`2026-08-${text}:00Z`);

interface Run extends Partial<WholeOptions> {
  /** The folder of the state file. */
  readonly folder: string;
}

/** Lets time pass until what has begun is in the file, whatever a write takes. */
async function passAndSave(whole: Whole, ms: number): Promise<void> {
  for (const part of [ms, 5000, 5000]) await whole.pass(part);
}

/** Starts an exporter with a state in this folder, and has it poll for a minute. */
async function start({ folder, ...more }: Run): Promise<Whole> {
  const whole = await startWhole({
    apiUrl,
    routes: routesOf(),
    ...more,
    document: { ...(more.document ?? document), state: { file: join(folder, 'state.json') } },
  });
  await whole.exporter.start();
  await passAndSave(whole, minuteMs);
  return whole;
}

/** Stops it as SIGKILL does: what was not written by then is lost. */
async function kill(whole: Whole, { folder }: Run): Promise<void> {
  const path = join(folder, 'state.json');
  const written = readFileSync(path);
  await whole.stop();
  writeFileSync(path, written);
}

/** Lets time pass while no exporter runs. */
function wait(whole: Whole, ms: number): void {
  whole.setClock(ms);
}

/** Nothing is missing since then, in each kind that is read; each has been polled up to an interval ago. */
async function expectExact(whole: Whole, sinceMs: number): Promise<void> {
  const counted = await countersOf(whole);
  for (const { section } of kinds.filter((kind) => kind.section in whole.document)) {
    const missing = (Date.now() - sinceMs) / minuteMs - (counted[section] ?? Number.NaN) / 1000;
    expect(missing, section).toBeGreaterThanOrEqual(0);
    expect(missing, section).toBeLessThanOrEqual(12);
  }
}

type End = [how: string, end: (whole: Whole, run: Run) => Promise<void>];
const stopped: End = ['stopped', (whole) => whole.stop()];
const killed: End = ['killed', kill];

/** By day each with one end. */
type Restart = [when: string, from: string, awayMs: number, byDay: End];

describe.each<Restart>([
  ['just after midnight', '15T23:57', 2 * minuteMs, stopped],
  ['over midnight', '15T23:40', 40 * minuteMs, killed],
  ['for a day', '15T07:00', dayMs, stopped],
  ...runs<Restart[]>(
    [],
    [
      ['at noon', '15T11:50', 2 * minuteMs, stopped],
      ['just before midnight', '15T23:50', 2 * minuteMs, stopped],
      ['for 27 days', '03T12:00', 26 * dayMs, stopped],
    ],
  ),
])('a restart %s', (_, from, awayMs, byDay) => {
  it.each(runs([byDay], [stopped, killed]))(
    'loses nothing and counts nothing twice if it was %s',
    async (_how, end) => {
      const run = { folder: temporary({}), nowMs: at(from) };
      const first = await start(run);
      const beganMs = Date.now();
      await first.pass(8 * minuteMs);
      const before = await countersOf(first);
      await end(first, run);
      wait(first, awayMs);
      const second = await start(run);
      const after = await countersOf(second);
      for (const { section } of kinds)
        expect(after[section], section).toBeGreaterThanOrEqual(before[section] ?? Number.NaN);
      await second.pass(runs(11, 25) * minuteMs);
      await expectExact(second, beganMs);
      // What is known of the time is that of the first start.
      const since = await second.value('bunnynet_exporter_counting_since_timestamp_seconds');
      expect(since).toBeLessThanOrEqual(beganMs / 1000);
    },
  );
});

it('a restart after more than 28 days counts the last 28, and never less than before', async () => {
  const run = { folder: temporary({}), nowMs: at('01T12:00') };
  const first = await start(run);
  await first.pass(8 * minuteMs);
  const before = await countersOf(first);
  await first.stop();
  wait(first, 40 * dayMs);
  const second = await start(run);
  const after = await countersOf(second);
  for (const { section } of kinds) {
    const gained = (after[section] ?? Number.NaN) - (before[section] ?? Number.NaN);
    expect(gained / (1000 * 24 * 60), section).toBeCloseTo(27.5, 1);
  }
});

/** One kind, where any shows it, and one by days with one by hours. */
const ofZones = { dns_zones: { targets: [7], interval: '10m' } };
const ofTwo = { ...ofZones, pull_zone_statistics: { targets: [7], interval: '10m' } };

describe('a restored counter', () => {
  it('is on the page only after the first good poll of its target', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00'), document: ofTwo };
    const first = await start(run);
    await first.pass(10 * minuteMs);
    await first.stop();
    const routes = routesOf();
    const down: Record<string, Route> = Object.fromEntries(
      Object.keys(routes).map((path) => [
        path,
        () => {
          throw new Error('the API is down');
        },
      ]),
    );
    const second = await start({ ...run, routes: down });
    expect(Object.values(await countersOf(second))).toEqual(kinds.map(() => undefined));
    Object.assign(second.routes, routes);
    await second.pass(11 * minuteMs);
    await expectExact(second, at('15T12:00'));
  });

  it('is not on the page while the clock is behind what was counted', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00') };
    const first = await start(run);
    await first.pass(10 * minuteMs);
    const before = await countersOf(first);
    await kill(first, run);
    wait(first, -10 * dayMs);
    const second = await start(run);
    const behind = await countersOf(second);
    // A kind that gets 28 days, whatever the clock says, would have them all; this API goes by the same clock.
    for (const { section } of kinds.filter((kind) => kind.section !== 'rate_limits'))
      expect(behind[section], section).toBeUndefined();
    wait(second, 10 * dayMs);
    await second.pass(11 * minuteMs);
    const after = await countersOf(second);
    for (const { section } of kinds)
      expect(after[section], section).toBeGreaterThanOrEqual(before[section] ?? Number.NaN);
    await expectExact(second, at('15T12:00'));
  });

  it('goes on where the clock was ahead when it was written', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00') };
    // The API goes by the right time.
    let aheadMs = 0;
    const routes = routesOf(() => aheadMs);
    const first = await start({ ...run, routes });
    await first.pass(10 * minuteMs);
    aheadMs = 5 * dayMs;
    wait(first, aheadMs);
    await first.pass(runs(11, 20) * minuteMs);
    await first.stop();
    wait(first, -aheadMs);
    aheadMs = 0;
    const second = await start({ ...run, routes });
    await second.pass(11 * minuteMs);
    await expectExact(second, at('15T12:00'));
  });
});

describe('a target that left and came back', () => {
  const gone = { dns_zones: { targets: [8], interval: '10m' } };
  const zone = { dns_zone_id: '7' };
  const family = 'bunnynet_dns_zone_queries_total';
  const all: Record<string, Route> = { ...routesOf(), '/dnszone/8/statistics': () => ({}) };

  it('goes on within a run, and has no series meanwhile', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00'), routes: all, document: ofZones };
    const whole = await start(run);
    await whole.pass(10 * minuteMs);
    const withState = whole.document;
    whole.document = { ...gone, state: withState['state'] };
    await whole.reload();
    whole.advance(2 * dayMs);
    await whole.pass(11 * minuteMs);
    expect(await whole.value(family, zone)).toBeUndefined();
    whole.document = withState;
    await whole.reload();
    await whole.pass(11 * minuteMs);
    const passed = (Date.now() - at('15T12:00')) / minuteMs;
    expect(passed - ((await whole.value(family, zone)) ?? 0) / 1000).toBeLessThanOrEqual(12);
  });

  it('goes on after restarts without it, for 28 days', async () => {
    const run = { folder: temporary({}), nowMs: at('01T12:00'), routes: all, document: ofZones };
    const first = await start(run);
    await first.stop();
    const second = await start({ ...run, document: gone });
    await second.stop();
    wait(second, 20 * dayMs);
    const third = await start({ ...run, document: gone });
    await third.stop();
    const fourth = await start(run);
    expect(((await fourth.value(family, zone)) ?? 0) / 1000 / 60 / 24).toBeCloseTo(20, 1);
    await fourth.stop();
    const fifth = await start({ ...run, document: gone });
    await fifth.stop();
    wait(fifth, 29 * dayMs);
    const sixth = await start({ ...run, document: gone });
    await sixth.stop();
    const seventh = await start(run);
    expect(await seventh.value(family, zone)).toBe(0);
  });
});

describe('whose a counter is', () => {
  const family = 'bunnynet_dns_zone_queries_total';
  const changes = 'bunnynet_audit_log_changes_total';
  let logged = 1;
  const routes: Record<string, Route> = {
    ...routesOf(),
    '/user/audit/2026-08-15': () => ({
      Logs: Array.from({ length: logged }, () => ({ Timestamp: '2026-08-15T11:00:00Z', Product: 'Dns' })),
      HasMoreData: false,
    }),
    '/user/audit/2026-08-14': () => ({ Logs: [], HasMoreData: false }),
  };
  const documentOf = (account: string) => ({
    credentials: { [account]: { env: 'KEY' } },
    dns_zones: { targets: [7], credential: account },
    audit_log: { targets: 'all', credential: account },
  });
  const sum = async (whole: Whole, name: string) =>
    Object.values(await whole.series(name)).reduce((all, value) => all + value, 0);

  async function twice(second: Partial<WholeOptions>) {
    logged = 1;
    const run = { folder: temporary({}), nowMs: at('15T12:00'), routes };
    const first = await start({ ...run, document: documentOf('acme') });
    logged = 4;
    await first.pass(11 * minuteMs);
    const before = [await sum(first, family), await sum(first, changes)];
    await first.stop();
    const again = await start({ ...run, document: documentOf('acme'), ...second });
    return { before, after: [await sum(again, family), await sum(again, changes)] };
  }

  it('is the same after a restart', async () => {
    const { before, after } = await twice({});
    expect(before[1]).toBe(3);
    expect(after[0]).toBeGreaterThanOrEqual(before[0] ?? Number.NaN);
    expect(after[1]).toBe(3);
  });

  it('of a thing goes on under another account, and of an account begins anew', async () => {
    const { before, after } = await twice({ document: documentOf('umbrella') });
    expect(after[0]).toBeGreaterThanOrEqual(before[0] ?? Number.NaN);
    expect(after[1]).toBe(0);
  });

  it('is that of the account as it is called now, in the file, too', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00'), routes };
    const { audit_log: _, ...ofZone } = documentOf('acme');
    const whole = await start({ ...run, document: ofZone });
    const file = join(run.folder, 'state.json');
    whole.document = {
      ...whole.document,
      credentials: { umbrella: { env: 'KEY' } },
      dns_zones: { targets: [7], credential: 'umbrella' },
    };
    await whole.reload();
    await whole.stop();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ targets: [{ account: 'umbrella' }] });
  });

  it('begins anew at another address', async () => {
    const { after } = await twice({ apiUrl: 'https://other.test' });
    expect(after).toEqual([0, 0]);
  });
});

describe('a family with a bound', () => {
  const family = 'bunnynet_dns_zone_queries_by_type_total';
  const dns = { dns_zones: { targets: [7], interval: '1m' } };

  /** Queries by type, as the test increases them. */
  function startTypes() {
    const queries = new Map<string, number>();
    const routes: Record<string, Route> = {
      '/dnszone/7/statistics': ({ query }) => {
        const isToday = query.get('dateFrom') === '2026-08-15';
        return {
          QueriesServedChart: {
            '2026-08-15': isToday ? [...queries.values()].reduce((a, b) => a + b, 0) : 0,
          },
          QueriesByTypeChart: isToday ? Object.fromEntries(queries) : {},
        };
      },
    };
    return { queries, run: { folder: temporary({}), nowMs: at('15T12:00'), routes, document: dns } };
  }

  it('keeps its series and `other`, and what is new after a kill gains nothing twice', async () => {
    const { queries, run } = startTypes();
    for (let n = 0; n < 48; n++) queries.set(`T${n}`, 100 + n);
    const before = new Map<string, number>();
    /** What all series have gained, as Prometheus sees it: one that falls is counted whole. */
    let gained = 0;
    const look = async (whole: Whole) => {
      const fallen: string[] = [];
      for (const [labels, value] of Object.entries(await whole.series(family))) {
        const last = before.get(labels) ?? 0;
        if (!(value >= last)) fallen.push(`${labels} from ${last} to ${value}`);
        gained += value - last;
        before.set(labels, value);
      }
      expect(fallen).toEqual([]);
    };
    let asked = 0;
    const add = (type: string, count: number) => {
      queries.set(type, (queries.get(type) ?? 0) + count);
      asked += count;
    };
    let whole = await start(run);
    await look(whole);
    for (let round = 0; round < runs(2, 6); round++) {
      // Some get a series of their own, and later ones do not.
      for (let n = 0; n < 2; n++) add(`ROUND${round}N${n}`, 1000 + n);
      for (const type of queries.keys()) add(type, round + 1);
      await passAndSave(whole, minuteMs);
      await look(whole);
      for (const type of queries.keys()) add(type, 2);
      await passAndSave(whole, minuteMs);
      await look(whole);
      await (round % 2 === 0 ? kill(whole, run) : whole.stop());
      whole = await start(run);
      await look(whole);
    }
    await whole.pass(3 * minuteMs);
    await look(whole);
    expect(gained).toBe(asked);
    expect(before.size).toBe(51);
  });
});

it('SIGKILL at many moments: never a lower value, and nothing twice', async () => {
  const run = { folder: temporary({}), nowMs: at(runs('15T23:45', '15T20:00')) };
  let whole = await start(run);
  const beganMs = Date.now();
  let before = await countersOf(whole);
  for (let kills = 0; kills < runs(4, 100); kills++) {
    // Between none and five writes, over midnight, too.
    await whole.pass(Math.floor(((kills * 637) % 1000) * 0.36) * 1000);
    before = await countersOf(whole);
    await kill(whole, run);
    whole = await start(run);
    const after = await countersOf(whole);
    for (const { section } of kinds)
      expect(after[section], `${section} after ${kills + 1}`).toBeGreaterThanOrEqual(before[section] ?? 0);
  }
  await whole.pass(11 * minuteMs);
  await expectExact(whole, beganMs);
});

describe('the file', () => {
  const path = (folder: string) => join(folder, 'state.json');
  const last = 'bunnynet_exporter_state_last_write_timestamp_seconds';
  const failing = 'bunnynet_exporter_state_write_failing_since_timestamp_seconds';

  it('is written every five minutes and at the end, and has no key and no name', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00') };
    const whole = await start({
      ...run,
      document: { dns_zones: { targets: [{ id: 7, name: 'secret name' }] } },
    });
    const began = (await whole.value(last)) ?? Number.NaN;
    await whole.pass(5 * minuteMs);
    expect((await whole.value(last)) ?? 0).toBeGreaterThan(began + 200);
    await whole.pass(2 * minuteMs);
    await whole.stop();
    const text = readFileSync(path(run.folder), 'utf8');
    const { written_at, targets } = JSON.parse(text) as { written_at: number; targets: unknown[] };
    expect(written_at).toBe(Date.now() / 1000);
    expect(targets).toHaveLength(1);
    expect(text).not.toMatch(/the-key-of|secret name/);
    expect(readdirSync(run.folder)).toEqual(['state.json']);
  });

  it('is not there without the setting', async () => {
    const whole = await startWhole({ routes: routesOf(), document: ofZones });
    await whole.exporter.start();
    await whole.pass(11 * minuteMs);
    expect(await whole.value(last)).toBeUndefined();
    expect(await whole.value(failing)).toBeUndefined();
    expect(await whole.value('bunnynet_exporter_counting_since_timestamp_seconds')).toBeGreaterThan(0);
  });

  it('that another process has written is not written any more, and that is a cause', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00'), document: ofZones };
    const first = await start(run);
    const second = await startWhole({
      routes: routesOf(),
      document: { ...ofZones, state: { file: path(run.folder) } },
    });
    await second.exporter.start();
    // Its first write has ended before the next one of the other begins.
    await second.pass(1);
    await second.pass(6 * minuteMs);
    await passAndSave(first, minuteMs);
    await first.pass(minuteMs);
    const isOther = ({ title }: { readonly title: string }) =>
      title === 'Another process writes the state file';
    // The write that finds it may end after all that time, since a disk knows nothing of this clock.
    await eventually(() => expect(first.exporter.causes().filter(isOther)).toHaveLength(1));
    expect(second.exporter.causes().filter(isOther)).toHaveLength(0);
    await first.pass(20_000);
    expect(first.said('another process writes the state file')).toHaveLength(1);
    const written = readFileSync(path(run.folder), 'utf8');
    await first.stop();
    expect(readFileSync(path(run.folder), 'utf8')).toBe(written);
    // The page goes on.
    await second.pass(11 * minuteMs);
    await expectExact(second, at('15T12:01'));
  });

  it('that a history has taken from another process is told anew', async () => {
    const folder = temporary({});
    const whole = await start({ folder, nowMs: at('15T12:00'), document: ofZones });
    const { writer } = JSON.parse(readFileSync(path(folder), 'utf8')) as { writer: string };
    const own = readFileSync(path(folder), 'utf8');
    for (const [by, title] of [
      ['exporter', 'Another process writes the state file'],
      ['backfill', 'A history was written to the state file'],
    ] as const) {
      writeFileSync(path(folder), own.replace(writer, `of-${by}`).replace('"exporter"', `"${by}"`));
      await whole.pass(6 * minuteMs);
      // A write takes as long as the disk does.
      await eventually(() => expect(whole.said(title)).toHaveLength(1));
    }
    const [line] = whole.said('A history was written to the state file');
    expect(line?.msg).toContain('Restart the exporter.');
    expect(line?.msg).not.toContain('tries again');
  });

  it('that cannot be written is a cause, and ends nothing', async () => {
    const folder = join(temporary({}), 'missing');
    const run = { folder, nowMs: at('15T12:00'), document: ofZones };
    const whole = await start(run);
    await whole.pass(11 * minuteMs);
    const titles = () =>
      whole.exporter.causes().flatMap(({ reason, title }) => (reason === 'state' ? [title] : []));
    expect(titles()).toEqual(['The state file cannot be written']);
    expect(await whole.value(last)).toBe(0);
    expect(await whole.value(failing)).toBeCloseTo(at('15T12:00') / 1000, -1);
    expect(whole.said('does not exist: create it')).toHaveLength(1);
    await expectExact(whole, at('15T12:00'));
    mkdirSync(folder);
    await whole.pass(6 * minuteMs);
    expect(titles()).toEqual([]);
    expect(await whole.value(last)).toBeGreaterThan(at('15T12:10') / 1000);
    expect(await whole.value(failing)).toBeUndefined();
    expect(existsSync(path(folder))).toBe(true);
  });

  it.each([
    ['cut off', (text: string) => text.slice(0, 300)],
    ['of a newer version', (text: string) => text.replace('"version":1', '"version":99')],
  ])('that is %s is kept, and counters begin anew', async (_, spoil) => {
    const run = { folder: temporary({}), nowMs: at('15T12:00'), document: ofZones };
    const first = await start(run);
    await first.pass(11 * minuteMs);
    await first.stop();
    const spoiled = spoil(readFileSync(path(run.folder), 'utf8'));
    writeFileSync(path(run.folder), spoiled);
    const second = await start(run);
    expect((await countersOf(second))['dns_zones']).toBe(0);
    expect(second.said('cannot be used')).toHaveLength(1);
    const bad = readdirSync(run.folder).find((name) => name.startsWith('state.json.bad-')) ?? '';
    expect(readFileSync(join(run.folder, bad), 'utf8')).toBe(spoiled);
    await second.stop();
    const third = await start(run);
    expect(third.said('go on as of')).toHaveLength(1);
  });

  it('that cannot be read ends the start, and the error says what to do', async () => {
    const folder = temporary({});
    mkdirSync(path(folder));
    await expect(start({ folder, nowMs: at('15T12:00') })).rejects.toThrow(/cannot be read.*Name a file/);
  });

  it('is another one only after a restart, which a reload says', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00') };
    const whole = await start({ ...run, document: ofZones });
    whole.document = { ...ofZones, state: { file: join(run.folder, 'other.json') } };
    await whole.reload();
    expect(whole.said('state.file takes effect with a restart')).toHaveLength(1);
    await whole.pass(6 * minuteMs);
    expect(readdirSync(run.folder)).toEqual(['state.json']);
  });

  it('is whole where a reload comes during a write', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00'), document: ofTwo };
    const whole = await start(run);
    await whole.pass(11 * minuteMs);
    const before = whole.document;
    for (let n = 0; n < runs(4, 20); n++) {
      // A write is under way: it is awaited only afterwards.
      const passed = whole.pass(5 * minuteMs);
      whole.document = n % 2 === 0 ? { dns_zones: { targets: [7] }, state: before['state'] } : before;
      await whole.reload();
      await passed;
    }
    await whole.pass(11 * minuteMs);
    await kill(whole, run);
    const again = await start(run);
    await expectExact(again, at('15T12:00'));
  });
});

describe('what a state forgets', () => {
  const family = 'bunnynet_shield_rate_limit_breaches_total';

  it('a rate limit that was deleted two days ago is forgotten, though the exporter restarts each day', async () => {
    const run = { folder: temporary({}), document: { rate_limits: { targets: [7], interval: '10m' } } };
    const limit = (ratelimitId: number) => ({
      ratelimitId,
      ratelimitOverviewPastTwentyEightDays: { '2026-08-10T00:00:00Z': { totalBreaches: ratelimitId } },
    });
    const there = [limit(11), limit(12)];
    const routes: Record<string, Route> = {
      '/shield/rate-limits/7': () => ({ data: [] }),
      '/shield/metrics/rate-limits/7': () => ({ data: there }),
    };
    let whole = await start({ ...run, routes, nowMs: at('10T12:00') });
    there.pop();
    for (let restart = 0; restart < 3; restart++) {
      await whole.pass(11 * minuteMs);
      expect(Object.keys(await whole.series(family))).toHaveLength(restart < 2 ? 2 : 1);
      await whole.stop();
      wait(whole, dayMs);
      whole = await start({ ...run, routes, nowMs: Date.now() });
    }
    expect(Object.keys(await whole.series(family))).toHaveLength(1);
    expect(readFileSync(join(run.folder, 'state.json'), 'utf8')).not.toContain('"12"');
  });

  it('what a listing has not found yet is kept as long as that fails', async () => {
    const list = { Items: [{ Id: 7, Domain: 'a.example' }], TotalItems: 1, HasMoreItems: false };
    const listed: Record<string, Route> = { ...routesOf(), '/dnszone': () => list };
    const run = { folder: temporary({}), document: { dns_zones: { targets: 'all' } } };
    const first = await start({ ...run, routes: listed, nowMs: at('01T12:00') });
    await first.stop();
    wait(first, 10 * dayMs);
    const down = { ...listed, '/dnszone': () => (response: ServerResponse) => void response.destroy() };
    const second = await start({ ...run, routes: down, nowMs: Date.now() });
    await second.pass(6 * minuteMs);
    await second.stop();
    const text = readFileSync(join(run.folder, 'state.json'), 'utf8');
    expect(text).toContain('"dns_zone_id":"7"');
    expect(text).not.toContain('"left"');
    const third = await start({
      ...run,
      routes: { ...listed, '/dnszone': () => ({ Items: [], TotalItems: 0 }) },
      nowMs: Date.now(),
    });
    await third.pass(6 * minuteMs);
    await third.stop();
    expect(readFileSync(join(run.folder, 'state.json'), 'utf8')).toContain('"left"');
  });

  it('a start keeps nothing of the file that it went on from', async () => {
    const run = { folder: temporary({}), nowMs: at('15T12:00'), document: ofZones };
    const first = await start(run);
    await first.pass(11 * minuteMs);
    await first.stop();
    let read: WeakRef<object> | undefined;
    const { prototype } = CounterBook;
    const real = Object.getOwnPropertyDescriptor(prototype, 'restore') ?? {};
    const restore = real.value as CounterBook['restore'];
    prototype.restore = function (this: CounterBook, state) {
      read = new WeakRef(state.targets);
      restore.call(this, state);
    };
    onTestFinished(() => void Object.defineProperty(prototype, 'restore', real));
    const second = await start(run);
    collectGarbage();
    expect(read?.deref()).toBeUndefined();
    await expectExact(second, at('15T12:00'));
  });
});
