import { expect, it } from 'vitest';
import { pullZoneStatistics } from '../../src/resources/pull-zone-statistics.ts';
import { type Body, expose } from './expose.ts';

const nowMs = Date.UTC(2026, 7, 20, 12);
const read = (answer: Body) =>
  expose(pullZoneStatistics, answer, { ids: { pull_zone_id: '90210' }, context: { nowMs } });

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
    '/statistics?pullZone=90210&loadErrors=true&loadOriginResponseTimes=true&loadOriginTraffic=true&loadRequestsServed=true&loadBandwidthUsed=true&loadOriginShieldBandwidth=true&loadGeographicTrafficDistribution=true&dateFrom=2026-08-20T00:00:00Z&dateTo=2026-08-20T23:59:59Z',
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
bunnynet_pull_zone_statistics_latest_day_timestamp_seconds 1787184000
`);
});

it('leaves out null and missing fields instead of showing 0', async () => {
  const { rows, mismatched } = await read(
    '{ "CacheHitRate": null, "RequestsServedChart": null, "Error5xxChart": { "2026-08-20": null }, "GeoTrafficDistribution": null }',
  );
  expect([rows, mismatched]).toEqual(['', []]);
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
  const alone = await read({ GeoTrafficDistribution: regions });
  expect(alone.rows).toContain('_region_traffic_bytes');
});

it('leaves out only the fields of the wrong type, and notes their names', async () => {
  const { rows, mismatched } = await read(`{
    "CacheHitRate": "91", "AverageOriginResponseTime": 250, "RequestsServedChart": [1],
    "BandwidthUsedChart": { "2026-08-20": "many" }, "GeoTrafficDistribution": { "EU": true }
  }`);
  expect(rows).toContain('bunnynet_pull_zone_origin_response_time_seconds{pull_zone_id="90210"} 0.25\n');
  expect(rows).not.toMatch(/_latest_day\{/);
  expect(mismatched.toSorted()).toEqual([
    'BandwidthUsedChart',
    'CacheHitRate',
    'GeoTrafficDistribution',
    'RequestsServedChart',
  ]);
});

it.each([
  '2026-08-20',
  '2026-08-20T00:00',
  '2026-08-20T12:00:00Z',
  '2026-08-20T00:00:00.0000000',
  '1787184000',
])('reads a chart with keys like %s', async (key) => {
  const { rows, mismatched } = await read({ RequestsServedChart: { [key]: 5 } });
  expect(rows).toContain('_requests_latest_day{pull_zone_id="90210"} 5\n');
  expect(mismatched).toEqual([]);
});

it('notes a chart with ambiguous keys', async () => {
  const { rows, mismatched } = await read({ RequestsServedChart: { '08/09/2026': 5 } });
  expect(rows).not.toContain('_requests_latest_day');
  expect(mismatched).toEqual(['RequestsServedChart']);
});

it('never shows a negative number of cached requests', async () => {
  const { rows } = await read({
    RequestsServedChart: { '2026-08-20': 5 },
    PullRequestsPulledChart: { '2026-08-20': 6 },
  });
  expect(rows).toContain('_cached_requests_latest_day{pull_zone_id="90210"} 0\n');
});
