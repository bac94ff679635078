/** A 401 about an id, which the API answers as it does to a refused key: a mistyped id, and a key that is revoked. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';
import { eventually, type Route, reply, startWhole, type Whole, type WholeOptions } from './whole.ts';

const minuteMs = 60_000;
const chart = { '2026-08-15T00:00:00Z': 3 };
const egress = { TotalEgressChart: chart, HttpEgressChart: chart };
const list = (...ids: readonly number[]) => ({
  Items: ids.map((Id) => ({ Id, Name: `zone ${Id}` })),
  TotalItems: ids.length,
  HasMoreItems: false,
});
const upTo = (n: number) => Array.from({ length: n }, (_, at) => at + 1);

const up = 'bunnynet_storage_zone_egress_up';
const bytes = 'bunnynet_storage_zone_egress_bytes_latest_day';

interface Zones extends Partial<WholeOptions> {
  readonly zones: readonly number[];
  readonly targets?: readonly number[] | 'all';
  readonly interval?: string;
  /** Of the configuration. */
  readonly more?: object;
}

/** An account with some storage zones, whose key may be revoked, and whose listing may answer something else. */
async function startZones({ zones, targets = zones, interval = '5m', more = {}, ...options }: Zones) {
  const state = { isRevoked: false, listing: undefined as Route | undefined };
  const routes: Record<string, Route> = {
    '/storagezone': (request) =>
      state.listing ? state.listing(request) : state.isRevoked ? reply(401) : list(...zones),
    '/pullzone': () => (state.isRevoked ? reply(401) : list(501)),
    '*': ({ path }) => {
      const [, id] = /^\/storagezone\/(\d+)\/statistics\/egress$/.exec(path) ?? [];
      return !state.isRevoked && zones.includes(Number(id)) ? egress : reply(401);
    },
  };
  const whole = await startWhole({
    document: { storage_zone_egress: { targets, interval, stale_after: '3h' }, ...more },
    routes,
    ...options,
  });
  return { whole, state };
}

const refused = async (whole: Whole) =>
  Object.values(await whole.series('bunnynet_exporter_refused_keys')).reduce((sum, n) => sum + n, 0);
const results = (whole: Whole) =>
  whole.exporter.targets().map(({ lastFailure }) => lastFailure?.result ?? 'ok');
const lines = ({ log }: Whole) => log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg);
const asked = ({ requests }: Whole, path: string) => requests.filter((one) => one.path === path).length;

const unknownId = 'The core API answers HTTP 401 for an id, although it accepts the key';

/** Passes in steps, and tells the key after each. */
async function pass(whole: Whole, ms: number, stepMs: number, check: () => unknown) {
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    await whole.pass(stepMs);
    await whole.sweep();
    await check();
  }
}

