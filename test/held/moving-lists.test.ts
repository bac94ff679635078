/** Lists in pages that change while they are read. */
import { describe, expect, it } from 'vitest';
import { temporary } from '../http/temporary.ts';
import { writeHistory } from './history-before.ts';
import { byHour } from './steady.ts';
import { type Request, reply, startWhole, type Whole } from './whole.ts';

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Warnings and errors of the log, and what is wrong. */
function complaints({ log, exporter }: Whole): readonly string[] {
  const lines = log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg);
  return [...lines, ...exporter.causes().map(({ title }) => title)];
}

/** When the listing was read, in seconds since the start. */
function readsOf(whole: Whole, path = '/pullzone'): readonly number[] {
  const firstPages = whole.requests.filter(
    (request) => request.path === path && request.query.get('page') === '1',
  );
  return firstPages.map(({ atMs }) => atMs / 1000);
}

/** Until the listing was read once more, and what it had was delivered. */
async function readOnceMore(whole: Whole): Promise<void> {
  const { length } = readsOf(whole);
  while (readsOf(whole).length === length) await whole.pass(1000);
  await whole.pass(2000);
  expect(readsOf(whole)).toHaveLength(length + 1);
}

/** Pull zones in pages of 100. moves: called after each page that was sent. */
async function startZones(ids: readonly number[], interval = '10m') {
  const state = { ids, moves: (_page: number) => {} };
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all', interval } },
    routes: {
      '/pullzone': ({ query }: Request) => {
        const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
        const Items = state.ids
          .slice((page - 1) * perPage, page * perPage)
          .map((Id) => ({ Id, Name: `zone ${Id}`, Enabled: true }));
        const answer = {
          Items,
          TotalItems: state.ids.length,
          HasMoreItems: page * perPage < state.ids.length,
        };
        state.moves(page);
        return answer;
      },
    },
  });
  await whole.exporter.start();
  const shown = async () => {
    const series = Object.entries(await whole.series('bunnynet_pull_zone_enabled'));
    return series
      .filter(([, value]) => value === 1)
      .map(([labels]) => Number(/pull_zone_id="(\d+)"/.exec(labels)?.[1]))
      .sort((a, b) => a - b);
  };
  return { whole, state, shown };
}

/** After its first page the next run loses zone 50: 101 moves to that page, and is not seen. */
function losesOne(state: Awaited<ReturnType<typeof startZones>>['state']): void {
  state.moves = (page) => {
    if (page === 1) state.ids = state.ids.filter((id) => id !== 50);
    state.moves = () => {};
  };
}

