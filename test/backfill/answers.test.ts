/** Histories of answers that the API was seen to give, or may give, written in this process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { BackfillOptions } from '../../src/backfill/backfill.ts';
import { load } from '../../src/demo.ts';
import { dayMs, hourMs } from '../../src/resources/times.ts';
import { runs } from '../runs.ts';
import { Collected, nowMs, parse, untilMs, writeTo } from './writing.ts';

type Query = Readonly<Record<string, string>>;
/** By path, what the API answers to a query. */
type Routes = Readonly<Record<string, (query: Query) => object>>;

/** Writes the history of an account with these sections. */
async function historyOf(
  routes: Routes,
  sections: Readonly<Record<string, unknown>>,
  more: Partial<BackfillOptions> = {},
) {
  const asked: Query[] = [];
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://api');
    const query = Object.fromEntries(searchParams);
    asked.push(query);
    response.end(JSON.stringify(routes[pathname]?.(query) ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const api = {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests_per_second: 5000,
    max_concurrency: 64,
    max_retries: 0,
  };
  const credentials = { account: { env: 'KEY' } };
  const setup = await load({
    document: { credentials, apis: { core: api, shield: api }, ...sections },
    env: { KEY: 'the-key-of-the-account' },
  });
  const output = new Collected();
  const { log, isComplete } = await writeTo(output, setup, { durationMs: 3 * dayMs, ...more });
  const lacks = log
    .split('\n')
    .filter((line) => line.includes('"level":40'))
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  return { ...parse(output.text), log, isComplete, lacks, asked };
}

const zone = { pull_zone_statistics: { targets: [501] } };
const dns = { dns_zones: { targets: [7] } };
const today = Date.UTC(2026, 10, 27);

/** The samples at the start of each hour, after the start of a day. */
function hoursOf({ samples }: { samples: readonly (readonly [number, number])[] }, day: number) {
  return samples
    .filter(([atMs]) => atMs > day && atMs <= day + dayMs && atMs % hourMs === 0)
    .map(([, value]) => value);
}

it('takes the hour 00:00 for an hour where a chart lists only hours with traffic, also on the last day', async () => {
  const { of, isComplete } = await historyOf(
    {
      '/statistics': ({ dateFrom = '' }) => ({
        TotalRequestsServed: 60,
        RequestsServedChart: { [dateFrom]: 60 },
      }),
    },
    zone,
  );
  const requests = of('bunnynet_pull_zone_requests_total');
  expect(isComplete).toBe(true);
  expect(hoursOf(requests, today - dayMs)).toEqual(Array(24).fill(120));
  expect(hoursOf(requests, today)).toEqual(Array(13).fill(180));
  expect(requests.samples.at(-1)).toEqual([untilMs - 1, 180]);
});

it('says nothing of the last day about figures that only the whole day has', async () => {
  const { of, isComplete } = await historyOf(
    {
      '/statistics': ({ dateFrom = '' }) => ({
        TotalBandwidthUsed: 300,
        BandwidthUsedChart: { [dateFrom.replace('T00', 'T09')]: 300 },
        GeoTrafficDistribution: { 'EU: Frankfurt, DE': 300 },
      }),
    },
    zone,
  );
  expect(isComplete).toBe(true);
  const ofRegion = of('bunnynet_pull_zone_region_traffic_bytes_total', 'region="EU"');
  expect(ofRegion.samples.at(-1)).toEqual([today, 600]);
  expect(of('bunnynet_pull_zone_bandwidth_bytes_total').samples.at(-1)).toEqual([untilMs - 1, 900]);
});

it('leaves out a day whose chart is empty, names it, and goes on with the sum so far', async () => {
  const empty = '2026-11-25';
  const { of, isComplete, lacks } = await historyOf(
    {
      '/dnszone/7/statistics': ({ dateFrom = '' }) => ({
        QueriesServedChart: dateFrom === empty ? {} : { [`${dateFrom}T00:00:00Z`]: 24 },
      }),
    },
    dns,
    { durationMs: 4 * dayMs },
  );
  const { samples } = of('bunnynet_dns_zone_queries_total');
  const day = Date.parse(empty);
  expect(samples.filter(([atMs]) => atMs > day && atMs < day + dayMs)).toEqual([]);
  expect(samples.filter(([atMs]) => atMs === day || atMs === day + dayMs)).toEqual([
    [day, 24],
    [day + dayMs, 24],
  ]);
  expect(samples.at(-1)).toEqual([today, 48]);
  expect(of('bunnynet_dns_zone_queries_latest_day').samples.map(([atMs]) => atMs)).not.toContain(day);
  expect(isComplete).toBe(false);
  expect(lacks).toEqual([
    'the history lacks 2026-11-25 of dns_zone 7: the answer says nothing about bunnynet_dns_zone_queries_total',
  ]);
});

it('counts nothing on a day whose chart is empty beside a sum of 0', async () => {
  const { of, isComplete } = await historyOf(
    {
      '/statistics': ({ dateFrom = '' }) =>
        dateFrom.startsWith('2026-11-26')
          ? { TotalRequestsServed: 0, RequestsServedChart: {} }
          : { TotalRequestsServed: 60, RequestsServedChart: { [dateFrom]: 60 } },
    },
    zone,
  );
  expect(isComplete).toBe(true);
  expect(hoursOf(of('bunnynet_pull_zone_requests_total'), today - dayMs)).toEqual(Array(24).fill(60));
});

it('lacks nothing where the plan of a zone lacks a product', async () => {
  const error = { success: false, statusCode: 403, errorKey: 'invalid_plan_type.shieldzone', message: 'no' };
  const answer = () => ({ data: null, error });
  const { isComplete, lacks, series } = await historyOf(
    {
      '/shield/metrics/rate-limits/7': answer,
      '/shield/rate-limits/7': answer,
      '/dnszone/7/statistics': ({ dateFrom = '' }) => ({ QueriesServedChart: { [dateFrom]: 24 } }),
    },
    { rate_limits: { targets: [7] }, ...dns },
  );
  expect({ isComplete, lacks }).toEqual({ isComplete: true, lacks: [] });
  expect(series.map(({ name }) => name)).toContain('bunnynet_dns_zone_queries_total');
  expect(series.filter(({ name }) => name.includes('rate_limit'))).toEqual([]);
});

it('writes finite numbers that never fall for figures as large as a number can be', async () => {
  const { of } = await historyOf(
    {
      '/dnszone/7/statistics': ({ dateFrom = '' }) => ({ QueriesServedChart: { [dateFrom]: 1e308 } }),
    },
    dns,
    { durationMs: 4 * dayMs },
  );
  const values = of('bunnynet_dns_zone_queries_total').samples.map(([, value]) => value);
  expect(values.filter((value) => !Number.isFinite(value))).toEqual([]);
  expect(values).toEqual(values.toSorted((a, b) => a - b));
  expect(values.at(-1)).toBe(Number.MAX_VALUE);
});

/** At night more than a year of a zone with one request an hour, by day what these options say. */
function longHistory(byDay: Partial<BackfillOptions>) {
  const routes: Routes = {
    '/statistics': ({ dateFrom = '' }) => ({
      TotalRequestsServed: 24,
      RequestsServedChart: { [dateFrom]: 24 },
    }),
  };
  return historyOf(routes, zone, runs(byDay, { durationMs: 400 * dayMs }));
}

const firstOf = (queries: readonly Query[]) =>
  queries.map(({ dateFrom = '' }) => dateFrom).toSorted((a, b) => a.localeCompare(b))[0];

it('asks by hours for the last 30 days, and by day for those before', async () => {
  const { of, asked, isComplete } = await longHistory({
    durationMs: 4 * dayMs,
    untilMs: Date.UTC(2026, 9, 31),
  });
  expect(isComplete).toBe(true);
  const [byHours, byDay] = [true, false].map((isHourly) =>
    asked.filter((query) => (query['hourly'] === 'true') === isHourly),
  );
  expect(firstOf(byHours ?? [])).toBe('2026-10-29T00:00:00Z');
  expect(byDay?.map(({ dateFrom }) => dateFrom)).toContain('2026-10-28T00:00:00Z');
  expect(byHours?.filter((query) => query['exactRange'] !== 'true')).toEqual([]);
  expect(byDay?.filter((query) => query['exactRange'] === 'true')).toEqual([]);
  const requests = of('bunnynet_pull_zone_requests_total');
  // Evenly through the day, then by its hours.
  const evenly = hoursOf(requests, Date.UTC(2026, 9, 28));
  expect(new Set(evenly.map((value, at) => value - (evenly[at - 1] ?? value - 1)))).toEqual(new Set([1]));
  expect(new Set(hoursOf(requests, Date.UTC(2026, 9, 29)))).toEqual(new Set([(evenly.at(-1) ?? 0) + 24]));
});

it('asks for no day before the last 365', async () => {
  const { asked, log, isComplete } = await longHistory({
    durationMs: 40 * dayMs,
    untilMs: Date.UTC(2025, 11, 2),
  });
  expect(isComplete).toBe(true);
  const days = asked.filter(({ dateFrom }) => dateFrom !== undefined);
  expect(days).toHaveLength(runs(4, 365));
  expect(firstOf(days)).toBe('2025-11-28T00:00:00Z');
  expect(log).toContain('the API gives the last 365 days, so there is nothing before 2025-11-28');
});

it('asks by day for a day that became too old for hours while the history was read', async () => {
  let atMs = Date.UTC(2026, 10, 27, 23, 59);
  const { asked } = await historyOf(
    {
      '/statistics'({ dateFrom = '' }) {
        atMs = Date.UTC(2026, 10, 28, 0, 1);
        return { TotalRequestsServed: 24, RequestsServedChart: { [dateFrom]: 24 } };
      },
    },
    zone,
    { durationMs: 30 * dayMs, now: () => atMs },
  );
  const ofDay = asked.findLast(({ dateFrom = '' }) => dateFrom.startsWith('2026-10-29'));
  expect(ofDay?.['hourly']).toBeUndefined();
});

it('says of each kind that no whole day is in the time, and is not complete', async () => {
  const { isComplete, lacks } = await historyOf(
    { '/statistics': ({ dateFrom = '' }) => ({ RequestsServedChart: { [dateFrom]: 1 } }) },
    { ...zone, ...dns },
    { durationMs: 6 * hourMs, now: () => nowMs },
  );
  expect(isComplete).toBe(false);
  expect(lacks).toEqual(['the history lacks dns_zone: no whole UTC day is in this time']);
});
