import { expect, it } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { loadBalancer, loadBalancers } from '../../../src/resources/kinds/load-balancer.ts';
import { type Body, exposeListing, unnoted } from '../expose.ts';

const nowMs = Date.parse('2026-08-20T12:30:00Z');
const refused = (status: number) =>
  new ApiError(status === 404 ? 'not_found' : 'auth', `HTTP ${status}`, { status });
const short = (rows: string) =>
  rows.replaceAll('bunnynet_load_balancer_', '').replaceAll('load_balancer_id=', '');

interface Answers {
  /** Each page of the list. */
  readonly list: readonly Body[] | Error;
  readonly statistics?: Body | Error;
  readonly zones?: readonly object[];
}

const answersOf =
  ({ list, statistics = [], zones = [] }: Answers) =>
  (path: string): Body | Error => {
    if (path.startsWith('/loadbalancer?'))
      return list instanceof Error ? list : (list[Number(/page=(\d+)/.exec(path)?.[1]) - 1] ?? []);
    return path.startsWith('/pullzone') ? { Items: zones, TotalItems: zones.length } : statistics;
  };
const read = (answers: Answers) => exposeListing(loadBalancer, answersOf(answers), { context: { nowMs } });

/** The ids and the names of what is found. */
async function discover(answers: Answers) {
  const answer = answersOf(answers);
  const get = (path: string) => {
    const body = answer(path);
    return body instanceof Error ? Promise.reject(body) : Promise.resolve(body);
  };
  const { found } = await loadBalancers.discover(get, undefined, unnoted, nowMs);
  return Array.from(found, ({ ids, name }) => `${ids['load_balancer_id']}: ${name}`);
}

const shop = {
  LoadBalancerId: 5101,
  Name: 'shop',
  OriginGroups: [
    {
      Id: 1,
      Name: 'first',
      Enabled: true,
      Weight: 100,
      Priority: 100,
      Origins: [
        {
          Id: 9001,
          Enabled: true,
          Weight: 100,
          StandardOrigin: { OriginUrl: 'https://user:password@example.com' },
        },
        { Id: 9002, Enabled: false, Weight: 100 },
        { Id: 9003, Enabled: null, Weight: 100 },
      ],
      HealthCheckSettings: { Enabled: true, Path: '/health' },
    },
    { Id: 2, Name: 'off', Enabled: false, Origins: [{ Id: 9004, Enabled: true }], HealthCheckSettings: null },
    { Id: 3, Name: 'none', Enabled: true, Origins: null },
  ],
};

it('shows the name of a load balancer, which of its origins are enabled, and how many pull zones it has', async () => {
  const { rows, asked, mismatched } = await read({
    list: [[shop, { LoadBalancerId: 5108, Name: 'idle', OriginGroups: null }, { LoadBalancerId: 5115 }]],
    statistics: [
      { LoadBalancerId: 5101, TotalRequests: 5.0, TotalTraffic: 9.5, AttachedPullZoneCount: 2 },
      { LoadBalancerId: 5108, TotalRequests: 0.0, TotalTraffic: 0.0, AttachedPullZoneCount: 0 },
    ],
  });
  expect(short(rows)).toBe(`\
info{"5101",account="account",name="shop"} 1
info{"5108",account="account",name="idle"} 1
origin_enabled{"5101",origin_id="9001"} 1
origin_enabled{"5101",origin_id="9002"} 0
origin_enabled{"5101",origin_id="9004"} 0
attached_pull_zones{"5101"} 2
attached_pull_zones{"5108"} 0
`);
  expect(asked).toEqual([
    '/loadbalancer?page=1&count=50',
    '/loadbalancer/statistics?from=2026-07-21T12:30:00.000Z',
  ]);
  expect(mismatched).toEqual([]);
});

it('calls load balancers as the list does, and asks for another page after a full one', async () => {
  const full = Array.from({ length: 50 }, (_, i) => ({ LoadBalancerId: i + 1, Name: `lb ${i + 1}` }));
  expect(await discover({ list: [[shop]] })).toEqual(['5101: shop']);
  const list = [full, [{ LoadBalancerId: 51, Name: 'last' }]];
  expect((await discover({ list })).slice(-2)).toEqual(['50: lb 50', '51: last']);
});

it('asks for no pull zone, and for no statistics where there is no load balancer', async () => {
  const { asked, rows } = await read({ list: [[]] });
  expect({ asked, rows }).toEqual({ asked: ['/loadbalancer?page=1&count=50'], rows: '' });
});

it.each([404, 403])(
  'finds those with traffic and those that a pull zone points to, and calls them after a pull zone, if the list answers %i',
  async (status) => {
    const answers = {
      list: refused(status),
      statistics: [
        { LoadBalancerId: 1, TotalRequests: 5.0, AttachedPullZoneCount: 1 },
        { LoadBalancerId: 2 },
      ],
      zones: [
        { Id: 70, Name: 'shop', LoadBalancerId: 2 },
        { Id: 71, Name: 'shop-2', LoadBalancerId: 2 },
        { Id: 72, Name: 'idle', LoadBalancerId: 3 },
        { Id: 73, Name: 'none', LoadBalancerId: null },
        { Id: 74, Name: 'none', LoadBalancerId: -1 },
        { Id: 75, Name: 'older' },
      ],
    };
    expect(await discover(answers)).toEqual(['1: undefined', '2: shop', '3: idle']);
    const { rows, asked } = await read(answers);
    expect(short(rows)).toBe(`\
info{"2",account="account",name="shop"} 1
info{"3",account="account",name="idle"} 1
attached_pull_zones{"1"} 1
`);
    expect(asked).toContain('/pullzone?page=1&perPage=100');
  },
);

it('leaves out the number of pull zones alone if the statistics are refused', async () => {
  expect((await read({ list: [[shop]], statistics: refused(403) })).rows).not.toContain('attached');
  expect(await discover({ list: [[shop]], statistics: refused(404) })).toEqual(['5101: shop']);
});

it('is incomplete, so that none leaves, when what decides which there are cannot be read', async () => {
  const gone = new ApiError('server_error', 'HTTP 500', { status: 500 });
  await expect(discover({ list: gone })).rejects.toMatchObject({ result: 'server_error' });
  await expect(discover({ list: [[{ Name: 'nameless' }]] })).rejects.toMatchObject({ result: 'schema' });
  await expect(discover({ list: [[shop]], statistics: gone })).rejects.toMatchObject({
    result: 'server_error',
  });
  const list = refused(404);
  await expect(discover({ list, statistics: refused(404) })).rejects.toMatchObject({ result: 'not_found' });
  await expect(discover({ list, statistics: { error: 'none' } })).rejects.toMatchObject({ result: 'schema' });
  await expect(discover({ list, statistics: [{ TotalRequests: 5 }] })).rejects.toMatchObject({
    result: 'schema',
  });
  await expect(discover({ list, zones: [{ Name: 'without an id' }] })).rejects.toMatchObject({
    result: 'schema',
  });
  expect(await discover({ list })).toEqual([]);
});
