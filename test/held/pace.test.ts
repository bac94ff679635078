/** When things are requested, and how often, as the API sees it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Shape } from '../../simulator/dataset.ts';
import { application } from '../../src/resources/kinds/application.ts';
import { dnsZone } from '../../src/resources/kinds/dns-zone.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { pullZoneStatistics } from '../../src/resources/kinds/pull-zone-statistics.ts';
import { rateLimit } from '../../src/resources/kinds/rate-limit.ts';
import { videoEncoding } from '../../src/resources/kinds/video-encoding.ts';
import { runs } from '../runs.ts';
import { few } from '../simulator/start.ts';
import { simulateAccount } from './account.ts';
import { type Request, reply, startWhole, type WholeOptions } from './whole.ts';

it('everything of an account is read once within a minute, and then at its interval', async () => {
  const some = [application, dnsZone, pullZoneStatistics, rateLimit, videoEncoding];
  const whole = await startWhole({
    ...simulateAccount({
      shape: runs<Partial<Shape>>({ ...few, rateLimitZones: 1 }, { applications: 3 }),
      kinds: runs<readonly { readonly kind: string }[]>(some, resources).map(({ kind }) => kind),
    }),
    api: { max_concurrency: 8, requests_per_second: 10 },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  // Zones of which the plan has no rate limits lack them.
  const states = new Set(whole.exporter.targets().map(({ state }) => state));
  expect([...states].toSorted()).toEqual(['lacking', 'ok']);
  const planned = Object.values(await whole.series('bunnynet_exporter_planned_requests_per_second'));
  const before = whole.requests.length;
  await whole.pass(600_000);
  const later = whole.requests.slice(before).map(({ atMs }) => atMs);
  // Some polls take more than one request, and in the first rounds each moves towards its own time.
  const polls = 600 * planned.reduce((sum, rate) => sum + rate, 0);
  expect(later.length / polls).toBeGreaterThan(0.7);
  expect(later.length / polls).toBeLessThan(1.5);
});

it('the page has the rate that each API is allowed beside the one that is planned, also after a reload', async () => {
  const whole = await startWhole({
    document: { applications: { interval: '1m', targets: ['a', 'b'] }, billing: { interval: '10m' } },
    routes: { '*': () => ({ monthlyCost: 1, Balance: 3 }) },
    api: { requests_per_second: 7 },
  });
  await whole.exporter.start();
  const allowed = () => whole.series('bunnynet_exporter_allowed_requests_per_second');
  expect(await allowed()).toEqual({ '{api="application"}': 7, '{api="core"}': 7 });
  expect(await whole.series('bunnynet_exporter_planned_requests_per_second')).toEqual({
    '{api="application"}': expect.closeTo(2 / 60, 5) as unknown,
    '{api="core"}': expect.closeTo(1 / 600, 5) as unknown,
  });
  whole.api.requests_per_second = 0.5;
  await whole.reload();
  expect(await allowed()).toEqual({ '{api="application"}': 0.5, '{api="core"}': 0.5 });
});

const list = (items: readonly object[]) => ({ Items: items, TotalItems: items.length, HasMoreItems: false });
/** The default pace of an API; by day with half its requests at a time, which fewer things keep busy. */
const pace = { max_concurrency: runs(4, 8), requests_per_second: 10, timeout: '10s', max_retries: 2 };
const chart = { '2026-08-15T00:00:00Z': 3 };

/** Accounts with some pull zones each, whose statistics are read alone; the key of an account is `key-of-<account>`. */
function accountsOf(zonesOf: Readonly<Record<string, number>>, interval = '5m') {
  const accounts = Object.keys(zonesOf);
  return {
    api: pace,
    document: {
      credentials: Object.fromEntries(accounts.map((account) => [account, { env: account }])),
      accounts,
      pull_zones: { targets: 'all', interval },
      pull_zone_statistics: { targets: 'all', interval },
    } as never,
    env: Object.fromEntries(accounts.map((account) => [account, `key-of-${account}`])),
    zones: ({ key = '' }: Request) => {
      const at = accounts.findIndex((account) => key === `key-of-${account}`);
      const account = accounts[at] ?? '';
      return list(
        Array.from({ length: zonesOf[account] ?? 0 }, (_, n) => ({
          Id: 10_000 * (at + 1) + n,
          Name: `${account} ${n}`,
          EnableOriginShield: true,
        })),
      );
    },
  };
}

