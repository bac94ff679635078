import { expect, it } from 'vitest';
import { loadBalancer, loadBalancers } from '../../../src/resources/kinds/load-balancer.ts';
import { type Body, expose, unnoted } from '../expose.ts';

const nowMs = Date.parse('2026-08-20T12:30:00Z');
const ids = { load_balancer_id: '5101' };
const read = (answer: Body) => expose(loadBalancer, answer, { ids, name: 'shop', context: { nowMs } });
const short = (rows: string) =>
  rows.replaceAll('load_balancer_id="5101"', 'lb').replaceAll('bunnynet_load_balancer_', '');
const hours = (...values: readonly number[]) =>
  Object.fromEntries(values.map((value, hour) => [`2026-08-20T0${hour}:00:00Z`, value]));

const answer = {
  Summary: {
    TotalRequests: 300.0,
    TotalTraffic: 9000,
    AverageOriginRttMs: 40,
    AllOriginsExhausted: 2,
    RequestsByMethod: { GET: 300 },
  },
  RequestsByOrigin: [
    { OriginId: 9001, OriginName: 'a', Values: hours(100, 50) },
    { OriginId: 9002, OriginName: null, Values: hours(150) },
  ],
  TrafficByOrigin: [{ OriginId: 9001, OriginName: 'a', Values: hours(9000) }],
  RequestsByOriginGroup: [],
  OriginLatency: [
    { OriginId: 9001, OriginName: 'a', Percentile: 50, Values: hours(10, 20.5, 0) },
    { OriginId: 9001, OriginName: 'a', Percentile: 95, Values: hours(100, 200, 0) },
    { OriginId: 9002, OriginName: null, Percentile: 50, Values: hours(30, 0, 0) },
  ],
  OriginFailures: [{ OriginId: 9001, OriginName: 'a', StatusCode: '502', Values: hours(3, 4) }],
};

it('shows what a load balancer and its origins did, and the latency of the newest hour with requests', async () => {
  const { rows, asked, mismatched } = await read(answer);
  expect(asked).toEqual([
    '/loadbalancer/5101/statistics?from=2026-08-20T00:00:00.000Z&to=2026-08-20T12:30:00.000Z&hourly=true&exactRange=true',
  ]);
  expect(short(rows)).toBe(`\
info{lb,account="account",name="shop"} 1
origin_info{lb,account="account",origin_id="9001",name="a"} 1
requests_total{lb} 0
traffic_bytes_total{lb} 0
origins_exhausted_total{lb} 0
origin_requests_total{lb,origin_id="9001"} 0
origin_requests_total{lb,origin_id="9002"} 0
origin_requests_total{lb,origin_id="other"} 0
origin_failures_total{lb,origin_id="9001",code="502"} 0
origin_failures_total{lb,origin_id="other",code="other"} 0
origin_latency_seconds{lb,origin_id="9001",percentile="50"} 0.0205
origin_latency_seconds{lb,origin_id="9001",percentile="95"} 0.2
`);
  expect(mismatched).toEqual([]);
});

it('asks for the day before by itself after midnight, while it may still grow', async () => {
  const midnightMs = Date.parse('2026-08-21T00:00:00Z');
  const context = { nowMs: midnightMs + 240_000, caughtUpMs: midnightMs - 60_000 };
  const { asked } = await expose(loadBalancer, answer, { ids, context });
  expect(asked.map((path) => /from=(.*)&to=(.*)&hourly/.exec(path)?.slice(1))).toEqual([
    ['2026-08-20T00:00:00.000Z', '2026-08-20T23:59:59.999Z'],
    ['2026-08-21T00:00:00.000Z', '2026-08-21T00:04:00.000Z'],
  ]);
});

/** What the two operations find. */
async function discover(active: unknown, ...zones: readonly object[]) {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    return Promise.resolve(
      path.startsWith('/pullzone') ? { Items: zones, TotalItems: zones.length } : active,
    );
  };
  const found = [...(await loadBalancers.discover(get, undefined, unnoted)).found];
  return { asked, found: found.map(({ ids: of, name }) => `${of['load_balancer_id']}: ${name}`) };
}

it('finds those with traffic and those that a pull zone points to, and calls them after a pull zone', async () => {
  const { asked, found } = await discover(
    [{ LoadBalancerId: 1, TotalRequests: 5.0 }, { LoadBalancerId: 2 }],
    { Id: 70, Name: 'shop', LoadBalancerId: 2 },
    { Id: 71, Name: 'shop-2', LoadBalancerId: 2 },
    { Id: 72, Name: 'idle', LoadBalancerId: 3 },
    { Id: 73, Name: 'none', LoadBalancerId: null },
    { Id: 74, Name: 'none', LoadBalancerId: -1 },
    { Id: 75, Name: 'older' },
  );
  expect(found).toEqual(['1: undefined', '2: shop', '3: idle']);
  const [statistics = '', pullZones] = asked;
  const from = Date.parse(statistics.replace('/loadbalancer/statistics?from=', ''));
  expect(Math.round((Date.now() - from) / 86_400_000)).toBe(30);
  expect(pullZones).toBe('/pullzone?page=1&perPage=100');
});

it('is incomplete, so that none leaves, when one of both cannot be read', async () => {
  await expect(discover({ error: 'none' })).rejects.toMatchObject({ result: 'schema' });
  await expect(discover([{ TotalRequests: 5 }])).rejects.toMatchObject({ result: 'schema' });
  await expect(discover([], { Name: 'without an id' })).rejects.toMatchObject({ result: 'schema' });
  expect((await discover([])).found).toEqual([]);
});
