import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { buildRuleFiles } from '../../monitoring/src/rule-files.ts';
import { queriesOf, substitute } from '../monitoring/dashboard-queries.ts';
import { eventually, freePort, start, startDemo, stopAll, toolPath } from './processes.ts';

const queries = [...buildDashboards().values()].flatMap((dashboard) => queriesOf(dashboard));
/** As in Grafana for six hours on a screen: three hundred points. */
const hours = { rangeSeconds: 21_600, stepSeconds: 72 };

let folder: string;
let ask: (path: string, parameters: Readonly<Record<string, string>>) => Promise<readonly unknown[]>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scale-'));
  const origin = await startDemo(['--demo.scale=medium', '--log.level=error']);
  const job = { job_name: 'bunnynet', static_configs: [{ targets: [new URL(origin).host] }] };
  // Names are recorded; with a short interval the test need not wait minutes for them.
  for (const [file, text] of buildRuleFiles()) {
    await writeFile(
      join(folder, file),
      text.replaceAll(/^( +interval: ).*$/gm, (_, name: string) => `${name}10s`),
    );
  }
  const rules = join(folder, '*.yml');
  const scraping = join(folder, 'prometheus.yaml');
  await writeFile(
    scraping,
    stringify({ global: { scrape_interval: '2s' }, rule_files: [rules], scrape_configs: [job] }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  start(toolPath('prometheus'), [
    `--config.file=${scraping}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--log.level=warn',
  ]);
  ask = async (path, parameters) => {
    const response = await fetch(`http://${address}/api/v1/${path}`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
    });
    const answer = (await response.json()) as { error?: string; data?: { result: readonly unknown[] } };
    if (!answer.data) throw new Error(`${answer.error}: ${parameters['query']}`);
    return answer.data.result;
  };
  await eventually(async () => {
    const [found] = await ask('query', { query: 'count({__name__=~"bunnynet_.+_up"} offset 10s) > 2000' });
    if (found === undefined) throw new Error('Prometheus has not seen the demo yet');
    const named = await ask('query', {
      query: 'count by (__name__) ({__name__=~"bunnynet:.+_display"} offset 10s)',
    });
    if (named.length < 10) throw new Error('the names are not recorded yet');
  }, 150_000);
}, 240_000);
afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true });
});

describe('with thousands of targets', () => {
  let answered = 0;

  it.each(queries)('$place ($refId) stays readable', async ({ expr, instant }) => {
    const query = substitute(expr, hours);
    const now = Date.now() / 1000;
    const found = instant
      ? await ask('query', { query, time: String(now) })
      : await ask('query_range', {
          query,
          start: String(now - hours.rangeSeconds),
          end: String(now),
          step: String(hours.stepSeconds),
        });
    if (found.length > 0) answered += 1;
    // A table has at most a hundred rows, a chart a few dozen lines.
    expect(found.length).toBeLessThanOrEqual(instant ? 100 : 40);
  });

  it('most queries have a result', () => {
    expect(answered).toBeGreaterThan(0.5 * queries.length);
  });
});