const statistics = {
  TotalBandwidthUsed: 3,
  TotalRequestsServed: 3,
  BandwidthUsedChart: chart,
  RequestsServedChart: chart,
};

/** Libraries of one account, each with its own key, whose statistics are read. */
function librariesOf(keys: readonly string[], interval = '5m') {
  return {
    document: { video_library_statistics: { targets: 'all', interval } } as never,
    api: pace,
    libraries: () => list(keys.map((ApiKey, n) => ({ Id: n + 1, Name: `library ${n + 1}`, ApiKey }))),
  };
}

/** How many requests each key made. */
function countByKey(requests: readonly Request[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { key = '' } of requests) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

const minuteMs = 60_000;

describe('keys that always get 429 hold back nobody else', () => {
  const minutes = runs(7, 20);
  /**
   * Nearly all requests of a key for so many things that are polled every minute, from the start on. lostMinutes: in which the API as a
   * whole was paused.
   */
  const nearlyAll = (things: number, lostMinutes = 0) => 0.99 * (minutes + 1 - lostMinutes) * things;

  /**
   * The requests of each key within some minutes, and which targets are up then, with these keys refused from the second minute on:
   * until then it is known what there is to request with them.
   */
  async function play(
    { routes, ...options }: Pick<WholeOptions, 'api' | 'document' | 'env' | 'routes'>,
    refused: readonly string[],
  ) {
    const refusing = Object.fromEntries(
      Object.entries(routes).map(([path, route]) => [
        path,
        (request: Request) =>
          request.atMs > minuteMs && refused.includes(request.key ?? '')
            ? reply(429, '', { 'retry-after': '30' })
            : route(request),
      ]),
    );
    const whole = await startWhole({ ...options, routes: refusing, latencyMs: 50 });
    await whole.exporter.start();
    await whole.pass(minutes * minuteMs);
    await whole.sweep();
    const failing = whole.exporter.targets().filter(({ state }) => state !== 'ok');
    return { counts: countByKey(whole.requests), failing, whole };
  }

  it.each([
    ['one of two accounts', ['acme', 'umbrella'], ['acme']],
    [
      'two of many accounts',
      Array.from({ length: runs(4, 10) }, (_, n) => `account${n}`),
      ['account0', 'account1'],
    ],
  ])('%s', async (_, accounts, refused) => {
    const n = runs(2, 5);
    const { zones, ...options } = accountsOf(
      Object.fromEntries(accounts.map((account) => [account, n])),
      '1m',
    );
    const routes = { '/pullzone': zones, '/statistics': () => statistics };
    const { counts, failing, whole } = await play(
      { ...options, routes },
      refused.map((account) => `key-of-${account}`),
    );
    const others = accounts.filter((account) => !refused.includes(account));
    // Two keys that are paused pause the API once, for a minute at most, if nothing else is read in between. By day something is.
    const lostMinutes = refused.length > 1 ? runs(0, 1) : 0;
    for (const account of others)
      expect(counts[`key-of-${account}`], account).toBeGreaterThanOrEqual(nearlyAll(1 + n, lostMinutes));
    expect(failing.filter(({ target }) => others.includes(target.account))).toEqual([]);
    for (const account of refused)
      expect(whole.said(`with the key of ${account}; it gets none for this kind`)).not.toEqual([]);
  });

  it('two of five libraries', async () => {
    const keys = Array.from({ length: 5 }, (_, n) => `key-of-library-${n + 1}`);
    const { libraries, ...options } = librariesOf(keys, '1m');
    const routes = { '/videolibrary': libraries, '*': () => ({ viewsChart: chart }) };
    const env = { KEY: 'key-of-the-account' };
    const { counts, failing, whole } = await play({ ...options, env, routes }, keys.slice(0, 2));
    for (const key of keys.slice(2)) expect(counts[key], key).toBeGreaterThanOrEqual(nearlyAll(1));
    expect(failing.map(({ target }) => target.ids['library_id'])).toEqual(['1', '2']);
    expect(whole.said('with the key of library/1 of the account account; it gets none')).not.toEqual([]);
  });
});

describe('an operation that always gets 429 holds back nothing else of its key', () => {
  const hours = runs(1, 3);
  const some = runs(6, 20);
  const everyMs = 5 * minuteMs;

  const pauses = [
    [300, 'billing'],
    // One that is read for each zone.
    [300, 'pull_zone_origin_shield'],
    [120, 'billing'],
    [600, 'billing'],
  ] as const;

  it.each(pauses.slice(0, runs(2, 4)))('with a Retry-After of %d s for %s', async (seconds, kind) => {
    const { zones, ...options } = accountsOf({ acme: some });
    const refusal = () => reply(429, '', { 'retry-after': `${seconds}` });
    const whole = await startWhole({
      ...options,
      document: { ...(options.document as object), [kind]: { targets: 'all', interval: '5m' } },
      routes: { '/pullzone': zones, '/statistics': () => statistics, '*': refusal },
      latencyMs: 50,
    });
    await whole.exporter.start();
    await whole.pass(hours * 60 * minuteMs);
    const asked = (path: string) => whole.requests.filter((request) => request.path === path);
    const byZone = new Map<string, number>();
    for (const { query } of asked('/statistics'))
      byZone.set(query.get('pullZone') ?? '', (byZone.get(query.get('pullZone') ?? '') ?? 0) + 1);
    expect(byZone.size).toBe(some);
    const intervals = (hours * 60 * minuteMs) / everyMs;
    for (const [zone, count] of byZone) expect(count, zone).toBeGreaterThanOrEqual(0.9 * intervals);
    expect(asked('/pullzone').length).toBeGreaterThanOrEqual(0.9 * intervals);
    // It is asked for as rarely as it says, and named.
    await whole.sweep();
    expect(whole.said(`429 to requests for the kind ${kind} with the key of acme; it gets none`)).not.toEqual(
      [],
    );
    const others = whole.requests.length - asked('/statistics').length - asked('/pullzone').length;
    expect(others).toBeLessThan((hours * 60 * 60) / seconds + runs(5, 20));
    const ofKeys = await whole.series('bunnynet_exporter_api_paused_until_timestamp_seconds');
    expect(new Set(Object.values(ofKeys))).toEqual(new Set([0]));
    const ofKinds = Object.keys(await whole.series('bunnynet_exporter_kind_paused_until_timestamp_seconds'));
    expect(ofKinds.filter((labels) => !labels.includes(`kind="${kind}"`))).toEqual([]);
  });
});

it.each([
  [120, 0.9],
  // As long as their interval: its kind is asked for nothing during each pause.
  [300, 0.5],
])(
  'one of many zones that always gets 429 with a Retry-After of %d s lets the others be read after each pause',
  async (seconds, share) => {
    const hours = runs(1, 3);
    const { zones, ...options } = accountsOf({ acme: 20 });
    const whole = await startWhole({
      ...options,
      routes: {
        '/pullzone': zones,
        '/statistics': ({ query }) =>
          query.get('pullZone') === '10007' ? reply(429, '', { 'retry-after': `${seconds}` }) : statistics,
      },
      latencyMs: 50,
    });
    await whole.exporter.start();
    await whole.pass(hours * 60 * minuteMs);
    const byZone = new Map<string, number>();
    for (const { path, query } of whole.requests) {
      const zone = query.get('pullZone') ?? '';
      if (path === '/statistics') byZone.set(zone, (byZone.get(zone) ?? 0) + 1);
    }
    expect(byZone.size).toBe(20);
    expect(byZone.get('10007')).toBeGreaterThan(3);
    byZone.delete('10007');
    for (const [zone, count] of byZone) expect(count, zone).toBeGreaterThanOrEqual(share * 12 * hours);
  },
);

describe('an account that is slow holds back nobody else: the others are late by at most two of its timeouts', () => {
  const slowThings = runs(30, 1500);
  const timeoutMs = 10_000;

  const answers: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['takes nine seconds for each answer', () => sleep(9000)],
    ['never answers', () => new Promise<never>(() => undefined)],
  ];

  /** Reads for a while; fast: the things of the other account, by the paths and queries of their requests. */
  async function gapsOf(options: WholeOptions, isFast: (request: Request) => boolean) {
    const whole = await startWhole(options);
    await whole.exporter.start();
    await whole.pass(runs(4, 30) * minuteMs);
    const last = new Map<string, number>();
    const gapsMs: number[] = [];
    for (const request of whole.requests.filter(isFast)) {
      const thing = `${request.path} ${request.query.get('pullZone') ?? ''}`;
      gapsMs.push(request.atMs - (last.get(thing) ?? 0));
      last.set(thing, request.atMs);
    }
    for (const [thing, atMs] of last) {
      expect(whole.passedMs - atMs, thing).toBeLessThanOrEqual(1.1 * minuteMs + 2 * timeoutMs);
    }
    return { whole, things: last.size, longestMs: Math.max(...gapsMs) };
  }

  // By day one of them here, and the other in the libraries.
  it.each(answers.slice(runs(1, 0)))('that %s', async (_, wait) => {
    const { zones, ...options } = accountsOf({ slow: slowThings, quick: 5 }, '1m');
    const { things, longestMs, whole } = await gapsOf(
      {
        ...options,
        routes: {
          '/pullzone': zones,
          '/statistics': async ({ key }) => {
            if (key === 'key-of-slow') await wait();
            return statistics;
          },
        },
      },
      ({ path, key }) => path === '/statistics' && key === 'key-of-quick',
    );
    expect(things).toBe(5);
    expect(longestMs).toBeLessThanOrEqual(1.1 * minuteMs + 2 * timeoutMs);
    const ofQuick = whole.exporter.targets().filter(({ target }) => target.account === 'quick');
    expect(ofQuick.map(({ state }) => state)).toEqual(ofQuick.map(() => 'ok'));
  });

  it.each(answers.slice(0, runs(1, 2)))('in its libraries, each of which %s', async (_, wait) => {
    const { longestMs, things, whole } = await gapsOf(
      {
        api: pace,
        document: {
          credentials: { slow: { env: 'SLOW' }, quick: { env: 'QUICK' } },
          accounts: ['slow', 'quick'],
          video_library_statistics: { targets: 'all', interval: '1m' },
        } as never,
        env: { SLOW: 'key-of-slow', QUICK: 'key-of-quick' },
        routes: {
          '/videolibrary': ({ key, query }) => {
            const [from, n] = key === 'key-of-quick' ? [100_000, 5] : [1, slowThings];
            const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
            const all = Array.from({ length: n }, (_, at) => ({
              Id: from + at,
              Name: '',
              // Real keys begin differently, too. To hide thousands with the same beginning takes long.
              ApiKey: `${from + at}-library`,
            }));
            const Items = all.slice((page - 1) * perPage, page * perPage);
            return { Items, TotalItems: n, HasMoreItems: page * perPage < n };
          },
          '*': async ({ key = '' }) => {
            if (!key.startsWith('10000')) await wait();
            return { viewsChart: chart };
          },
        },
      },
      ({ key = '' }) => key.startsWith('10000'),
    );
    expect(things).toBe(5);
    expect(longestMs).toBeLessThanOrEqual(1.1 * minuteMs + 2 * timeoutMs);
    const ofQuick = whole.exporter.targets().filter(({ target }) => target.account === 'quick');
    expect(ofQuick.map(({ state }) => state)).toEqual(ofQuick.map(() => 'ok'));
  });
});
