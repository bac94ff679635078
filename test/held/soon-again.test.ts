/** What failed on the way is tried again soon; and an API in an outage is not stormed. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { WrittenSection } from '../../simulator/everything.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { runs } from '../runs.ts';
import { single } from '../simulator/start.ts';
import { simulateAccount } from './account.ts';
import { type Request, type Route, reply, startWhole, type Whole, type WholeOptions } from './whole.ts';

type Answer = (response: ServerResponse) => void;

const cost = { monthlyCost: 1 };
const refused: Answer = (response) =>
  void response.destroy(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));

/** The defaults of the exporter, in place of those of the tests. */
const defaults = { max_concurrency: undefined, requests_per_second: undefined, max_retries: undefined };

/** When a path was requested, in seconds since the start. */
function timesOf({ requests }: Pick<Whole, 'requests'>, path: string): readonly number[] {
  return requests.filter((request) => request.path === path).map(({ atMs }) => atMs / 1000);
}

/** The most seconds from one of the requests to the next. */
function longestGap(requests: readonly Request[]): number {
  return Math.max(...gapsOf(requests.map(({ atMs }) => atMs / 1000)));
}

/** The seconds from each time to the next. */
function gapsOf(times: readonly number[]): readonly number[] {
  return times.slice(1).map((at, n) => at - (times[n] ?? 0));
}

/** Targets and listings that are not read well now. What the account lacks is no failure. */
function notOk({ exporter }: Whole): readonly string[] {
  const isGood = (state: string) => state === 'ok' || state === 'lacking';
  return [
    ...exporter.targets().flatMap(({ target, state }) => (isGood(state) ? [] : [`${target.key}: ${state}`])),
    ...exporter.listings().flatMap(({ poll, state }) => (isGood(state) ? [] : [`${poll.key}: ${state}`])),
  ];
}

