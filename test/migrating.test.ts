/** docs/migrating.md: what it names of this exporter exists, and every metric of the other exporters is in it. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownFamilies } from './monitoring/families.ts';
import { misusedCounters, readExpression } from './monitoring/promql.ts';

const page = readFileSync(new URL('../docs/migrating.md', import.meta.url), 'utf8');

/** The metric of the other exporter and our query, from each row of each table. */
const rows = [...page.matchAll(/^\| `(\w+)` \|.* `(.+)` \|$/gm)].map(([, theirs = '', ours = '']) => ({
  theirs,
  ours,
}));
const blocks = [...page.matchAll(/^```promql\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
const queries = [...rows.map(({ ours }) => ours), ...blocks];

/** By the prefix of their names, from the sources and the documentation of the five exporters. */
const others: Readonly<Record<string, readonly string[]>> = {
  bunnynet_application: [
    'target_latency',
    'active_regions',
    'latency',
    'instances',
    'cpu_usage',
    'ram_usage',
    'traffic',
    'volume_usage',
    'volume_capacity',
  ],
  bunnynet_dns_zone: ['normal_queries', 'smart_queries', 'queries_by_type'],
  bunnynet_edge_script: ['requests_served', 'cpu_time', 'average_cpu_time'],
  bunnynet_storage_zone: ['storage_used', 'file_count'],
  bunnynet_video_library: ['views', 'watch_time', 'country_views', 'country_watch_time'],
  bunnynet_video_library_drm: ['licenses_issued'],
  bunnynet_video_library_transcribing: ['seconds'],
  bunnynet_pull_zone: [
    'bandwidth_used',
    'bandwidth_cached',
    'requests_served',
    'pull_requests_pulled',
    'origin_shield_bandwidth_used',
    'origin_shield_internal_bandwidth_used',
    'origin_traffic',
    'errors_3xx',
    'errors_4xx',
    'errors_5xx',
    'origin_response_time',
    'cache_hit_rate',
    'geo_traffic',
  ],
  bunnynet_pull_zone_optimizer: [
    'requests_optimized',
    'traffic_saved',
    'average_compression',
    'average_processing_time',
  ],
  bunnynet_pull_zone_origin_shield_queue: ['concurrent_requests', 'queued_requests'],
  bunnynet_pull_zone_safehop: ['requests_retried', 'requests_saved'],
  bunnynet_shield_zone: ['requests', 'clean_requests_limit', 'billable_requests_this_month'],
  bunnynet: [
    'last_update_attempt_timestamp_seconds',
    'last_successful_update_timestamp_seconds',
    'last_collector_update_timestamp_seconds',
  ],
  bunny_mc_app: [
    'info',
    'status',
    'active_instances',
    'desired_instances',
    'active_regions',
    'average_cpu',
    'average_ram',
    'limit_cpu_cores',
    'limit_ram_bytes',
    'current_latency',
  ],
  bunny_mc_region: ['status', 'instances', 'average_cpu', 'average_ram', 'requests', 'anycast_traffic'],
  bunny_mc_pod: [
    'status',
    'ready',
    'cpu_usage',
    'ram_usage',
    'cpu_usage_cores',
    'ram_usage_bytes',
    'last_heartbeat_timestamp_seconds',
  ],
  bunny_mc_container: ['status', 'cpu_usage', 'ram_usage', 'restarts_total', 'last_exit_code'],
  bunny_pullzone: [
    'enabled',
    'suspended',
    'monthly_bandwidth_used_bytes',
    'monthly_bandwidth_limit_bytes',
    'bandwidth_bytes_total',
    'origin_traffic_bytes_total',
    'requests_total',
    'error_responses_total',
    'cache_hit_rate',
    'origin_response_time_milliseconds',
  ],
  bunny_storagezone: ['used_bytes', 'files'],
  bunny: ['scrape_success'],
  bunnycdn: [
    'account_balance',
    'storage_used_bytes',
    'bandwidth_used_bytes_total',
    'bandwidth_cached_bytes_total',
    'requests_served_total',
    'pull_requests_pulled',
    'request_error_count',
    'requests_served',
    'origin_response_time_avg',
    'cache_hit_rate',
    'up',
    'exporter_total_scrapes',
    'exporter_total_errors',
    'exporter_api_calls_total',
    'exporter_build_info',
  ],
};

describe('the page about migrating', () => {
  it('has a query for every metric of the other exporters', () => {
    const metrics = Object.entries(others).flatMap(([prefix, names]) =>
      names.map((name) => `${prefix}_${name}`),
    );
    const theirs = rows.map((row) => row.theirs);
    expect(theirs.toSorted()).toEqual(metrics.toSorted());
  });

  it.each(queries)('names only existing metrics and labels, in a query that parses: %s', async (query) => {
    const { errors, selectors, ...expression } = readExpression(query);
    expect(errors).toEqual([]);
    expect(misusedCounters({ errors, selectors, ...expression })).toEqual([]);
    const families = await knownFamilies();
    for (const { metric, labels } of selectors) {
      // A selector by name alone, such as {__name__=~"…"}, has no metric.
      if (metric === '') continue;
      expect([...families.keys()]).toContain(metric);
      const known = families.get(metric);
      if (known) expect(known).toEqual(expect.arrayContaining([...labels]));
    }
  });

  it('names in its text only metrics of this exporter or the others', async () => {
    const known = new Set([...(await knownFamilies()).keys(), ...rows.map(({ theirs }) => theirs)]);
    const named = [...page.matchAll(/\bbunny(?:net|cdn)?_[a-z0-9_]*[a-z0-9]\b(?![/_])/g)].map(
      ([name]) => name,
    );
    const repositories = ['bunnynet_prometheus', 'bunnycdn_exporter'];
    expect(named.filter((name) => !known.has(name) && !repositories.includes(name))).toEqual([]);
  });
});
