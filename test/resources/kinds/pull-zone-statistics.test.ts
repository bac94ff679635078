import { expect, it } from 'vitest';
import { pullZoneStatistics } from '../../../src/resources/kinds/pull-zone-statistics.ts';
import type { ReadContext } from '../../../src/resources/resource.ts';
import { type Body, expose } from '../expose.ts';

const nowMs = Date.UTC(2026, 7, 20, 12);
const read = (answer: Body, context: ReadContext = { nowMs }) =>
  expose(pullZoneStatistics, answer, { ids: { pull_zone_id: '90210' }, context });

it('shows the day so far, and starts counting', async () => {
  const { rows, asked } = await read(`{
    "TotalBandwidthUsed": 9000, "TotalRequestsServed": 1000,
    "AverageOriginResponseTime": 123,
    "CacheHitRate": 91.3,
    "OriginResponseTimeChart": { "2026-08-20T00:00:00Z": 123 },
    "RequestsServedChart": { "2026-08-20T00:00:00Z": 1000 },
    "PullRequestsPulledChart": { "2026-08-20T00:00:00Z": 87 },
    "BandwidthUsedChart": { "2026-08-20T00:00:00Z": 9000 },
    "BandwidthCachedChart": { "2026-08-20T00:00:00Z": 8000 },
    "OriginTrafficChart": { "2026-08-20T00:00:00Z": 1000 },
    "OriginShieldBandwidthUsedChart": { "2026-08-20T00:00:00Z": 600 },
    "OriginShieldInternalBandwidthUsedChart": { "2026-08-20T00:00:00Z": 150 },
    "UserBalanceHistoryChart": null,
    "GeoTrafficDistribution": { "EU: Frankfurt, DE": 7000, "ASIA: Singapore, SG": 2000 },
    "Error3xxChart": { "2026-08-20T00:00:00Z": 30 },
    "Error4xxChart": { "2026-08-20T00:00:00Z": 12 },
    "Error5xxChart": { "2026-08-20T00:00:00Z": 2 }
  }`);
  expect(asked).toEqual([
    '/statistics?pullZone=90210&loadErrors=true&loadOriginResponseTimes=true&loadOriginTraffic=true&loadRequestsServed=true&loadBandwidthUsed=true&loadOriginShieldBandwidth=true&loadGeographicTrafficDistribution=true&dateFrom=2026-08-20T00:00:00Z&dateTo=2026-08-20T23:59:59Z&hourly=true&exactRange=true',
  ]);
  expect(rows.replaceAll(/pull_zone_id="90210",?/g, '').replaceAll('{}', '')).toBe(`\
bunnynet_pull_zone_requests_latest_day 1000
bunnynet_pull_zone_requests_total 0
bunnynet_pull_zone_cached_requests_latest_day 913
bunnynet_pull_zone_uncached_requests_latest_day 87
bunnynet_pull_zone_uncached_requests_total 0
bunnynet_pull_zone_bandwidth_bytes_latest_day 9000
bunnynet_pull_zone_bandwidth_bytes_total 0
bunnynet_pull_zone_cached_bandwidth_bytes_latest_day 8000
bunnynet_pull_zone_cached_bandwidth_bytes_total 0
bunnynet_pull_zone_origin_traffic_bytes_latest_day 1000
bunnynet_pull_zone_origin_traffic_bytes_total 0
bunnynet_pull_zone_origin_shield_bandwidth_bytes_latest_day 600
bunnynet_pull_zone_origin_shield_bandwidth_bytes_total 0
bunnynet_pull_zone_origin_shield_internal_bandwidth_bytes_latest_day 150
bunnynet_pull_zone_origin_shield_internal_bandwidth_bytes_total 0
bunnynet_pull_zone_responses_latest_day{code="3xx"} 30
bunnynet_pull_zone_responses_latest_day{code="4xx"} 12
bunnynet_pull_zone_responses_latest_day{code="5xx"} 2
bunnynet_pull_zone_responses_total{code="3xx"} 0
bunnynet_pull_zone_responses_total{code="4xx"} 0
bunnynet_pull_zone_responses_total{code="5xx"} 0
bunnynet_pull_zone_region_traffic_bytes_latest_day{region="ASIA",pop="Singapore, SG"} 2000
bunnynet_pull_zone_region_traffic_bytes_latest_day{region="EU",pop="Frankfurt, DE"} 7000
bunnynet_pull_zone_region_traffic_bytes_total{region="EU",pop="Frankfurt, DE"} 0
bunnynet_pull_zone_region_traffic_bytes_total{region="ASIA",pop="Singapore, SG"} 0
bunnynet_pull_zone_region_traffic_bytes_total{region="other",pop="other"} 0
bunnynet_pull_zone_cache_hit_ratio 0.913
bunnynet_pull_zone_origin_response_time_seconds 0.123
bunnynet_pull_zone_origin_response_time_latest_hour_seconds 0.123
bunnynet_pull_zone_statistics_latest_hour_timestamp_seconds 1787184000
bunnynet_pull_zone_statistics_latest_day_timestamp_seconds 1787184000
`);
});