describe('a mistyped id', () => {
  it('beside nothing is not found as soon as its listing was asked, and no key is told of', async () => {
    const { whole, state } = await startZones({ zones: [7], targets: [404] });
    const told: string[] = [];
    state.listing = () => {
      told.push(...results(whole));
      return list(7);
    };
    await whole.exporter.start();
    await pass(whole, 60 * minuteMs, 5 * minuteMs, async () => {
      expect([results(whole), await refused(whole)]).toEqual([['not_found'], 0]);
    });
    expect(whole.exporter.causes().map(({ title, reason }) => [title, reason])).toEqual([
      [unknownId, 'unknown_id'],
    ]);
    expect(lines(whole)).toEqual([expect.stringContaining(`${unknownId}: 1 target (storage zone egress).`)]);
    expect(await whole.value('bunnynet_exporter_failing_targets', { result: 'not_found' })).toBe(1);
    expect(await whole.value('bunnynet_exporter_api_unreadable', { api: 'core' })).toBe(0);
    // It is asked once for each poll, and what was known stays told meanwhile.
    const polls = asked(whole, '/storagezone/404/statistics/egress');
    expect(polls).toBeGreaterThan(2);
    expect(told).toEqual(['auth', ...Array<string>(polls - 1).fill('not_found')]);
  });

  it('beside other kinds and good ids changes nothing of them', async () => {
    const { whole } = await startZones({
      zones: upTo(5),
      targets: [404, ...upTo(5)],
      more: { pull_zones: { targets: 'all', interval: '5m' } },
    });
    await whole.exporter.start();
    await pass(whole, 20 * minuteMs, 2 * minuteMs, async () => {
      expect(results(whole).toSorted()).toEqual(['not_found', ...Array<string>(6).fill('ok')]);
      expect(await refused(whole)).toBe(0);
    });
    expect(lines(whole)).toHaveLength(1);
    expect(whole.exporter.causes()).toHaveLength(1);
  });

  it('is known although its kind is paused: what is asked to know it is of another kind', async () => {
    const { whole } = await startZones({
      zones: [7, 8],
      targets: [7, 404, 8],
      latencyMs: 100,
      api: { max_concurrency: 2 },
    });
    whole.routes['/storagezone/7/statistics/egress'] = () => reply(429, '', { 'retry-after': '600' });
    await whole.exporter.start();
    await whole.pass(5000);
    expect(results(whole).toSorted()).toEqual(['not_found', 'ok', 'rate_limited']);
    expect(asked(whole, '/storagezone/8/statistics/egress')).toBe(0);
  });

  it('is known before what polls once ends', async () => {
    const { whole } = await startZones({ zones: [7], targets: [404, 7], latencyMs: 100 });
    for (const expected of [
      ['not_found', 'ok'],
      ['not_found', 'not_found'],
    ]) {
      await whole.poll();
      expect(results(whole)).toEqual(expected);
      whole.routes['*'] = () => reply(401);
    }
  });

  it('at an API without a listing is known from another id that is read', async () => {
    const whole = await startWhole({
      document: { pull_zone_origin_errors: { targets: [404, 501], interval: '5m' } },
      routes: { '*': ({ path }) => (path.includes('/501/') ? { logs: [] } : reply(401)) },
    });
    await whole.exporter.start();
    await whole.pass(minuteMs);
    expect([results(whole), await refused(whole)]).toEqual([['not_found', 'ok'], 0]);
  });

  it('at an API where nothing else can be asked stays in doubt, which says neither', async () => {
    const whole = await startWhole({
      document: { pull_zone_origin_errors: { targets: [404], interval: '5m' } },
      routes: { '*': () => reply(401) },
    });
    await whole.exporter.start();
    await pass(whole, 20 * minuteMs, 4 * minuteMs, async () => {
      expect([results(whole), await refused(whole)]).toEqual([['auth'], 0]);
    });
    expect(lines(whole)).toEqual([
      expect.stringMatching(
        /^The origin_errors API answers HTTP 401 for an id, and nothing else was read with the key of account \(from \$KEY\) since: .*The id is unknown, or the key is refused\. Check both\.$/,
      ),
    ]);
  });

  it('of a video, in a library whose own key is good', async () => {
    const whole = await startWhole({
      document: { video_storage: { targets: 'all', interval: '5m' } },
      routes: {
        '/videolibrary': () => ({ ...list(4), Items: [{ Id: 4, Name: 'films', ApiKey: 'opens-it' }] }),
        '/library/4/videos': () => ({
          items: ['a', 'b'].map((guid) => ({ guid, status: 4 })),
          totalItems: 2,
        }),
        '/library/4/videos/a/storage': () => reply(401),
        '/library/4/videos/b/storage': () => ({ success: true, data: { originals: 5 } }),
      },
    });
    await whole.exporter.start();
    // Its key was never read with for this one: that does not make it a new key again.
    await whole.pass(4 * minuteMs);
    await pass(whole, 12 * minuteMs, minuteMs, async () => {
      expect([results(whole), await refused(whole)]).toEqual([['not_found', 'ok'], 0]);
    });
  });

  it('of very many asks for something else at most once a second', async () => {
    const n = runs(100, 5000);
    const { whole } = await startZones({ zones: [7], targets: upTo(n + 7).slice(7), latencyMs: 20 });
    await whole.exporter.start();
    await whole.pass(4 * minuteMs);
    expect(new Set(results(whole))).toEqual(new Set(['not_found']));
    const times = whole.requests.filter(({ path }) => path === '/storagezone').map(({ atMs }) => atMs);
    expect(times.length).toBeGreaterThan(0);
    for (const [at, atMs] of times.slice(1).entries())
      expect(atMs - (times[at] ?? 0)).toBeGreaterThanOrEqual(1000);
    expect(lines(whole)).toHaveLength(1);
  });
});

