/**
 * One earlier day that the API does not answer, for each way in which a kind asks for days: today is read all the same, and so is each
 * other day; what is lost is said once.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';
import { countersOf, dayMs, document, hourMs, kinds, minuteMs, routesOf } from './steady.ts';
import { eventually, type Request, type Route, reply, startWhole, type Whole } from './whole.ts';

const apiUrl = 'https://api.test';
const at = (text: string) => Date.parse(`2026-08-${text}:00Z`);

/** What the API says instead of the figures of a day. */
const refusals: Readonly<Record<string, unknown>> = {
  '404': reply(404, '{"ErrorKey":"not_found","Message":"no such day"}'),
  '400': reply(400, '{"Message":"the range is too long"}'),
  '403': reply(403, '{"Message":"not with this key"}'),
  '500': reply(500),
  'too large': { padding: Array(70_000).fill(0) },
};

/** The days that a request is about; undefined where it is about none. */
function rangeOf({ path, query }: Request): readonly [fromMs: number, toMs: number] | undefined {
  const first = (...names: readonly string[]) => names.map((name) => query.get(name)).find(Boolean) ?? '';
  const from = first('dateFrom', 'StartDate', 'from') || /\d{4}-\d{2}-\d{2}$/.exec(path)?.[0];
  const to = first('dateTo', 'EndDate', 'to') || from;
  return from && to ? [Date.parse(from.slice(0, 10)), Date.parse(to.slice(0, 10))] : undefined;
}

const isAbout = (request: Request, dayStartMs: number | undefined) => {
  const range = rangeOf(request);
  return range !== undefined && dayStartMs !== undefined && range[0] <= dayStartMs && dayStartMs <= range[1];
};

/** The same API, but for one day, which the test chooses. */
function withBadDay(how: unknown): {
  readonly bad: { day?: number };
  readonly routes: Record<string, Route>;
} {
  const bad: { day?: number } = {};
  const spoiled = Object.entries(routesOf()).map(([path, route]): [string, Route] => [
    path,
    (request) => {
      if (isAbout(request, bad.day)) return how;
      const answer = route(request);
      // An answer about 28 days lacks that day.
      const key = bad.day === undefined ? '-' : new Date(bad.day).toISOString();
      return path.includes('rate-limits')
        ? (JSON.parse(JSON.stringify(answer).replace(new RegExp(`"${key}":\\{[^}]*\\},?`), '')) as unknown)
        : answer;
    },
  ]);
  return { bad, routes: Object.fromEntries(spoiled) };
}

async function start(folder: string | undefined, routes: Record<string, Route>, nowMs: number) {
  const whole = await startWhole({
    apiUrl,
    nowMs,
    routes,
    document: { ...document, ...(folder !== undefined && { state: { file: join(folder, 'state.json') } }) },
    api: { max_response_bytes: '1MiB' },
  });
  await whole.exporter.start();
  for (const ms of [minuteMs, 5000, 5000]) await whole.pass(ms);
  return whole;
}

const badRequests = (requests: readonly Request[], day: number | undefined) =>
  requests.filter((request) => isAbout(request, day));

/** Each kind that asks for days. The answer about 28 days is a day short, and nothing more. */
const ofDays = kinds.filter(({ section }) => section !== 'rate_limits');

function expectReadAndSaid(whole: Whole) {
  expect(whole.exporter.targets().map(({ state }) => state)).toEqual(kinds.map(() => 'ok'));
  expect(whole.exporter.causes()).toEqual([]);
  expect(whole.said('base_url')).toEqual([]);
}

const lines = (whole: Whole) => whole.said('is lost, and not asked for again');

/** By day a refusal and a failure; the others are among the days below. */
const ofYesterday = Object.entries(refusals).filter(([name]) => runs(['404', '500'], [name]).includes(name));

describe.each(ofYesterday)('yesterday is answered with %s from midnight on', (name, how) => {
  it('and today is read and counted, without a state', async () => {
    const { bad, routes } = withBadDay(how);
    const whole = await start(undefined, routes, at('15T23:30'));
    await whole.pass(20 * minuteMs);
    await whole.pass(at('16T00:00') - Date.now());
    const before = await countersOf(whole);
    bad.day = at('15T00:00');
    const asked = whole.requests.length;
    await whole.pass(12 * minuteMs);
    expectReadAndSaid(whole);
    await whole.pass(runs(1, 5) * hourMs);
    expectReadAndSaid(whole);
    const after = await countersOf(whole);
    for (const { section } of kinds) {
      const gained = ((after[section] ?? Number.NaN) - (before[section] ?? Number.NaN)) / 1000;
      const missing = (Date.now() - at('16T00:00')) / minuteMs - gained;
      expect(missing, section).toBeGreaterThanOrEqual(0);
      expect(missing, section).toBeLessThanOrEqual(12);
    }
    expect(lines(whole)).toHaveLength(ofDays.length);
    // Five times each at most, and before that in a range with today.
    expect(badRequests(whole.requests.slice(asked), bad.day).length).toBeLessThanOrEqual(
      (name === '500' ? 6 : 2) * ofDays.length,
    );
  });
});