const newestHourOf = (rows: string) =>
  (rows.match(/^bunnynet_pull_zone_.*latest_hour.*$/gm) ?? []).map((row) =>
    row.replace('bunnynet_pull_zone_', '').replace('{pull_zone_id="90210"}', ''),
  );

/** A chart by hours of the day, filled with zeros to its end as the API does. */
function byHour(figures: Readonly<Record<number, number>>, day = '2026-08-20') {
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  return Object.fromEntries(
    hours.map((hour) => [`${day}T${String(hour).padStart(2, '0')}:00:00Z`, figures[hour] ?? 0]),
  );
}

it('adds up the hours of the day, and shows the newest that has ended and had requests', async () => {
  const { rows } = await read({
    RequestsServedChart: byHour({ 8: 100, 9: 200, 10: 0, 11: 0, 12: 50 }),
    PullRequestsPulledChart: byHour({ 8: 10, 9: 20, 12: 5 }),
    CacheHitRateChart: byHour({ 8: 90, 9: 87.5, 12: 10 }),
    OriginResponseTimeChart: byHour({ 8: 100, 9: 250, 12: 9000 }),
    CacheHitRate: 90,
    AverageOriginResponseTime: 120,
  });
  expect(rows).toContain('bunnynet_pull_zone_requests_latest_day{pull_zone_id="90210"} 350\n');
  expect(rows).toContain('bunnynet_pull_zone_cached_requests_latest_day{pull_zone_id="90210"} 315\n');
  expect(newestHourOf(rows)).toEqual([
    'cache_hit_ratio_latest_hour 0.875',
    'origin_response_time_latest_hour_seconds 0.25',
    `statistics_latest_hour_timestamp_seconds ${Date.UTC(2026, 7, 20, 9) / 1000}`,
  ]);
});

it('weights the response time of the day by the requests to the origin: 0.2 s at 01:30, not 0.008', async () => {
  const at = Date.UTC(2026, 7, 20, 1, 30);
  const timeIn = async (pulled: object | null) => {
    const { rows } = await read(
      {
        // What the API makes of it: the mean of 24 points, of which 22 are hours to come.
        AverageOriginResponseTime: 8,
        OriginResponseTimeChart: byHour({ 0: 100, 1: 225 }),
        PullRequestsPulledChart: pulled,
        RequestsServedChart: byHour({ 0: 100, 1: 100 }),
      },
      { nowMs: at },
    );
    return /^bunnynet_pull_zone_origin_response_time_seconds\S* (.*)$/m.exec(rows)?.[1];
  };
  expect(await timeIn(byHour({ 0: 10, 1: 40 }))).toBe('0.2');
  // An hour without requests to the origin says nothing, whatever stands there.
  expect(await timeIn(byHour({ 1: 40 }))).toBe('0.225');
  expect([await timeIn(byHour({})), await timeIn(null)]).toEqual([undefined, undefined]);
});

it('never reads an hour that is still to come', async () => {
  const { rows } = await read({
    RequestsServedChart: byHour({ 11: 10, 12: 1, 13: 500, 23: 500 }),
    OriginResponseTimeChart: byHour({ 11: 70, 13: 9000 }),
  });
  expect(rows).toContain('bunnynet_pull_zone_requests_latest_day{pull_zone_id="90210"} 11\n');
  expect(newestHourOf(rows)).toEqual([
    'origin_response_time_latest_hour_seconds 0.07',
    `statistics_latest_hour_timestamp_seconds ${Date.UTC(2026, 7, 20, 11) / 1000}`,
  ]);
});