describe('a listing of targets that moves while it is paged', () => {
  it('has at once what it read, and is read again soon', async () => {
    const { whole, state, shown } = await startZones(numbers(1, 130));
    state.moves = (page) => {
      if (page === 1) state.ids = [1000, ...state.ids];
    };
    await whole.pass(5000);
    expect(await shown()).toEqual(numbers(1, 130));
    state.moves = () => {};
    await whole.pass(10_000);
    expect(await shown()).toEqual([...numbers(1, 130), 1000]);
    const [first = 0, second = 0, ...more] = readsOf(whole);
    expect(second - first).toBeGreaterThanOrEqual(8);
    expect(more).toEqual([]);
    await whole.pass(520_000);
    expect(readsOf(whole)).toHaveLength(2);
  });

  it('ends a failure of the listing for all of it, also for what that run lacks', async () => {
    const { whole, state } = await startZones(numbers(1, 130));
    await whole.pass(5000);
    const { '/pullzone': zones } = whole.routes;
    whole.routes['/pullzone'] = () => reply(403);
    await whole.pass(700_000);
    const ups = async () => Object.values(await whole.series('bunnynet_pull_zone_up'));
    expect(new Set(await ups())).toEqual(new Set([0]));
    whole.routes['/pullzone'] = (request) => zones?.(request);
    losesOne(state);
    await readOnceMore(whole);
    expect(await ups()).toEqual(Array.from({ length: 130 }, () => 1));
    expect(whole.exporter.targets().every(({ state: one }) => one === 'ok')).toBe(true);
  });

  it('ends a failure also for what was never read, which has no row then', async () => {
    const { whole, state } = await startZones(numbers(1, 130));
    const { '/pullzone': zones } = whole.routes;
    whole.document = { pull_zones: { targets: [5, 101], interval: '10m' } };
    await whole.reload();
    whole.routes['/pullzone'] = () => reply(403);
    await whole.exporter.start();
    await whole.pass(5000);
    whole.routes['/pullzone'] = (request) => zones?.(request);
    losesOne(state);
    await readOnceMore(whole);
    expect(await whole.series('bunnynet_pull_zone_up')).toEqual({
      '{pull_zone_id="5",account="account"}': 1,
    });
  });

  it('takes nothing away that was known, fails not, and is no drift', async () => {
    const { whole, state, shown } = await startZones(numbers(1, 130));
    await whole.pass(5000);
    expect(await shown()).toEqual(numbers(1, 130));
    // The first page lacks 50; 101 moves from the second page to the first one, which was read; 131 is new.
    state.moves = (page) => {
      if (page === 1) state.ids = [...state.ids.filter((id) => id !== 50), 131, 132];
      state.moves = () => {};
    };
    await readOnceMore(whole);
    expect(await shown()).toEqual(numbers(1, 132));
    const of = { kind: 'pull_zone' };
    expect(await whole.value('bunnynet_exporter_discovery_up', of)).toBe(1);
    expect(
      await whole.value('bunnynet_exporter_polls_total', { ...of, result: 'schema' }),
      'results of polls',
    ).toBe(0);
    expect(await whole.series('bunnynet_exporter_schema_mismatches_total')).toEqual({});
    expect(complaints(whole)).toEqual([]);
    // Read again as a whole, it has what there is.
    await whole.pass(15_000);
    expect(await shown()).toEqual(numbers(1, 132).filter((id) => id !== 50));
  });

  it('is read again after 10 s, doubled up to its interval; what three runs in a row lacked leaves', async () => {
    const { whole, state, shown } = await startZones(numbers(1, 130), '2m');
    await whole.pass(5000);
    // A new zone with each first page; 7 is deleted. 9 is lacking twice and comes back.
    let next = 131;
    const away = new Set([7, 9]);
    state.ids = state.ids.filter((id) => !away.has(id));
    state.moves = (page) => {
      if (page === 1) state.ids = [...state.ids, next++];
    };
    const runs = () => readsOf(whole).length - 1;
    while (runs() < 1) await whole.pass(1000);
    await whole.pass(3000);
    expect(await shown()).toEqual(expect.arrayContaining([7, 9, 130]));
    while (runs() < 2) await whole.pass(1000);
    await whole.pass(3000);
    expect(await shown()).toEqual(expect.arrayContaining([7, 9, 130]));
    state.ids = [9, ...state.ids];
    while (runs() < 3) await whole.pass(1000);
    await whole.pass(3000);
    const left = await shown();
    expect([left.includes(7), left.includes(9), left.includes(130)]).toEqual([false, true, true]);
    expect(complaints(whole)).toEqual([]);
    while (runs() < 6) await whole.pass(10_000);
    const times = readsOf(whole).slice(1);
    const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
    for (const [n, gap] of gaps.entries()) {
      const soon = Math.min(10 * 2 ** n, 120);
      expect(gap, `run ${n + 2}`).toBeGreaterThanOrEqual(0.8 * soon);
      expect(gap, `run ${n + 2}`).toBeLessThan(Math.min(1.2 * soon, 132) + 1);
    }
  });
});

it('a listing whose second page fails keeps what was known, and its reason names the page', async () => {
  const { whole, shown } = await startZones(numbers(1, 130));
  await whole.pass(5000);
  const good = whole.routes['/pullzone'];
  whole.routes['/pullzone'] = (request) => (request.query.get('page') === '2' ? reply(500) : good?.(request));
  const before = readsOf(whole).length;
  while (readsOf(whole).length === before) await whole.pass(10_000);
  await whole.pass(2000);
  expect(await shown()).toEqual(numbers(1, 130));
  const [listing] = whole.exporter.listings();
  expect(listing).toMatchObject({ state: 'failing', lastFailure: { result: 'server_error' } });
  expect(listing?.lastFailure?.message).toMatch(/\bpage 2\b/);
  expect(listing?.lastFailure?.message).toMatch(/HTTP 500/);
});