/** Where the bad day is among those that are caught up after ten days. */
const places: readonly (readonly [place: string, day: string])[] = [
  ['first', '05T00:00'],
  ['in the middle', '09T00:00'],
  ['last', '14T00:00'],
];

/** Each answer at each place; by day at one of them. */
const badDays = Object.entries(refusals).flatMap(([name, how], at) => {
  const first = at % places.length;
  return runs(places.slice(first, first + 1), places).map(([place, day]) => ({ place, name, day, how }));
});

describe('a bad day after ten days', () => {
  it.each(badDays)('($place) is answered with $name', async ({ day, how }) => {
    const folder = temporary({});
    const { bad, routes } = withBadDay(how);
    const first = await start(folder, routes, at('05T12:00'));
    const beganMs = at('05T12:00');
    await first.pass(11 * minuteMs);
    const saved = await countersOf(first);
    await first.stop();
    const stoppedMs = Date.now();
    first.setClock(at('15T12:00') - Date.now());
    bad.day = at(day);
    let whole = await start(folder, routes, Date.now());
    // Five polls, and one more, each at most eleven minutes after the last. Until then a counter waits for what the page showed before.
    await whole.pass(runs(56, 70) * minuteMs);
    for (const restarts of runs([0, 1], [0, 1, 2])) {
      if (restarts > 0) {
        await whole.stop();
        whole = await start(folder, routes, Date.now());
        await whole.pass(30 * minuteMs);
      }
      expectReadAndSaid(whole);
      const counted = await countersOf(whole);
      const lostMs = Math.min(bad.day + dayMs, Date.now()) - Math.max(bad.day, beganMs);
      for (const { section } of kinds) {
        const missing = (Date.now() - beganMs - lostMs) / minuteMs - (counted[section] ?? Number.NaN) / 1000;
        // Of the day on which it was stopped, what was counted before is counted.
        const had = bad.day < stoppedMs && stoppedMs < bad.day + dayMs ? (saved[section] ?? 0) / 1000 : 0;
        expect(missing, `${section} after ${restarts} restarts`).toBeGreaterThanOrEqual(-had);
        expect(missing, `${section} after ${restarts} restarts`).toBeLessThanOrEqual(12);
      }
      expect(lines(whole)).toHaveLength(restarts === 0 ? ofDays.length : 0);
    }
    // It is not asked for again.
    if (day !== '14T00:00') expect(badRequests(whole.requests, bad.day)).toEqual([]);
  });
});

it('an API that keeps three days of ten: the rest is lost, and said in one line of each target', async () => {
  const folder = temporary({});
  const keptFromMs = () => Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs;
  const routes = Object.fromEntries(
    Object.entries(routesOf()).map(([path, route]): [string, Route] => [
      path,
      (request) => ((rangeOf(request)?.[0] ?? Infinity) < keptFromMs() ? refusals['404'] : route(request)),
    ]),
  );
  const first = await start(folder, routes, at('05T12:00'));
  await first.stop();
  first.setClock(10 * dayMs);
  const whole = await start(folder, routes, Date.now());
  expectReadAndSaid(whole);
  const counted = await countersOf(whole);
  for (const { section } of ofDays)
    expect((counted[section] ?? Number.NaN) / 1000, section).toBeGreaterThanOrEqual(
      (Date.now() - keptFromMs()) / minuteMs - 12,
    );
  expect(lines(whole)).toHaveLength(ofDays.length);
  for (const { msg } of lines(whole)) expect(msg).toContain('from 2026-08-04 to 2026-08-12');
});