describe('a key that is revoked between two polls of many targets that are named', () => {
  const zones = upTo(runs(8, 50));
  const interval = runs('2m', '5m');
  // Until each is polled at its own time.
  const settledMs = runs(10, 60) * minuteMs;

  it.each([
    ['is refused within a minute, and no id is unknown', {}],
    ['is refused also beside an id that was unknown before', { targets: [404, ...zones] }],
  ])('%s', async (_, more) => {
    const { whole, state } = await startZones({ zones, interval, ...more });
    await whole.exporter.start();
    await whole.pass(settledMs);
    const before = results(whole).filter((result) => result === 'not_found').length;
    state.isRevoked = true;
    const revokedMs = whole.passedMs;
    let refusedAfterMs: number | undefined;
    const check = async () => {
      const found = results(whole);
      expect(found.filter((result) => result === 'not_found').length).toBeLessThanOrEqual(before);
      const isRefused = (await refused(whole)) === 1;
      if (isRefused) refusedAfterMs ??= whole.passedMs - revokedMs;
      // Once it is told, it stays.
      expect(isRefused).toBe(refusedAfterMs !== undefined);
      // Nothing is taken off the page.
      expect(Object.keys(await whole.series(bytes))).toHaveLength(zones.length);
    };
    await pass(whole, minuteMs, 10_000, check);
    expect(refusedAfterMs).toBeDefined();
    await pass(whole, runs(4, 10) * minuteMs, minuteMs, check);
    // What was unknown before may have been polled, too, or not yet.
    expect(results(whole).slice(-zones.length)).toEqual(zones.map(() => 'auth'));
    expect(whole.exporter.causes()[0]?.reason).toBe('refused');

    state.isRevoked = false;
    await whole.pass(runs(5, 12) * minuteMs);
    expect(await refused(whole)).toBe(0);
    expect(Object.values(await whole.series(up)).reduce((sum, n) => sum + n, 0)).toBe(zones.length);
  });

  it('is refused also where only an unknown id is polled soon', async () => {
    const unknown = { id: 404, interval: '1m' };
    const { whole, state } = await startZones({
      zones: [7],
      more: { storage_zone_egress: { targets: [unknown, 7], interval: '6h' } },
    });
    await whole.exporter.start();
    await whole.pass(30 * minuteMs);
    state.isRevoked = true;
    await whole.pass(12 * minuteMs);
    // The account was asked for what was read last.
    expect([results(whole), await refused(whole)]).toEqual([['auth', 'auth'], 1]);
    state.isRevoked = false;
    await whole.pass(12 * minuteMs);
    expect([results(whole), await refused(whole)]).toEqual([['not_found', 'ok'], 0]);
  });

  it('and is good again: what was refused is polled at once, and what is unknown is told so', async () => {
    const { whole, state } = await startZones({
      zones: [7, 8],
      more: { storage_zone_egress: { targets: [404, { id: 7, interval: '1m' }, 8], interval: '10m' } },
    });
    await whole.exporter.start();
    await whole.pass(30 * minuteMs);
    state.isRevoked = true;
    await whole.poll();
    expect([results(whole), await refused(whole)]).toEqual([['auth', 'auth', 'auth'], 1]);
    state.isRevoked = false;
    await whole.pass(70_000);
    expect([results(whole), await refused(whole)]).toEqual([['not_found', 'ok', 'ok'], 0]);
  });

  it('is refused also beside something that it never could read', async () => {
    const { whole, state } = await startZones({ zones, interval, more: { billing: { interval: '5m' } } });
    whole.routes['/billing'] = () => reply(401);
    await whole.exporter.start();
    await whole.pass(settledMs);
    expect(await refused(whole)).toBe(0);
    state.isRevoked = true;
    await whole.pass(minuteMs);
    expect(await refused(whole)).toBe(1);
  });

  it('is not taken for good by a poll that began before and ends well after: no id is unknown meanwhile', async () => {
    const { whole, state } = await startZones({
      zones: [7, 8],
      more: { storage_zone_egress: { targets: [7, { id: 8, interval: '2s' }], interval: '30s' } },
    });
    const answer = whole.routes['*'];
    const slow = '/storagezone/7/statistics/egress';
    whole.routes['*'] = async (request) => {
      const given = answer?.(request);
      if (request.path === slow) await sleep(8000);
      return given;
    };
    state.listing = async () => {
      const given = state.isRevoked ? reply(401) : list(7, 8);
      await sleep(9000);
      return given;
    };
    await whole.exporter.start();
    await whole.pass(2 * minuteMs);
    const before = asked(whole, slow);
    while (asked(whole, slow) === before) await whole.pass(100);
    state.isRevoked = true;
    for (let n = 0; n < 120; n++) {
      await whole.pass(500);
      expect(results(whole)).not.toContain('not_found');
    }
    expect([results(whole), await refused(whole)]).toEqual([['auth', 'auth'], 1]);
  });

  it('is refused also at an API without a listing', async () => {
    let isRevoked = false;
    const whole = await startWhole({
      document: { pull_zone_origin_errors: { targets: zones, interval } },
      routes: { '*': () => (isRevoked ? reply(401) : { logs: [] }) },
    });
    await whole.exporter.start();
    await whole.pass(settledMs);
    isRevoked = true;
    await pass(whole, minuteMs, 10_000, () => expect(results(whole)).not.toContain('not_found'));
    expect(await refused(whole)).toBe(1);
  });
});

