import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, freePort, start, startDemo, stopAll, toolPath } from './processes.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stack-'));
});
afterEach(stopAll);
afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Vector {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Starts a real Prometheus that scrapes the origin every second. */
async function startPrometheus(origin: string) {
  const config = join(folder, 'prometheus.yml');
  await writeFile(
    config,
    `scrape_configs:\n- { job_name: bunnynet, scrape_interval: 1s, static_configs: [{ targets: ["${new URL(origin).host}"] }] }\n`,
  );
  const address = `127.0.0.1:${await freePort()}`;
  start(toolPath('prometheus'), [
    `--config.file=${config}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${await mkdtemp(join(folder, 'data-'))}`,
    '--log.level=warn',
  ]);
  return async (query: string): Promise<readonly Vector[]> => {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`);
    const body = (await response.json()) as {
      status: string;
      error?: string;
      data: { result: readonly Vector[] };
    };
    if (body.status !== 'success') throw new Error(body.error);
    return body.data.result;
  };
}

describe.each(['small', 'medium'])('the demo at scale %s', (scale) => {
  it('has a page without findings by promtool', async () => {
    const origin = await startDemo([`--demo.scale=${scale}`]);
    const page = await (await fetch(`${origin}/metrics`)).text();
    expect(page).toContain('bunnynet_application_up');
    const found = execFileSync(toolPath('promtool'), ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
      maxBuffer: 1e8,
    });
    expect(found).toBe('');
  });

  it('is scraped by a real Prometheus, and its metrics can be queried', async () => {
    const origin = await startDemo([`--demo.scale=${scale}`]);
    const query = await startPrometheus(origin);
    await eventually(async () => {
      const [up] = await query('up{job="bunnynet"} == 1');
      expect(up).toBeDefined();
    });
    const [series] = await query('scrape_samples_post_metric_relabeling');
    // In OpenMetrics, as Prometheus requests it: it also has the start times of counters.
    const accept = 'application/openmetrics-text; version=1.0.0';
    const page = await (await fetch(`${origin}/metrics`, { headers: { accept } })).text();
    const rows = page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
    // The exporter's own counters gain series as status codes occur, and the histogram of garbage collections as they do;
    // all others exist from the start.
    expect(Math.abs(Number(series?.value[1]) - rows)).toBeLessThanOrEqual(25);

    expect(await query('sum by (app_id) (bunnynet_application_status) != 1')).toEqual([]);
    expect(await query('{__name__=~"bunnynet_.+_up"} != 1')).toEqual([]);
    const kinds = await query(
      'count by (__name__) ({__name__=~"bunnynet_.+_up", __name__!="bunnynet_exporter_discovery_up"})',
    );
    expect(kinds.map(({ metric }) => String(metric['__name__'])).toSorted()).toEqual(
      [...new Set(page.match(/^bunnynet_(?!exporter_)\w+_up(?=\{)/gm))].toSorted(),
    );
    expect(kinds.length).toBeGreaterThan(20);
    const [size] = await query('count(sum by (video_id) (bunnynet_video_storage_bytes) > 0)');
    expect(Number(size?.value[1])).toBeGreaterThan(0);
    const named = await query(
      'bunnynet_application_current_latency_seconds * on (app_id) group_left (name) bunnynet_application_info',
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.every(({ metric }) => metric['name'])).toBe(true);
    expect(await query('time() - bunnynet_application_last_success_timestamp_seconds > 120')).toEqual([]);
  });
});