describe('a day that fails at first', () => {
  it.each(places)(
    'and is the %s after ten days is counted once it is answered, and nothing is lost',
    async (_, day) => {
      const folder = temporary({});
      const { bad, routes } = withBadDay(reply(500));
      const beganMs = at('05T12:00');
      const first = await start(folder, routes, beganMs);
      await first.pass(11 * minuteMs);
      await first.stop();
      first.setClock(at('15T12:00') - Date.now());
      bad.day = at(day);
      let whole = await start(folder, routes, Date.now());
      await whole.pass(12 * minuteMs);
      // It is still asked for after a restart.
      await whole.stop();
      whole = await start(folder, routes, Date.now());
      delete bad.day;
      await whole.pass(12 * minuteMs);
      const counted = await countersOf(whole);
      for (const { section } of ofDays) {
        const missing = (Date.now() - beganMs) / minuteMs - (counted[section] ?? Number.NaN) / 1000;
        expect(missing, section).toBeGreaterThanOrEqual(0);
        expect(missing, section).toBeLessThanOrEqual(12);
      }
      expect(lines(whole)).toEqual([]);
    },
  );

  it('keeps a counter off the page while it could be less than before: the day on which it was last read', async () => {
    const folder = temporary({});
    const { bad, routes } = withBadDay(reply(500));
    const first = await start(folder, routes, at('14T12:00'));
    await first.pass(14 * minuteMs);
    const before = await countersOf(first);
    // As SIGKILL ends it: the file is of before the last poll.
    const path = join(folder, 'state.json');
    const written = readFileSync(path);
    await first.stop();
    writeFileSync(path, written);
    first.setClock(at('15T00:10') - Date.now());
    bad.day = at('14T00:00');
    const second = await start(folder, routes, Date.now());
    for (const { section } of ofDays) expect((await countersOf(second))[section], section).toBeUndefined();
    expect(second.exporter.targets().map(({ state }) => state)).toEqual(kinds.map(() => 'ok'));
    delete bad.day;
    await second.pass(12 * minuteMs);
    const after = await countersOf(second);
    for (const { section } of kinds)
      expect(after[section], section).toBeGreaterThanOrEqual(before[section] ?? Number.NaN);
  });

  it('is asked for once a poll: nothing is retried that the next poll asks for', async () => {
    const { bad, routes } = withBadDay(reply(500));
    const { dns_zones } = document;
    const whole = await startWhole({
      nowMs: at('15T23:50'),
      routes,
      document: { dns_zones },
      api: { max_retries: 2 },
    });
    await whole.exporter.start();
    await whole.pass(10 * minuteMs);
    const before = whole.requests.length;
    bad.day = at('15T00:00');
    await whole.pass(11 * minuteMs);
    const asked = whole.requests.slice(before);
    const polls = asked.length - badRequests(asked, bad.day).length;
    expect(polls).toBeGreaterThan(0);
    expect(asked).toHaveLength(2 * polls);
  });

  it('is not tried in vain while the key is paused: the days left are asked for later', async () => {
    const folder = temporary({});
    const routes = routesOf();
    const { dns_zones } = document;
    const options = { routes, document: { dns_zones, state: { file: join(folder, 'state.json') } } };
    const first = await startWhole({ apiUrl, nowMs: at('05T12:00'), ...options });
    await first.exporter.start();
    await first.pass(minuteMs);
    await first.stop();
    first.setClock(10 * dayMs);
    let isPaused = true;
    const paused: Record<string, Route> = {
      '/dnszone/7/statistics': (request) =>
        isPaused && isAbout(request, at('12T00:00'))
          ? reply(429, '', { 'retry-after': '60' })
          : routes['/dnszone/7/statistics']?.(request),
    };
    const second = await startWhole({ apiUrl, nowMs: Date.now(), ...options, routes: paused });
    await second.exporter.start();
    await second.pass(minuteMs);
    // Not those before it.
    const asked = second.requests.map(({ query }) => query.get('dateFrom')?.slice(-2));
    expect(asked).toEqual(['15', '14', '13', '12']);
    for (let poll = 0; poll < 6; poll++) await second.pass(10 * minuteMs);
    isPaused = false;
    await second.pass(11 * minuteMs);
    const missing =
      (Date.now() - at('05T12:00')) / minuteMs -
      ((await second.value('bunnynet_dns_zone_queries_total')) ?? Number.NaN) / 1000;
    expect(missing).toBeLessThanOrEqual(12);
    expect(lines(second)).toEqual([]);
  });
});

describe('a log in pages, of which one day does not end', () => {
  const changes = 'bunnynet_audit_log_changes_total';

  /** A change of that day on each page, and on one day a page more, for ever. */
  const log =
    (endless: () => string): Route =>
    ({ path, query }) => {
      const day = path.slice(-10);
      const token = Number(query.get('ContinuationToken') ?? 0);
      const isEnd = day !== endless() && token === 1;
      const Logs = [{ Timestamp: `${day}T00:00:00Z`, Product: 'Dns' }];
      return { Logs, HasMoreData: !isEnd, ContinuationToken: isEnd ? '' : String(token + 1) };
    };

  it('is read on all other days, and the day is asked for once', async () => {
    const folder = temporary({});
    const startLog = async (nowMs: number, endless: string) => {
      const route = log(() => endless);
      const days = Array.from({ length: 31 }, (_, n) => `2026-08-${String(n + 1).padStart(2, '0')}`);
      const whole = await startWhole({
        apiUrl,
        nowMs,
        routes: Object.fromEntries(days.map((day) => [`/user/audit/${day}`, route])),
        document: { audit_log: { targets: 'all' }, state: { file: join(folder, 'state.json') } },
      });
      await whole.exporter.start();
      await whole.pass(minuteMs);
      await eventually(async () => expect(Object.keys(await whole.series(changes))).not.toEqual([]));
      return whole;
    };
    const first = await startLog(at('10T12:00'), '');
    await first.stop();
    first.setClock(5 * dayMs);
    const second = await startLog(Date.now(), '2026-08-12');
    // Two a day of 11, 13, 14 and 15.
    const sum = Object.values(await second.series(changes)).reduce((all, value) => all + value, 0);
    expect(sum).toBe(8);
    expect(second.said('did not end after 200 pages')).toHaveLength(1);
    await second.pass(30 * minuteMs);
    expect(second.requests.filter(({ path }) => path.endsWith('08-12'))).toHaveLength(200);
    expect(second.exporter.causes()).toEqual([]);
  });
});
