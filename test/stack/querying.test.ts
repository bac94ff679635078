import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { everything, sectionOf } from '../../simulator/everything.ts';
import { application } from '../../simulator/kinds/application.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { eventually, freePort, start, stopAll } from './processes.ts';
import { ask, numberOf, type Series, startPrometheus } from './prometheus.ts';
import { promtool } from './promtool.ts';

const text = readFileSync('docs/querying.md', 'utf8');

/** Every query of the page, by its first line. A query begins at each line that is not indented and closes no parenthesis. */
const queries = [...text.matchAll(/^( *)```promql\n([\s\S]*?)^ *```$/gm)].flatMap(
  ([, indent = '', block = '']) =>
    block
      .replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      .replaceAll(/^#.*\n/gm, '')
      .trimEnd()
      .split(/\n(?![ )])/),
);

const nowMs = Date.now();
/** A clock that stands still, so that no application changes its state. */
const simulator = createSimulator({ now: () => nowMs });
let folder = '';
let prometheus = '';

/** Starts an exporter of everything, with one application without a name; returns its host and port. */
async function startExporter(configFile: string, env: Readonly<Record<string, string>>): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${configFile}`, `--web.listen-address=${address}`, '--log.level=error'];
  start(process.execPath, ['dist/bunnynet-exporter.js', ...flags], { ...process.env, ...env });
  return address;
}

/** When the last scrapes have all succeeded; Unix time, in seconds. */
let at = 0;

const query = (expression: string) => ask(prometheus, 'query', { query: expression, time: String(at) });

async function totalOf(expression: string): Promise<number> {
  const found = await query(expression);
  expect(found).toHaveLength(1);
  return numberOf(found);
}

const sumOf = (found: readonly Series[]) => found.reduce((sum, one) => sum + numberOf([one]), 0);

/** The query with windows of seconds instead of minutes to weeks, and bounds that the account with its standing clock reaches. */
function hurried(expression: string): string {
  return expression
    .replaceAll(/(?<=\[|offset )\d+[mhdw]\b/g, '15s')
    .replace(':1h]', ':3s]')
    .replaceAll('> 600', '> 2')
    .replace('> 2 * 86400', '> 0')
    .replace('container_restarts_total[15s]) > 0', 'container_restarts_total[15s]) >= 0')
    .replace('latest_hour_seconds > 0.5', 'latest_hour_seconds > 0.05')
    .replace('certificate="none"', 'certificate!="none"');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'querying-'));
  await simulator.start();
  const { document, env } = everything(simulator, {
    isNamed: true,
    interval: '10s',
    staleAfter: '30s',
    api: () => ({ requests_per_second: 1000, max_concurrency: 32, max_retries: 0 }),
  });
  const { targets } = sectionOf(document, application);
  if (targets === 'all') throw new Error('the applications are not listed one by one');
  delete targets[0]?.['name'];
  const configFile = join(folder, 'exporter.yml');
  await writeFile(configFile, stringify(document));
  const exporters = [await startExporter(configFile, env), await startExporter(configFile, env)];

  prometheus = await startPrometheus(folder, {
    global: { scrape_interval: '3s' },
    scrape_configs: [{ job_name: 'bunnynet', static_configs: [{ targets: exporters }] }],
  });
  const nowSeconds = () => {
    at = Date.now() / 1000;
  };
  await eventually(async () => {
    nowSeconds();
    const found = await query('bunnynet_application_up == 1 and bunnynet_application_up offset 20s');
    expect(found).toHaveLength(2 * simulator.applications.length);
  });
  const nameless = simulator.applications[0]?.id;
  const [active] = await query(`bunnynet_application_status{status="active", app_id!="${nameless}"} == 1`);
  simulator.remove(active?.metric['app_id'] ?? '');
  await eventually(async () => {
    nowSeconds();
    const gone = 'time() - bunnynet_application_last_success_timestamp_seconds > 35';
    // It is polled more and more seldom: one of its failures is to be in the window.
    const failed = 'sum by (instance) (increase(bunnynet_exporter_polls_total{result!="success"}[15s])) > 0';
    const found = await query(
      `${gone} and on (instance, app_id) bunnynet_application_up == 0 and on (instance) min_over_time(up[30s]) == 1 and on (instance) ${failed}`,
    );
    expect(found).toHaveLength(2);
  });
});
afterAll(async () => {
  await stopAll();
  await simulator.stop();
  await rm(folder, { recursive: true });
});

/** The query of the page that begins with these words. */
function shown(beginning: string): string {
  const found = queries.filter((expression) => expression.startsWith(beginning));
  const [first] = found;
  if (first === undefined) throw new Error(`no query begins with ${beginning}`);
  return hurried(first);
}

describe('with two exporters in one job', () => {
  test.each(queries)('%s finds something', async (expression) => {
    expect(await query(hurried(expression))).not.toEqual([]);
  });

  test('a join only on the id fails, which is why the page has none', async () => {
    const join =
      'bunnynet_application_monthly_cost_dollars * on (app_id) group_left (name) bunnynet_application_info';
    await expect(query(join)).rejects.toThrow('many-to-many');
    expect(queries.join('\n')).not.toMatch(/on \((?!job, instance)/);
  });

  test('the plain join leaves out targets without a name, and the longer form keeps them', async () => {
    const named = await query(shown('bunnynet_application_current_latency_seconds\n'));
    const all = await query(shown('bunnynet_application_current_latency_seconds *'));
    const there = await query('bunnynet_application_current_latency_seconds');
    expect(all).toHaveLength(there.length);
    expect(named).toHaveLength(there.length - 2);
    const nameless = all.filter(({ metric }) => metric['name'] === undefined);
    expect(nameless.map(({ metric }) => metric['app_id'])).toEqual(
      Array(2).fill(simulator.applications[0]?.id),
    );
  });

  test('costs are counted once, by name and in total', async () => {
    const inAll = await totalOf(shown('sum(max by (app_id) (bunnynet_application_monthly_cost_dollars))'));
    expect(sumOf(await query(shown('sum by (name)')))).toBeCloseTo(inAll, 2);
    expect(await totalOf('sum(bunnynet_application_monthly_cost_dollars)')).toBeCloseTo(2 * inAll, 2);
  });

  test('the storage of the libraries is counted once', async () => {
    const byLibrary = await query(
      shown('sum by (library_id) (max by (library_id, video_id, component) (bunnynet_video_storage_bytes))'),
    );
    expect(byLibrary).toHaveLength(simulator.libraryIds.length);
    expect(await totalOf('sum(bunnynet_video_storage_bytes)')).toBe(2 * sumOf(byLibrary));
  });
});

describe('the requests of each account in 30 days', () => {
  const hoursInAll = 30 * 24;
  const perPoll = 300;
  const [whole, half] = [hoursInAll * 12, hoursInAll * 6];
  /** The series of an exporter that reads one pull zone: how many samples are missing, there, and missing again. */
  const series = (
    instance: string,
    before: number,
    there: number,
    after: number,
    account = 'acme',
    id = '1',
  ) => {
    const labels = `job="bunnynet",instance="${instance}",pull_zone_id="${id}"`;
    const around = (samples: string) => `_x${before} ${samples}x${there - 1} _x${after}`;
    return [
      { series: `bunnynet_pull_zone_requests_total{${labels}}`, values: around(`0+${perPoll}`) },
      { series: `bunnynet_pull_zone_up{${labels},account="${account}"}`, values: around('1') },
    ];
  };
  const changed = [...series('one', 0, half, half + 1), ...series('two', half, half + 1, 0)];
  const other = series('one', 0, whole + 1, 0, 'umbrella', '2');

  test.each([
    ['over a change of instance', [...changed, ...other]],
    ['of two exporters, one of which changes', [...changed, ...series('three', 0, whole + 1, 0), ...other]],
  ])('are right %s', async (_, input) => {
    const expr = queries.find((each) => each.includes('[30d:1h]')) ?? '';
    const file = join(folder, 'month.test.yml');
    const isRight = `abs(${expr} / ${whole * perPoll} - 1) < bool 0.005`;
    const samples = ['acme', 'umbrella'].map((account) => ({ labels: `{account="${account}"}`, value: 1 }));
    const asked = { expr: isRight, eval_time: `${hoursInAll}h`, exp_samples: samples };
    const tests = [{ interval: '5m', input_series: input, promql_expr_test: [asked] }];
    await writeFile(file, stringify({ rule_files: [], tests }));
    await promtool('test', 'rules', file);
  });
});
