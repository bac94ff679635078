/** A history, loaded into a Prometheus that scrapes the exporter already. */
import { type ChildProcess, execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { everything } from '../../simulator/everything.ts';
import { createSimulator, type Simulator } from '../../simulator/simulator.ts';
import { eventually, freePort, start, stop, stopAll, toolPath } from './processes.ts';
import { ask, numberOf } from './prometheus.ts';
import { promtool } from './promtool.ts';

const execute = promisify(execFile);
const daySeconds = 86_400;
const kinds = [
  'pull_zone',
  'pull_zone_statistics',
  'dns_zone',
  'video_library_statistics',
  'shield_statistics',
  'rate_limit',
];

let simulator: Simulator;
let folder = '';
let address = '';
let prometheus: ChildProcess;
/** Where the history ends, in Unix seconds. */
let untilSeconds = 0;
/** What the scrapes before gave. */
let scraped: readonly (readonly [number, string])[] = [];

async function startPrometheus(): Promise<void> {
  prometheus = start(toolPath('prometheus'), [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--storage.tsdb.retention.time=90d',
    '--log.level=warn',
  ]);
  await eventually(async () => expect((await fetch(`http://${address}/-/ready`)).status).toBe(200));
}

const at = (query: string, seconds: number) => ask(address, 'query', { query, time: String(seconds) });

async function liveSamples(): Promise<readonly (readonly [number, string])[]> {
  const [first, last] = [scraped[0]?.[0] ?? 0, scraped.at(-1)?.[0] ?? 0];
  const [series] = await ask(address, 'query', {
    query: `bunnynet_dns_zone_up{dns_zone_id="${simulator.dnsZones[0]?.id}"}[${Math.ceil(last - first) + 1}s]`,
    time: String(last),
  });
  return series?.values ?? [];
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backfill-'));
  simulator = createSimulator();
  await simulator.start();
  const { document, env } = everything(simulator, {
    kinds,
    interval: '10s',
    api: () => ({ requests_per_second: 1000 }),
  });
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify(document));
  const exporter = `127.0.0.1:${await freePort()}`;
  start(
    process.execPath,
    [
      'dist/bunnynet-exporter.js',
      `--config.file=${config}`,
      `--web.listen-address=${exporter}`,
      '--log.level=error',
    ],
    { ...process.env, ...env },
  );
  await eventually(async () => expect((await fetch(`http://${exporter}/-/ready`)).status).toBe(200));
  address = `127.0.0.1:${await freePort()}`;
  await writeFile(
    join(folder, 'prometheus.yml'),
    stringify({
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'bunnynet', static_configs: [{ targets: [exporter] }] }],
    }),
  );
  await startPrometheus();
  const one = `bunnynet_dns_zone_up{dns_zone_id="${simulator.dnsZones[0]?.id}"}[1h]`;
  scraped = await eventually(async () => {
    const [series] = await ask(address, 'query', { query: one });
    expect(series?.values.length ?? 0).toBeGreaterThan(10);
    return series?.values ?? [];
  });

  const file = join(folder, 'history.om');
  const flags = ['--backfill=30d', '--backfill.step=1h'];
  const labels = ['--backfill.label=job=bunnynet', `--backfill.label=instance=${exporter}`];
  const { stdout, stderr } = await execute(
    process.execPath,
    ['dist/bunnynet-exporter.js', `--config.file=${config}`, ...flags, ...labels],
    { env: { ...process.env, ...env }, maxBuffer: 1e9 },
  );
  untilSeconds = Date.parse(/the history ends at (\S+?)\. /.exec(stderr)?.[1] ?? '') / 1000;
  await writeFile(file, stdout);
  const blocks = join(folder, 'data');
  await promtool('tsdb', 'create-blocks-from', 'openmetrics', '--max-block-duration=768h', file, blocks);
  // It looks for blocks once a minute.
  await eventually(async () =>
    expect(await at('bunnynet_exporter_build_info', untilSeconds - 3600)).toHaveLength(1),
  );
});
afterAll(async () => {
  await stopAll();
  await simulator.stop();
  await rm(folder, { recursive: true });
});

async function charts(path: string, api: 'core' | 'video' = 'core') {
  const key = simulator.keys.account;
  const response = await fetch(simulator.baseUrls[api] + path, { headers: { AccessKey: key } });
  return (await response.json()) as Readonly<Record<string, Readonly<Record<string, number>>>>;
}

function sum(chart: Readonly<Record<string, number>> | undefined): number {
  return Object.values(chart ?? {}).reduce((all, value) => all + value, 0);
}

const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);

/** The whole days of the history, without the last: the start of each. */
function wholeDays(): readonly number[] {
  const first = Math.ceil((untilSeconds - 30 * daySeconds) / daySeconds) * daySeconds;
  return Array.from({ length: 28 }, (_, day) => first + day * daySeconds);
}

describe('a loaded history', () => {
  test('has the figures of the API of each day, to the unit', async () => {
    const [zone] = simulator.dnsZones;
    const [pullZone] = simulator.pullZones;
    for (const day of wholeDays()) {
      const date = dateOf(day);
      const dns = await charts(`/dnszone/${zone?.id}/statistics?dateFrom=${date}&dateTo=${date}`);
      const query = `dateFrom=${date}T00:00:00Z&dateTo=${date}T23:59:59Z&loadRequestsServed=true`;
      const cdn = await charts(`/statistics?pullZone=${pullZone?.id}&${query}`);
      for (const [selector, chart] of [
        [`bunnynet_dns_zone_queries_total{dns_zone_id="${zone?.id}"}`, dns['QueriesServedChart']],
        [`bunnynet_pull_zone_requests_total{pull_zone_id="${pullZone?.id}"}`, cdn['RequestsServedChart']],
      ] as const) {
        const [before, after] = await Promise.all([at(selector, day), at(selector, day + daySeconds)]);
        expect(numberOf(after) - numberOf(before), `${selector} ${date}`).toBe(sum(chart));
      }
    }
  });

  test('has names to join with, and no resets', async () => {
    const time = untilSeconds - 7200;
    const named = await at(
      'bunnynet_pull_zone_requests_total * on (pull_zone_id) group_left (name) bunnynet_pull_zone_info',
      time,
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(({ metric }) => !metric['name'])).toEqual([]);
    for (const name of ['bunnynet_pull_zone_requests_total', 'bunnynet_dns_zone_queries_by_type_total']) {
      const resets = await at(`sum(resets(${name}[29d]))`, untilSeconds - 1);
      expect(numberOf(resets), name).toBe(0);
    }
  });

  test('leaves what was scraped as it was, also after a restart', async () => {
    expect(await liveSamples()).toEqual(scraped);
    await stop(prometheus);
    await startPrometheus();
    expect(await liveSamples()).toEqual(scraped);
    expect(await at('bunnynet_exporter_build_info', untilSeconds - 3600)).toHaveLength(1);
  });
});