describe('while nothing tells whether an id or the key is wrong', () => {
  const answers: readonly (readonly [string, Route])[] = [
    ['answers 500', () => reply(500)],
    ['answers 403', () => reply(403)],
    ['never answers', () => new Promise<never>(() => undefined)],
  ];

  it.each(answers)(
    'because the listing %s, it is auth, of no key, and nothing leaves the page',
    async (_, listing) => {
      const { whole, state } = await startZones({ zones: [7, 8] });
      await whole.exporter.start();
      await whole.pass(minuteMs);
      state.isRevoked = true;
      state.listing = listing;
      await pass(whole, 20 * minuteMs, 4 * minuteMs, async () => {
        expect(await refused(whole)).toBe(0);
        expect(Object.values(await whole.series(bytes))).toEqual([3, 3]);
      });
      expect(results(whole)).toEqual(['auth', 'auth']);
      expect(lines(whole)).toEqual([
        expect.stringContaining('nothing else was read with the key of account'),
      ]);
      // The key was revoked, and works again: that the id was unknown meanwhile does not follow.
      state.isRevoked = false;
      state.listing = undefined;
      await pass(whole, 60 * minuteMs, 5 * minuteMs, () => expect(results(whole)).not.toContain('not_found'));
      expect(Object.values(await whole.series(up))).toEqual([1, 1]);
    },
  );

  it('a poll of something else that is read decides it', async () => {
    const { whole, state } = await startZones({
      zones: [7],
      targets: [404, 7],
      more: { storage_zone_egress: { targets: [{ id: 404, interval: '1h' }, 7], interval: '1m' } },
    });
    state.listing = () => reply(500);
    await whole.exporter.start();
    await whole.pass(1000);
    expect(results(whole)).toEqual(['auth', 'ok']);
    await whole.pass(2 * minuteMs);
    expect(results(whole)).toEqual(['not_found', 'ok']);
    expect(await refused(whole)).toBe(0);
  });
});

describe('while something else is asked with the key', () => {
  /** The listing answers when the test says so. */
  async function startWaiting() {
    let answer: ((route: unknown) => void) | undefined;
    const { whole, state } = await startZones({ zones: [7], targets: [404] });
    state.listing = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await whole.exporter.start();
    await whole.pass(1000);
    return { whole, state, answer: (route: unknown) => answer?.(route) };
  }

  it('a reload asks anew, and what comes late says nothing', async () => {
    const { whole, state, answer } = await startWaiting();
    await whole.reload();
    state.listing = () => reply(500);
    await whole.pass(1000);
    answer(list(7));
    await whole.pass(5000);
    expect(results(whole)).toEqual(['auth']);
    state.listing = undefined;
    await whole.reload();
    await whole.pass(5000);
    expect(results(whole)).toEqual(['not_found']);
  });

  it('a key that its file replaces meanwhile makes no id unknown', async () => {
    const path = join(temporary({ key: 'old' }), 'key');
    const seen: string[] = [];
    const { whole } = await startZones({
      zones: upTo(5),
      targets: 'all',
      overSockets: true,
      more: { credentials: { account: { file: path } } },
    });
    const answers = { ...whole.routes };
    let current = 'old';
    for (const [route, answer] of Object.entries(answers))
      whole.routes[route] = (request) => {
        seen.push(...results(whole));
        return request.key === current ? answer(request) : reply(401);
      };
    await whole.poll();
    for (current of ['new', 'newer']) {
      writeFileSync(path, current);
      await whole.poll();
      await eventually(() => expect(results(whole)).toEqual(Array<string>(5).fill('ok')));
    }
    expect(seen).not.toContain('not_found');
  });

  it('the exporter stops at once', async () => {
    const { whole } = await startWaiting();
    await whole.stop();
    expect(whole.said('unexpected')).toEqual([]);
  });
});

it('a 401 within a millisecond of what was asked in vain is asked about, too', async () => {
  let hasListed = () => {};
  const listed = new Promise<void>((resolve) => {
    hasListed = resolve;
  });
  const { whole } = await startZones({ zones: [], targets: [403, 404] });
  whole.routes['/storagezone'] = () => {
    setImmediate(hasListed);
    return reply(500);
  };
  whole.routes['/storagezone/404/statistics/egress'] = async () => {
    await listed;
    return reply(401);
  };
  expect(await whole.poll()).toBe(false);
  const askedBefore = asked(whole, '/storagezone');
  await whole.pass(10 * minuteMs);
  expect(asked(whole, '/storagezone')).toBeGreaterThan(askedBefore);
});
