/** A loaded month in the dashboards: the panels of what is counted have data, and none errs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { buildHistoryRules } from '../../monitoring/src/rule-files.ts';
import { everything } from '../../simulator/everything.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type { Product } from '../../src/resources/resource.ts';
import { isNothing, queriesOf, saysNothing, substitute } from '../monitoring/dashboard-queries.ts';
import { records } from '../monitoring/rules-read.ts';
import { eventually, freePort, start, stop, stopAll, toolPath } from './processes.ts';
import { ask } from './prometheus.ts';
import { promtool } from './promtool.ts';

const daySeconds = 86_400;
const stepSeconds = 300;
const points = 1000;
/** The ranges that the panels show, in days. */
const ranges = [0.25, 1, 7, 30];
const products: readonly Product[] = ['CDN', 'DNS', 'Stream', 'Shield'];
const shape = {
  zones: 2,
  dnsZones: 1,
  libraries: 1,
  endpoints: 2,
  rateLimitZones: 1,
  loadBalancers: 1,
} as const;

const recordOf = new Map(records.map(({ record, expr }) => [record, expr]));

/** The metrics that an expression reads, and what the records among them read. */
function namesIn(expr: string, known = new Set<string>()): ReadonlySet<string> {
  const patterns = Array.from(expr.matchAll(/__name__=~"([^"]+)"/g), ([, one]) => new RegExp(`^(?:${one})$`));
  const matching = catalogue.filter(({ name }) => patterns.some((pattern) => pattern.test(name)));
  const named = expr.replaceAll(/"[^"]*"/g, '').match(/\bbunnynet[\w:]+/g) ?? [];
  for (const name of [...matching.map((family) => family.name), ...named]) {
    if (known.has(name)) continue;
    known.add(name);
    namesIn(recordOf.get(name) ?? '', known);
  }
  return known;
}

const queries = [...buildDashboards().values()]
  .flatMap((dashboard) => queriesOf(dashboard))
  .filter((query) => !saysNothing(query))
  .map((query) => ({ ...query, reads: [...namesIn(query.expr)] }));

let folder = '';
let address = '';
/** What the history has. */
let families: ReadonlySet<string> = new Set();
/** The last midnight of the history, in Unix seconds: kinds that are counted by days end there, those by hours later. */
let midnightSeconds = 0;
/** The last step of the last day. */
let endSeconds = 0;

async function startPrometheus() {
  const child = start(toolPath('prometheus'), [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--storage.tsdb.retention.time=90d',
    '--log.level=error',
  ]);
  await eventually(async () => expect((await fetch(`http://${address}/-/ready`)).status).toBe(200));
  return child;
}

/** Writes the history; returns where it ends, in Unix seconds. */
async function writeHistory(file: string): Promise<number> {
  const simulator = createSimulator({ shape });
  await simulator.start();
  const kinds = resources.filter(({ product }) => products.includes(product)).map(({ kind }) => kind);
  const { document, env } = everything(simulator, {
    kinds,
    api: () => ({ requests_per_second: 1000, max_concurrency: 32 }),
  });
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify(document));
  const output = await open(file, 'w');
  const child = spawn(
    process.execPath,
    [
      'dist/bunnynet-exporter.js',
      `--config.file=${config}`,
      '--backfill=30d',
      '--backfill.label=job=bunnynet',
      '--backfill.label=instance=localhost:10057',
    ],
    { env: { ...process.env, ...env }, stdio: ['ignore', output.fd, 'pipe'] },
  );
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  await once(child, 'close');
  await output.close();
  await simulator.stop();
  return Date.parse(/the history ends at (\S+?)\. /.exec(stderr)?.[1] ?? '') / 1000;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backfill-'));
  address = `127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, 'prometheus.yml'), '{}');
  const [file, data] = [join(folder, 'history.om'), join(folder, 'data')];
  const untilSeconds = await writeHistory(file);
  midnightSeconds = Math.floor(untilSeconds / daySeconds) * daySeconds;
  endSeconds = midnightSeconds - stepSeconds;
  const made = await readFile(file, 'latin1');
  families = new Set(Array.from(made.matchAll(/^(\w+)\{/gm), ([, name = '']) => name));
  await promtool('tsdb', 'create-blocks-from', 'openmetrics', '--max-block-duration=768h', file, data);
  const child = await startPrometheus();
  const read = new Set(queries.filter(isAboutCounters).flatMap(({ reads }) => reads));
  const rules = join(folder, 'rules.yml');
  // Each group as often as in the file of the page.
  const { groups } = parse(buildHistoryRules()) as {
    readonly groups: readonly { readonly rules: readonly { readonly record: string }[] }[];
  };
  const needed = groups.map((group) => ({
    ...group,
    rules: group.rules.filter(({ record }) => read.has(record)),
  }));
  await writeFile(rules, stringify({ groups: needed.filter((group) => group.rules.length > 0) }));
  await promtool(
    'tsdb',
    'create-blocks-from',
    'rules',
    `--start=${endSeconds - Math.min(Math.max(...ranges) + 1, 29) * daySeconds}`,
    `--end=${untilSeconds}`,
    `--eval-interval=${stepSeconds}s`,
    `--url=http://${address}`,
    `--output-dir=${data}`,
    rules,
  );
  await stop(child);
  await startPrometheus();
}, 600_000);
afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true });
});