it('has no response time of an hour in which the origin was not asked: 0 does not mean fast', async () => {
  const { rows } = await read({
    RequestsServedChart: byHour({ 11: 10 }),
    OriginResponseTimeChart: byHour({}),
    CacheHitRateChart: byHour({ 11: 100 }),
  });
  expect(newestHourOf(rows)).toEqual([
    'cache_hit_ratio_latest_hour 1',
    `statistics_latest_hour_timestamp_seconds ${Date.UTC(2026, 7, 20, 11) / 1000}`,
  ]);
});

it('has the last hour of yesterday as the newest after midnight, and asks for it until today has one', async () => {
  const at = (hour: number, minute: number) => Date.UTC(2026, 7, 21, hour, minute);
  const chart = { ...byHour({ 22: 5, 23: 7 }), ...byHour({ 0: 3, 1: 2 }, '2026-08-21') };
  const half = await read({ RequestsServedChart: chart }, { nowMs: at(0, 30), caughtUpMs: at(0, 25) });
  expect(half.asked.map((path) => /dateFrom=(.{10})/.exec(path)?.[1])).toEqual(['2026-08-21', '2026-08-20']);
  expect(newestHourOf(half.rows)).toEqual([
    `statistics_latest_hour_timestamp_seconds ${Date.UTC(2026, 7, 20, 23) / 1000}`,
  ]);
  const later = await read({ RequestsServedChart: chart }, { nowMs: at(4, 0), caughtUpMs: at(3, 55) });
  expect(later.asked).toHaveLength(1);
});

it('has no series of cached requests if one of their charts is missing', async () => {
  const chart = { '2026-08-20': 5 };
  for (const answer of [
    { RequestsServedChart: chart },
    { PullRequestsPulledChart: chart, RequestsServedChart: null },
  ]) {
    const { rows } = await read(answer);
    expect(rows).not.toMatch(/_cached_requests/);
    expect(rows).toContain('requests_latest_day{pull_zone_id="90210"} 5');
  }
});

it('adds up a point of presence with two spellings, and does not count regions that exceed the day', async () => {
  const regions = { 'EU: Frankfurt, DE': 5, 'eu: Frankfurt, DE': 3, 'NA: Ashburn, VA': 2, Other: 1 };
  const within = await read({ BandwidthUsedChart: { '2026-08-20': 11 }, GeoTrafficDistribution: regions });
  expect(within.rows).toContain(
    '_region_traffic_bytes_latest_day{pull_zone_id="90210",region="EU",pop="Frankfurt, DE"} 8\n',
  );
  expect(within.rows).toContain(
    '_region_traffic_bytes_latest_day{pull_zone_id="90210",region="other",pop="other"} 1\n',
  );
  const beyond = await read({ BandwidthUsedChart: { '2026-08-20': 10 }, GeoTrafficDistribution: regions });
  expect(beyond.rows).not.toContain('_region_traffic_bytes');
  expect(beyond.mismatched).toEqual(['GeoTrafficDistribution']);
  const alone = await read({ GeoTrafficDistribution: regions });
  expect(alone.rows).toContain('_region_traffic_bytes');
});

it('believes regions that are up to one per cent more than the day: the API rounds', async () => {
  const of = (bytes: number) =>
    read({
      BandwidthUsedChart: { '2026-08-20': 10_000 },
      GeoTrafficDistribution: { 'EU: Paris, FR': bytes },
    });
  const rounded = await of(10_010);
  expect(rounded.rows).toContain('_region_traffic_bytes_latest_day');
  expect(rounded.mismatched).toEqual([]);
  expect((await of(10_101)).rows).not.toContain('_region_traffic_bytes');
});

it('never shows a negative number of cached requests', async () => {
  const { rows } = await read({
    RequestsServedChart: { '2026-08-20': 5 },
    PullRequestsPulledChart: { '2026-08-20': 6 },
  });
  expect(rows).toContain('_cached_requests_latest_day{pull_zone_id="90210"} 0\n');
});