describe('what is only counted', () => {
  const states = [0, 1, 2, 3, 4, 5];

  it.each(['an upload', 'a deletion'])(
    'takes what it read, each once: %s while 4,500 are paged',
    async (what) => {
      let videos = numbers(1, 4500);
      const read = new Set<number>();
      const whole = await startWhole({
        document: { video_encoding: { targets: 'all' } },
        routes: {
          '/videolibrary': () => ({
            Items: [{ Id: 1, ApiKey: 'a-key' }],
            TotalItems: 1,
            HasMoreItems: false,
          }),
          '/library/1/videos': ({ query }: Request) => {
            const [page, itemsPerPage] = [Number(query.get('page')), Number(query.get('itemsPerPage'))];
            const ids = videos.slice((page - 1) * itemsPerPage, page * itemsPerPage);
            for (const id of ids) read.add(id);
            const items = ids.map((id) => ({ guid: `video-${id}`, status: states[id % states.length] }));
            const answer = { items, totalItems: videos.length, currentPage: page, itemsPerPage };
            if (page === 2) videos = what === 'an upload' ? [4501, ...videos] : videos.slice(1);
            return answer;
          },
        },
      });
      await whole.exporter.start();
      await whole.pass(30_000);
      expect(await whole.value('bunnynet_video_encoding_up')).toBe(1);
      const counted = Object.values(await whole.series('bunnynet_video_encoding_videos'));
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(read.size);
      expect(await whole.series('bunnynet_exporter_schema_mismatches_total')).toEqual({});
      expect(complaints(whole)).toEqual([]);
    },
  );
});

it('a library that a moving listing lacks is still read, with its own key', async () => {
  const library = (Id: number) => ({ Id, Name: `library ${Id}`, ApiKey: `the-key-of-library-${Id}` });
  let ids = numbers(1, 150);
  let isMoving = false;
  const whole = await startWhole({
    document: {
      // One in ten, also of those that come.
      video_library_statistics: { targets: 'all', include: '.*1', interval: '5s' },
      discovery: { interval: '20s' },
    },
    api: { requests_per_second: 1000 },
    routes: {
      '/videolibrary': ({ query }: Request) => {
        const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
        const Items = ids.slice((page - 1) * perPage, page * perPage).map(library);
        const answer = { Items, TotalItems: ids.length, HasMoreItems: page * perPage < ids.length };
        // The first library leaves, so the one in between the pages is in neither, and two come.
        if (isMoving && page === 1) ids = [...ids.slice(1), 151, 152];
        return answer;
      },
      '*': ({ path, key }: Request) =>
        key === `the-key-of-library-${path.split('/')[2]}` ? { viewsChart: { '2026-08-15': 3 } } : reply(401),
    },
  });
  await whole.exporter.start();
  await whole.pass(10_000);
  const failing = () => whole.exporter.targets().filter(({ state }) => state !== 'ok');
  expect([whole.exporter.targets().length, failing()]).toEqual([15, []]);
  isMoving = true;
  const before = readsOf(whole, '/videolibrary').length;
  while (readsOf(whole, '/videolibrary').length === before) await whole.pass(1000);
  isMoving = false;
  // Read again by their own interval, before the list is whole again.
  for (let seconds = 0; seconds < 7; seconds++) {
    await whole.pass(1000);
    expect(failing()).toEqual([]);
  }
  expect(whole.exporter.targets().length).toBeGreaterThan(15);
});

it.each([false, true])(
  'that never ends as it says decides after three runs what it lacks, once only: %s',
  async (pollsOnce) => {
    const whole = await startWhole({
      pollsOnce,
      document: { pull_zones: { targets: [1, 99], interval: '10s' } },
      routes: {
        '/pullzone': ({ query }: Request) => {
          const page = Number(query.get('page'));
          return { Items: [{ Id: page, Name: `zone${page}` }], TotalItems: 3, HasMoreItems: page < 2 };
        },
      },
    });
    if (!pollsOnce) await whole.exporter.start();
    const hasEnded = whole.exporter.pollOnce();
    await whole.pass(120_000);
    await hasEnded;
    expect(whole.exporter.targets().map(({ target, state }) => [target.ids, state])).toEqual([
      [{ pull_zone_id: '1' }, 'ok'],
      [{ pull_zone_id: '99' }, 'absent'],
    ]);
  },
);

/** Zones in pages of 100; before its second page the first run loses zone 50, so that 101 is not seen. */
function movingZones() {
  let ids = numbers(1, 130);
  const state = { isMoving: false };
  const route = ({ query }: Request) => {
    const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
    const Items = ids
      .slice((page - 1) * perPage, page * perPage)
      .map((Id) => ({ Id, Name: `zone ${Id}`, Enabled: true }));
    const answer = { Items, TotalItems: ids.length, HasMoreItems: page * perPage < ids.length };
    if (page === 1 && state.isMoving) {
      ids = ids.filter((id) => id !== 50);
      state.isMoving = false;
    }
    return answer;
  };
  return { state, route };
}