/** The targets of these applications, and the good answers to them. */
const applications = (ids: readonly string[], more: object = {}) => ({
  applications: { interval: '10m', targets: ids, ...more },
});
const summaryOf = (id: string) => `/mc/apps/${id}/summary`;
const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`);

describe('after an outage at the start', () => {
  it('of four seconds everything of a small account is read within half a minute', async () => {
    const { answer, ...account } = simulateAccount({ shape: runs(single, undefined) });
    const whole = await startWhole({ ...account, api: defaults });
    whole.routes['*'] = (request) => (request.atMs < 4000 ? refused : answer(request));
    await whole.exporter.start();
    await whole.pass(30_000);
    expect(notOk(whole)).toEqual([]);
    const unreadable = await whole.series('bunnynet_exporter_api_unreadable');
    expect(Object.values(unreadable)).toEqual(Object.keys(unreadable).map(() => 0));
    expect(whole.exporter.causes()).toEqual([]);
  });

  it.each<[string, WholeOptions['document']]>([
    ['alone', {}],
    ['beside others that are read', { pull_zones: { interval: '10s', targets: 'all' } }],
  ])('a kind that is polled once an hour has its value within a minute and a half, %s', async (_, others) => {
    let answered = 0;
    const whole = await startWhole({
      document: { billing: { targets: 'all' }, ...others },
      routes: {
        '/billing': () => (++answered > 3 ? { Balance: 5 } : reply(502)),
        '/pullzone': () => ({ Items: [], TotalItems: 0, HasMoreItems: false }),
      },
    });
    await whole.exporter.start();
    await whole.pass(90_000);
    expect(await whole.value('bunnynet_billing_up')).toBe(1);
    expect(answered).toBe(4);
  });
});

/** Applications that fail, each in its way, beside one that is read all the time: the API has no outage. */
async function startFailing(
  failing: Readonly<Record<string, Route>>,
  goodInterval: string,
  { interval = '10m', ...options }: Partial<WholeOptions> & { readonly interval?: string } = {},
) {
  const answers = Object.entries({ ...failing, good: () => cost });
  const whole = await startWhole({
    document: applications([...Object.keys(failing), { id: 'good', interval: goodInterval }] as never, {
      interval,
    }),
    routes: Object.fromEntries(answers.map(([id, answer]) => [summaryOf(id), answer])),
    ...options,
    api: { timeout: '2s', ...options.api },
  });
  await whole.exporter.start();
  return whole;
}

describe('what fails on the way is tried again after some 10 s, doubled each time', () => {
  it('whatever comes in place of an answer', async () => {
    const failing: Readonly<Record<string, Route>> = {
      'connection-refused': () => refused,
      'connection-closed': () => (response: ServerResponse) => void response.destroy(),
      'no-answer-in-time': () => () => undefined,
      'http-408': () => reply(408),
      'http-500': () => reply(500, '{"Message":"oops"}'),
      'http-502-by-a-proxy': () => reply(502, '<title>Bad Gateway</title>'),
      'http-503': () => reply(503),
      'body-cut-off': () => (response: ServerResponse) => {
        response.writeHead(200).write('{"monthlyCost":');
        response.destroy();
      },
      'half-a-body': () => reply(200, '{"monthlyCost":'),
      'not-json': () => reply(200, 'upstream connect error'),
      'page-for-people': () => reply(200, '<title>Web Page Blocked</title>'),
      'empty-body': () => reply(200),
    };
    const whole = await startFailing(failing, '5s');
    await whole.pass(110_000);
    for (const id of Object.keys(failing)) {
      const [first = 0, second = 0, third = 0] = gapsOf(timesOf(whole, summaryOf(id)));
      // The answer may take two seconds.
      for (const [gap, soon] of [
        [first, 10],
        [second, 20],
        [third, 40],
      ] as const) {
        expect(gap, id).toBeGreaterThanOrEqual(0.8 * soon);
        expect(gap, id).toBeLessThan(1.2 * soon + 2.5);
      }
    }
  });

  it('up to its interval', async () => {
    const whole = await startFailing({ failing: () => reply(500) }, '30s', {
      document: applications(['failing', { id: 'good', interval: '10s' }] as never, { interval: '30s' }),
    });
    await whole.pass(300_000);
    const gaps = gapsOf(timesOf(whole, summaryOf('failing'))).slice(2);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(24);
    expect(Math.max(...gaps)).toBeLessThan(33.5);
  });

  it('each at a time of its own', async () => {
    const ids = idsOf('app', 30);
    const whole = await startWhole({
      document: applications([...ids, { id: 'good', interval: '10s' }] as never),
      routes: { '*': () => reply(500), [summaryOf('good')]: () => cost },
    });
    await whole.exporter.start();
    await whole.pass(15_000);
    const gaps = ids.flatMap((id) => gapsOf(timesOf(whole, summaryOf(id))));
    expect(gaps).toHaveLength(30);
    expect(Math.max(...gaps) - Math.min(...gaps)).toBeGreaterThan(2);
  });

  it('from a minute on if its kind is costly', async () => {
    const costly = resources.filter(({ isCostly }) => isCostly);
    expect(costly).not.toEqual([]);
    for (const resource of costly) {
      const { document, env } = simulateAccount({
        shape: { libraries: 1 },
        kinds: [resource.kind],
        isNamed: true,
      });
      const section = document[resource.section] as WrittenSection;
      const targets = section.targets.slice(0, 1) as WrittenSection['targets'];
      const whole = await startWhole({
        document: { ...document, [resource.section]: { ...section, targets, interval: '1h' } },
        env,
        routes: { '*': () => reply(503) },
      });
      await whole.exporter.start();
      await whole.pass(240_000);
      const [first = 0, second = 0] = gapsOf(whole.requests.map(({ atMs }) => atMs / 1000));
      expect(first).toBeGreaterThanOrEqual(48);
      expect(first).toBeLessThan(73);
      expect(second).toBeGreaterThanOrEqual(96);
      expect(second).toBeLessThan(146);
      await whole.stop();
    }
  });
});

describe('what would fail again is asked for at its interval', () => {
  it('whatever says that the request or the answer is wrong', async () => {
    const failing: Readonly<Record<string, Route>> = {
      'http-400': () => reply(400, '{"Message":"no"}'),
      'http-401': () => reply(401),
      'http-403': () => reply(403),
      'http-404': () => reply(404),
      redirect: () => reply(302, '', { location: 'https://example.com/' }),
      'too-many-values': () => ({ endpoints: Array(100).fill(0) }),
      'text-for-object': () => reply(200, '"active"'),
      'no-known-field': () => ({}),
    };
    const ids = Object.keys(failing);
    const whole = await startFailing(failing, '5m', { api: { max_response_bytes: '1KiB' } });
    const asked = () => ids.map((id) => [id, timesOf(whole, summaryOf(id)).length]);
    await whole.pass(530_000);
    expect(whole.exporter.targets().map(({ state }) => state)).toEqual([...ids.map(() => 'failing'), 'ok']);
    expect(asked()).toEqual(ids.map((id) => [id, 1]));
    await whole.pass(140_000);
    expect(asked()).toEqual(ids.map((id) => [id, 2]));
  });

  it('an error in the body', async () => {
    const path = '/shield/metrics/overview/7/detailed';
    const whole = await startWhole({
      document: { shield_statistics: { interval: '10m', targets: [7] } },
      routes: { [path]: () => ({ data: null, error: 'over the quota' }) },
    });
    await whole.exporter.start();
    await whole.pass(530_000);
    // At once for today alone: it might be the day before that is refused.
    const [first, ...others] = timesOf(whole, path);
    expect(others).toEqual([first]);
  });

  it.each<[string, unknown, boolean]>([
    ['a listing whose list is none', { items: 'no' }, false],
    ['an exception of ours', { items: [{ id: 'a', name: 'shop' }], meta: { totalItems: 1 } }, true],
  ])('%s', async (_, answer, isBroken) => {
    const whole = await startWhole({
      document: { applications: { targets: 'all' } },
      routes: { '/mc/apps': () => answer, [summaryOf('a')]: () => cost },
      onLine(line) {
        if (isBroken && line.includes('+1 application')) throw new Error('no space left on device');
      },
    });
    await whole.exporter.start();
    await whole.pass(530_000);
    expect(whole.exporter.listings().map(({ state }) => state)).toEqual(['failing']);
    expect(timesOf(whole, '/mc/apps')).toHaveLength(1);
  });
});

it.each([
  // Within the interval, and beyond it.
  ['10m', 120],
  ['1m', 300],
])('with an interval of %s, a Retry-After of %d s with 503 is kept', async (interval, retryAfter) => {
  const failing = () => reply(503, '', { 'retry-after': String(retryAfter) });
  const whole = await startFailing({ failing }, '10s', { interval });
  await whole.pass(1000 * (retryAfter + 60));
  const [gap = 0] = gapsOf(timesOf(whole, summaryOf('failing')));
  expect(gap).toBeGreaterThanOrEqual(retryAfter);
  expect(gap).toBeLessThan(retryAfter + 30);
});

it('a shorter Retry-After with 503 changes nothing', async () => {
  const whole = await startFailing({ failing: () => reply(503, '', { 'retry-after': '1' }) }, '30s');
  await whole.pass(20_000);
  const [gap = 0] = gapsOf(timesOf(whole, summaryOf('failing')));
  expect(gap).toBeGreaterThanOrEqual(8);
  expect(gap).toBeLessThan(12.5);
});

it('after half a minute of 429 everything is read within the pause and one round', async () => {
  const ids = idsOf('app', runs(30, 100));
  const whole = await startWhole({
    document: applications(ids, { interval: '1h' }),
    api: { requests_per_second: 10 },
    latencyMs: 500,
    routes: {
      '*': ({ atMs }) =>
        atMs < 30_000
          ? reply(429, '', { 'retry-after': String(Math.ceil((30_000 - atMs) / 1000)) })
          : reply(200, JSON.stringify(cost)),
    },
  });
  await whole.exporter.start();
  // Each ten take a second at this pace.
  await whole.pass(30_000 + 3000 + 100 * ids.length);
  expect(notOk(whole)).toEqual([]);
  const asked = whole.requests.length;
  await whole.pass(600_000);
  expect(whole.requests).toHaveLength(asked);
});

/** The most requests for one thing that always fails: at intervals that are doubled, each the shortest that it may be. */
function mostFor(seconds: number, intervalSeconds: number): number {
  let most = 1;
  let at = 0;
  for (let soon = 10; ; soon *= 2, most++) {
    at += Math.min(0.8 * soon, 0.9 * intervalSeconds);
    if (at > seconds) return most;
  }
}

it('targets that always fail beside good ones take no more requests than their doubling gives', async () => {
  const [bad, good] = [idsOf('bad', runs(5, 200)), idsOf('good', runs(2, 50))];
  const whole = await startWhole({
    document: applications([...bad, ...good]),
    routes: {
      '*': () => reply(500),
      ...Object.fromEntries(good.map((id) => [summaryOf(id), () => cost])),
    },
  });
  await whole.exporter.start();
  await whole.pass(3_600_000);
  for (const id of bad) expect(timesOf(whole, summaryOf(id)).length).toBeLessThanOrEqual(mostFor(3600, 600));
  const ofGood = good.map((id) => timesOf(whole, summaryOf(id)).length);
  expect(Math.min(...ofGood)).toBeGreaterThanOrEqual(6);
});

describe('while an API answers nothing', () => {
  /** What is requested: one thing for each target, one for a listing. */
  const thingOf = ({ path, query }: Request) => `${path} ${query.get('pullZone') ?? ''}`;
  const listing = '/pullzone ';

  /** Pull zones with their statistics. Everything was read when the outage begins. */
  async function startOutage(
    zones: number,
    interval: string,
    options: Partial<WholeOptions> = {},
    goodSeconds = runs(310, 700),
  ) {
    const good: Record<string, Route> = {
      '/pullzone': ({ query }) => {
        const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
        const ids = Array.from({ length: zones }, (_, n) => n + 1);
        const Items = ids
          .slice((page - 1) * perPage, page * perPage)
          .map((Id) => ({ Id, Name: `zone ${Id}` }));
        return { Items, TotalItems: zones, HasMoreItems: page * perPage < zones };
      },
      '/statistics': () => ({ RequestsServedChart: {} }),
    };
    const whole = await startWhole({
      document: { pull_zone_statistics: { interval, targets: 'all' } },
      routes: { ...good },
      ...options,
      api: { ...defaults, ...options.api },
    });
    await whole.exporter.start();
    await whole.pass(1000 * (zones / 10 + goodSeconds));
    expect(notOk(whole)).toEqual([]);
    const begin = () => {
      for (const path of Object.keys(good)) whole.routes[path] = () => reply(503);
    };
    begin();
    const before = whole.requests.length;
    const planned = await whole.value('bunnynet_exporter_planned_requests_per_second', { api: 'core' });
    return {
      whole,
      planned: planned ?? 0,
      asked: () => whole.requests.slice(before),
      end: () => void Object.assign(whole.routes, good),
      begin,
    };
  }

  it.each([
    [runs(10, 20), '5m', 60],
    [runs(15, 5000), runs('2m', '15m'), runs(12, 60)],
  ])(
    'what is tried again at %d zones shares the planned rate, or one request each ten seconds',
    async (zones, interval, longestSeconds) => {
      const { whole, planned, asked } = await startOutage(zones, interval);
      const seconds = runs(300, 600);
      await whole.pass(1000 * seconds);
      const first = new Map<string, number>();
      const again = asked().filter((request) => {
        const isAgain = first.has(thingOf(request));
        if (!isAgain) first.set(thingOf(request), request.atMs);
        return isAgain;
      });
      const budget = Math.max(planned, 0.1);
      // An outage is known once five have failed; until then the client tries twice more, also what is in flight by then.
      const known = (5 + 8) * 2 + 5;
      expect(again.length).toBeLessThanOrEqual(seconds * budget + known);
      const knownMs = [...first.values()][4] ?? Number.NaN;
      const whileKnown = again.filter(({ atMs }) => atMs > knownMs + 5000);
      expect(whileKnown.length).toBeGreaterThan(0);
      expect(whileKnown.length).toBeLessThanOrEqual(((whole.passedMs - knownMs) / 1000) * budget + 1);
      // What had not failed yet was due once at most.
      expect(asked().length).toBeLessThanOrEqual(zones + 2 + seconds * budget + known);
      // It is not left alone either: its return must be noticed.
      expect(longestGap(asked())).toBeLessThan(longestSeconds);
    },
  );

  const minutes = runs(8, 20);

  it(`for ${minutes} minutes, everything is read once within one round at the pace after its return`, async () => {
    const zones = runs(15, 150);
    const { whole, asked, end } = await startOutage(zones, runs('2m', '10m'));
    await whole.pass(60_000 * minutes);
    expect(notOk(whole).length).toBeGreaterThan(0.8 * zones);
    end();
    const before = asked().length;
    // The first request comes within ten seconds, and then a round takes one for each ten zones.
    await whole.pass(13_000 + 100 * zones);
    expect(notOk(whole)).toEqual([]);
    const times = new Map<string, number>();
    for (const request of asked().slice(before))
      times.set(thingOf(request), (times.get(thingOf(request)) ?? 0) + 1);
    times.delete(listing);
    expect(times.size).toBe(zones);
    expect(Math.max(...times.values())).toBe(1);
    expect(await whole.value('bunnynet_exporter_api_unreadable', { api: 'core' })).toBe(0);
  });

  it('and soon nothing again, its return is noticed as soon as the first time', async () => {
    // Four requests a second are planned, of which one is made: what failed last waits for forty seconds.
    const { whole, asked, begin, end } = await startOutage(40, '10s', {}, 20);
    await whole.pass(60_000);
    end();
    await whole.pass(7000);
    expect(notOk(whole)).toEqual([]);
    begin();
    const before = asked().length;
    await whole.pass(40_000);
    expect(notOk(whole).length).toBeGreaterThan(30);
    expect(longestGap(asked().slice(before))).toBeLessThan(5);
  });
});
