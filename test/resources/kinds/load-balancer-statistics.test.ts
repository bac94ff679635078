import { expect, it } from 'vitest';
import { loadBalancerStatistics } from '../../../src/resources/kinds/load-balancer-statistics.ts';
import { type Body, expose } from '../expose.ts';

const nowMs = Date.parse('2026-08-20T12:30:00Z');
const ids = { load_balancer_id: '5101' };
const read = (answer: Body) => expose(loadBalancerStatistics, answer, { ids, context: { nowMs } });
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
origin_info{lb,account="account",origin_id="9001",name="a"} 1
requests_total{lb} 0
traffic_bytes_total{lb} 0
origins_exhausted_total{lb} 0
origin_requests_total{lb,origin_id="9001"} 0
origin_requests_total{lb,origin_id="9002"} 0
origin_requests_total{lb,origin_id="other"} 0
origin_traffic_bytes_total{lb,origin_id="9001"} 0
origin_traffic_bytes_total{lb,origin_id="other"} 0
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
  const { asked } = await expose(loadBalancerStatistics, answer, { ids, context });
  expect(asked.map((path) => /from=(.*)&to=(.*)&hourly/.exec(path)?.slice(1))).toEqual([
    ['2026-08-21T00:00:00.000Z', '2026-08-21T00:04:00.000Z'],
    ['2026-08-20T00:00:00.000Z', '2026-08-20T23:59:59.999Z'],
  ]);
});
