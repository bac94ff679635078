import { describe, expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { type Request, reply, startWhole } from './whole.ts';

const day = '2026-08-15T00:00:00Z';

it('a listing that fails keeps the targets that it found, and their counters go on', async () => {
  let served = 10;
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' }, pull_zone_statistics: { targets: 'all' } },
    routes: {
      '/pullzone': () => ({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
      '/statistics': () => ({ RequestsServedChart: { [day]: served } }),
    },
  });
  const requests = () => whole.value('bunnynet_pull_zone_requests_total', { pull_zone_id: '7' });
  await whole.poll();
  served = 15;
  await whole.poll();
  expect(await requests()).toBe(5);

  whole.routes['/pullzone'] = () => reply(500);
  served = 22;
  await whole.poll();
  expect(await whole.value('bunnynet_exporter_discovery_up', { kind: 'pull_zone' })).toBe(0);
  expect(await requests()).toBe(12);
  expect(whole.said('HTTP 500 from the core API')).toEqual([
    expect.objectContaining({ result: 'server_error', kind: 'pull_zone', credential: 'account' }),
  ]);
});

it('load balancers are called as their own list does, and after a pull zone while the API has no such list, which is no failure', async () => {
  const asked: string[] = [];
  const whole = await startWhole({
    document: { load_balancers: { targets: 'all' } },
    routes: {
      '/loadbalancer': () => [
        {
          LoadBalancerId: 7,
          Name: 'own name',
          OriginGroups: [{ Enabled: true, Origins: [{ Id: 9, Enabled: true }] }],
        },
      ],
      '/loadbalancer/statistics': ({ query }) => {
        asked.push(query.get('from') ?? '');
        return [{ LoadBalancerId: 7, AttachedPullZoneCount: 1 }];
      },
      '/pullzone': () => {
        asked.push('pull zones');
        return { Items: [{ Id: 1, Name: 'site', LoadBalancerId: 7 }], TotalItems: 1, HasMoreItems: false };
      },
    },
  });
  const of = (name: string, labels = {}) =>
    whole.value(`bunnynet_load_balancer_${name}`, { load_balancer_id: '7', ...labels });
  await whole.poll();
  expect(asked).toEqual(['2026-07-16T12:00:00.000Z']);
  expect(await of('info', { name: 'own name' })).toBe(1);
  expect(await of('origin_enabled', { origin_id: '9' })).toBe(1);
  expect(await of('attached_pull_zones')).toBe(1);

  whole.routes['/loadbalancer'] = () => reply(404, '{}');
  await whole.poll();
  expect(asked.at(-1)).toBe('pull zones');
  expect(await of('info', { name: 'site' })).toBe(1);
  expect(await of('up')).toBe(1);
  expect(await of('origin_enabled', { origin_id: '9' })).toBeUndefined();
  expect(whole.exporter.causes()).toEqual([]);
});

it('a selection that takes nothing of what was found is a warning', async () => {
  const selected = (include: string) => ({ pull_zones: { targets: 'all', include } });
  const whole = await startWhole({
    document: selected('sitee'),
    routes: {
      '/pullzone': () => ({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
    },
  });
  const warning = 'nothing of kind pull_zone is polled: include and exclude leave out all that was found (1)';
  await whole.poll();
  expect(whole.said(warning)).toHaveLength(1);
  whole.document = selected('sit.*');
  await whole.reload();
  expect(whole.said(warning)).toHaveLength(1);
});

const readers = [
  {
    of: 'the core API',
    kind: 'pull_zone',
    section: 'pull_zones',
    path: '/pullzone',
    good: { Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false },
    bad: [
      { HasMoreItems: false },
      {},
      { Items: null },
      { Items: 'no' },
      { Items: null, TotalItems: 1 },
      { Items: {}, TotalItems: 0 },
    ],
    none: [{ Items: [], TotalItems: 0 }, { Items: null, TotalItems: 0 }, []],
  },
  {
    of: 'the application API',
    kind: 'application',
    section: 'applications',
    path: '/mc/apps',
    good: { items: [{ id: 'app1', name: 'site' }], meta: { totalItems: 1 }, cursor: null },
    bad: [{ cursor: null }, {}, { items: null }, { items: 'no' }, { items: null, meta: { totalItems: 1 } }],
    none: [{ items: [], meta: { totalItems: 0 } }, { items: null, meta: { totalItems: 0 } }, { items: [] }],
  },
  {
    of: 'the Shield API',
    kind: 'shield_zone',
    section: 'shield_zones',
    path: '/shield/shield-zones',
    good: { data: [{ shieldZoneId: 7 }], page: { totalCount: 1, totalPages: 1, currentPage: 1 } },
    bad: [{ page: {} }, {}, { data: null }, { data: 'no' }, { data: null, page: { totalCount: 1 } }],
    none: [
      { data: [] },
      { data: null, page: { totalCount: 0 } },
      { data: null, error: { success: true, message: null, errorKey: null } },
    ],
  },
  {
    of: 'the video API',
    kind: 'video_storage',
    section: 'video_storage',
    path: '/library/7/videos',
    good: { items: [{ guid: 'v1', title: 'film' }], totalItems: 1 },
    bad: [{ currentPage: 1 }, {}, { items: null }, { items: 'no' }, { items: null, totalItems: 1 }],
    none: [
      { items: [], totalItems: 0 },
      { items: null, totalItems: 0 },
    ],
  },
];

describe.each(readers)('a listing of $of', ({ kind, section, path, good, bad, none }) => {
  const start = async () => {
    const whole = await startWhole({
      document: { [section]: { targets: 'all' } },
      routes: {
        '/videolibrary': () => ({ Items: [{ Id: 7, Name: 'films', ApiKey: 'key-of-the-library' }] }),
        '/library/7/videos/v1/storage': () => ({ success: true, data: { originals: 1 } }),
        '/mc/apps/app1/overview': () => ({ activeInstances: 1 }),
        [path]: () => good,
      },
    });
    await whole.poll();
    return {
      whole,
      found: () => whole.exporter.targets().map(({ target }) => target.key),
      up: () => whole.value('bunnynet_exporter_discovery_up', { kind }),
    };
  };

  it('that has no list fails, and the targets that it found before stay', async () => {
    const { whole, found, up } = await start();
    const before = found();
    expect([before.length, await up()]).toEqual([1, 1]);
    for (const answer of bad) {
      whole.routes[path] = () => answer;
      await whole.poll();
      expect([found(), await up()], JSON.stringify(answer)).toEqual([before, 0]);
    }
    whole.routes[path] = () => good;
    await whole.poll();
    expect([found(), await up()]).toEqual([before, 1]);
  });

  it('that says it is empty is believed', async () => {
    const { whole, found, up } = await start();
    for (const answer of none) {
      whole.routes[path] = () => answer;
      await whole.poll();
      expect([found(), await up()], JSON.stringify(answer)).toEqual([[], 1]);
    }
  });
});

/** Pull zones served page by page with a total, as by an API whose pages are smaller than what is asked for. */
function servePullZones(ids: () => readonly number[], onPage: (page: number) => void = () => undefined) {
  return ({ query }: Request) => {
    const page = Number(query.get('page'));
    const perPage = 10;
    const all = ids();
    const Items = all
      .slice((page - 1) * perPage, page * perPage)
      .map((Id) => ({ Id, Name: `zone ${Id}`, Suspended: false }));
    onPage(page);
    return { Items, TotalItems: all.length, HasMoreItems: page * perPage < all.length };
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it('an item that leaves an earlier page and one that is added at the end hide no third item', async () => {
  let ids = numbers(15);
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' } },
    routes: { '/pullzone': servePullZones(() => ids) },
  });
  await whole.poll();
  const found = () =>
    new Set(whole.exporter.targets().map(({ target }) => Number(target.ids['pull_zone_id'])));
  expect(found()).toEqual(new Set(ids));
  let isFirstRound = true;
  const left: number[] = [];
  whole.routes['/pullzone'] = servePullZones(
    () => ids,
    (page) => {
      if (!found().has(11)) left.push(11);
      if (page !== 1 || !isFirstRound) return;
      isFirstRound = false;
      // The first item of the second page is now the last of the first page.
      ids = [...ids.filter((id) => id !== 5), 16];
    },
  );
  await whole.poll();
  expect(found()).toEqual(new Set(ids));
  expect([found().has(11), left]).toEqual([true, []]);
});

it('bare arrays are read until one is short or brings nothing new', async () => {
  const ids = numbers(runs(101, 205));
  const pages: number[] = [];
  const page = ({ query }: Request) => {
    const number = Number(query.get('page'));
    pages.push(number);
    return ids.slice((number - 1) * 100, number * 100).map((Id) => ({ Id, Name: `zone ${Id}` }));
  };
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' } },
    routes: { '/pullzone': page },
  });
  await whole.poll();
  expect([whole.exporter.targets().length, pages]).toEqual(runs([101, [1, 2]], [205, [1, 2, 3]]));
  // An API without pages answers every page with the whole list.
  whole.routes['/pullzone'] = () => ids.slice(0, 100).map((Id) => ({ Id, Name: `zone ${Id}` }));
  await whole.poll();
  expect(whole.exporter.targets()).toHaveLength(100);
});

it('a listing whose second page fails keeps what it found, and says which page it was', async () => {
  const zones = servePullZones(() => numbers(15));
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' } },
    routes: { '/pullzone': zones },
  });
  await whole.poll();
  whole.routes['/pullzone'] = (request) => (request.query.get('page') === '2' ? reply(500) : zones(request));
  await whole.poll();
  expect(whole.exporter.targets()).toHaveLength(15);
  expect(await whole.value('bunnynet_pull_zone_suspended', { pull_zone_id: '11' })).toBe(0);
  expect(whole.exporter.listings()[0]?.lastFailure?.message).toBe('HTTP 500 on page 2');
  expect(whole.said('HTTP 500 on page 2')).toHaveLength(1);
});