type Query = (typeof queries)[number];

function isAboutCounters({ reads }: Query): boolean {
  return reads.some((name) => /_(?:total|latest_day)$/.test(name) && families.has(name));
}

/** Whether it also reads a state or a gauge, of which the past is not known. */
function needsState({ reads }: Query): boolean {
  return reads.some(
    (name) =>
      !recordOf.has(name) && !/_(?:total|latest_day|latest_day_timestamp_seconds|info|up)$/.test(name),
  );
}

describe.each(ranges)('at a range of %d days', (days) => {
  const rangeSeconds = days * daySeconds;

  it('the panels of what is counted have data, and none errs', async () => {
    const about = queries.filter(isAboutCounters);
    const [start, end] = [`${endSeconds - rangeSeconds}`, `${endSeconds}`];
    const step = rangeSeconds / points;
    const empty: string[] = [];
    for (const query of about) {
      const asked = substitute(query.expr, {
        rangeSeconds,
        stepSeconds: step,
        variables: { account: '.*' },
      });
      const answer = query.instant
        ? await ask(address, 'query', { query: asked, time: end })
        : await ask(address, 'query_range', { query: asked, start, end, step: `${step}` });
      if (needsState(query)) continue;
      const firstSeconds = Math.min(
        ...answer.map(({ values }) => values[0]?.[0] ?? Number.POSITIVE_INFINITY),
      );
      // Some kinds have no more than the past 28 days.
      const isWhole = query.instant || firstSeconds < endSeconds - 0.8 * rangeSeconds;
      if (answer.every(isNothing) || !isWhole) empty.push(`${query.place} (${query.refId}): ${asked}`);
    }
    expect(empty).toEqual([]);
    const dashboards = new Set(
      about.filter((query) => !needsState(query)).map(({ place }) => place.split(':')[0]),
    );
    for (const name of ['CDN', 'Shield', 'Storage, DNS and databases', 'Stream'])
      expect(dashboards).toContain(`bunny.net / ${name}`);
  });

  it.each([
    ['the last midnight, after which kinds by days have no more samples', 0],
    ['a midnight before it', 2],
  ])('no panel errs at any minute around %s', async (_, daysBefore) => {
    const aroundSeconds = midnightSeconds - daysBefore * daySeconds;
    const window = { start: `${aroundSeconds - 1200}`, end: `${aroundSeconds + 2400}`, step: '60' };
    const failed: string[] = [];
    for (const query of queries.filter(isAboutCounters)) {
      const asked = substitute(query.expr, {
        rangeSeconds,
        stepSeconds: rangeSeconds / points,
        variables: { account: '.*' },
      });
      await ask(address, 'query_range', { query: asked, ...window }).catch((error: Error) => {
        failed.push(`${query.place} (${query.refId}): ${error.message}`);
      });
    }
    expect(failed).toEqual([]);
  });
});