it('--once with a list that moves while it is paged prints all that there is, or does not succeed', async () => {
  const { state, route } = movingZones();
  state.isMoving = true;
  const whole = await startWhole({
    pollsOnce: true,
    document: { pull_zones: { targets: 'all' } },
    routes: { '/pullzone': route },
  });
  const printed = whole.exporter.pollOnce().then(async (isGood) => ({ isGood, page: await whole.page() }));
  await whole.pass(60_000);
  const { isGood, page } = await printed;
  expect([isGood, page.includes('bunnynet_pull_zone_up{pull_zone_id="101"')]).toEqual([true, true]);
});

it('a reload from named targets to all takes nothing away that the first run of a moving list lacked', async () => {
  const { state, route } = movingZones();
  let requests = 100;
  const whole = await startWhole({
    document: { pull_zone_statistics: { targets: [5, 101], interval: '1m' } },
    routes: {
      '/pullzone': route,
      '/statistics': () => ({ RequestsServedChart: { '2026-08-15T00:00:00Z': requests } }),
    },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  requests = 500;
  await whole.pass(300_000);
  const total = async () => whole.value('bunnynet_pull_zone_requests_total', { pull_zone_id: '101' });
  expect(await total()).toBe(400);
  whole.document = { pull_zone_statistics: { targets: 'all', include: ['5', '101'], interval: '1m' } };
  state.isMoving = true;
  await whole.reload();
  const seen: unknown[] = [];
  for (let second = 0; second < 30; second++) {
    await whole.pass(1000);
    seen.push(await total());
  }
  expect(new Set(seen)).toEqual(new Set([400]));
});

it('a history has every target although its list changed while it was read', async () => {
  let ids = numbers(1, 130);
  const routes = {
    '/pullzone': ({ query }: Request) => {
      const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
      const answer = {
        Items: ids.slice((page - 1) * perPage, page * perPage).map((Id) => ({ Id, Name: `zone ${Id}` })),
        TotalItems: ids.length,
        HasMoreItems: page * perPage < ids.length,
      };
      // Somebody deletes a zone of the first page after it was sent: the first of the second page is never seen.
      ids = ids.filter((id) => id !== 5);
      return answer;
    },
    '/statistics': ({ query }: Request) => ({
      RequestsServedChart: byHour(query.get('dateFrom'), query.get('dateTo'), 0),
    }),
  } as never;
  const document = { pull_zone_statistics: { targets: 'all' } } as never;
  const run = { folder: temporary({}), nowMs: Date.parse('2026-08-15T12:00:00Z'), routes, document };
  const history = await writeHistory(run, { durationMs: 3_600_000 });
  const text = history.series.map(({ labels }) => String(labels)).join();
  const missing = ids.filter((id) => !text.includes(`pull_zone_id="${id}"`));
  expect([missing, history.isComplete]).toEqual([[], true]);
});

describe('a list whose first run moved is not complete', () => {
  /** Zones in pages of 100; before its second page the first run loses zone 50, so that 101 is not seen. */
  const movingZones = () => {
    let ids = Array.from({ length: 130 }, (_, at) => at + 1);
    let isMoving = true;
    return ({ query }: Request) => {
      const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
      const Items = ids.slice((page - 1) * perPage, page * perPage).map((Id) => ({
        Id,
        Name: Id === 101 ? 'secret' : `zone ${Id}`,
        Hostnames: [{ Value: `www.${Id}.example`, HasCertificate: true }],
      }));
      const answer = { Items, TotalItems: ids.length, HasMoreItems: page * perPage < ids.length };
      if (page === 1 && isMoving) {
        ids = ids.filter((id) => id !== 50);
        isMoving = false;
      }
      return answer;
    };
  };

  it('for /sd/hostnames', async () => {
    const whole = await startWhole({
      document: { pull_zones: { targets: 'all' } },
      routes: { '/pullzone': movingZones() },
    });
    await whole.exporter.start();
    const gaps: number[] = [];
    for (let second = 0; second < 40; second++) {
      const { status, body } = await whole.get('/sd/hostnames');
      // Prometheus drops what a list lacks, and keeps all when it gets none.
      if (status === 200 && !body.includes('www.101.example')) gaps.push(second);
      await whole.pass(1000);
    }
    expect(gaps).toEqual([]);
  });

  it('for the warnings about patterns', async () => {
    const whole = await startWhole({
      document: { pull_zones: { targets: 'all', include: ['secret', 'zone .*'] } },
      routes: { '/pullzone': movingZones() },
    });
    await whole.exporter.start();
    for (let n = 0; n < 4; n++) {
      await whole.sweep();
      await whole.pass(10_000);
    }
    expect(whole.said('matches nothing').map(({ msg }) => msg)).toEqual([]);
  });

  it('for what a name leaves out', async () => {
    const whole = await startWhole({
      document: { discovery: { exclude: ['secret'] }, shield_zones: { targets: 'all' } } as never,
      routes: {
        '/pullzone': movingZones(),
        '/shield/shield-zones': () => ({
          data: [7, 101].map((pullZoneId) => ({ shieldZoneId: pullZoneId * 100, pullZoneId })),
          page: { totalPages: 1, currentPage: 1, pageSize: 100, totalCount: 2 },
        }),
      },
    });
    await whole.exporter.start();
    const seen = new Set<string>();
    for (let second = 0; second < 40; second++) {
      for (const { target } of whole.exporter.targets()) seen.add(String(target.ids['shield_zone_id']));
      await whole.pass(1000);
    }
    expect([...seen]).toEqual(['700']);
  });
});

/** A key that is replaced by that of another account. Before the second page of its list, `moves` times a zone is added at its front. */
async function startTwoAccounts(ofFirst: readonly number[]) {
  const zones = new Map([
    ['first', ofFirst],
    ['second', numbers(1001, 1130)],
  ]);
  const state = { moves: 0 };
  let next = 2000;
  const whole = await startWhole({
    document: {
      pull_zones: { targets: 'all', interval: '10m' },
      pull_zone_optimizer: { targets: 'all', interval: '10m' },
    },
    env: { KEY: 'first' },
    routes: {
      '/pullzone': ({ query, key = '' }: Request) => {
        const [page, perPage] = [Number(query.get('page')), Number(query.get('perPage'))];
        const ids = zones.get(key) ?? [];
        const Items = ids.slice((page - 1) * perPage, page * perPage).map((Id) => ({
          Id,
          Name: `zone ${Id}`,
          OptimizerEnabled: true,
          Hostnames: [{ Id, Value: `zone-${Id}.example.com` }],
        }));
        const answer = { Items, TotalItems: ids.length, HasMoreItems: page * perPage < ids.length };
        if (state.moves > 0 && page === 1) {
          zones.set(key, [next++, ...ids]);
          state.moves--;
        }
        return answer;
      },
      '*': ({ path, key = '' }: Request) => {
        const id = Number(/\/pullzone\/(\d+)\/optimizer/.exec(path)?.[1]);
        return zones.get(key)?.includes(id) ? { TotalRequestsOptimized: 5 } : reply(404);
      },
    },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  return {
    whole,
    state,
    /** The first run of the list with the other key moves: nothing of the account before is asked for with it. */
    expectNothingOfFirst: async () => {
      whole.env['KEY'] = 'second';
      state.moves = 1;
      const before = whole.requests.length;
      await whole.reload();
      await whole.pass(3000);
      expect(state.moves).toBe(0);
      const asked = whole.requests.slice(before).map(({ path }) => path);
      const { status, body } = await whole.get('/sd/hostnames');
      expect.soft([status, body.includes('zone-1.example.com')]).toEqual([503, false]);
      expect.soft(asked.filter((path) => /\/pullzone\/\d{1,3}\//.test(path))).toEqual([]);
      expect.soft(whole.exporter.causes().map(({ title }) => title)).toEqual([]);
    },
  };
}

it('what an account had is not asked for with the key of another one whose list moves', async () => {
  const { expectNothingOfFirst } = await startTwoAccounts(numbers(1, 3));
  await expectNothingOfFirst();
});

it('nor is it where the list moved before, with the key before', async () => {
  const { whole, state, expectNothingOfFirst } = await startTwoAccounts(numbers(1, 130));
  state.moves = 2;
  const from = readsOf(whole).length;
  // Two runs move.
  while (state.moves > 0) await whole.pass(1000);
  await whole.pass(500);
  expect(readsOf(whole).length - from).toBe(2);
  await expectNothingOfFirst();
});
