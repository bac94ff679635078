import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { buildRuleFiles } from '../../monitoring/src/rule-files.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { queriesOf, substitute } from '../monitoring/dashboard-queries.ts';
import { eventually, startDemo, stopAll, toolPath } from './processes.ts';
import { ask, numberOf, startPrometheus } from './prometheus.ts';

const queries = [...buildDashboards().values()].flatMap((dashboard) => queriesOf(dashboard));
/** As in Grafana for six hours on a screen: three hundred points. */
const hours = { rangeSeconds: 21_600, stepSeconds: 72 };

let folder: string;
let origin: string;
let prometheus: string;
/** When everything was scraped and the names are recorded; Unix time, in seconds. */
let at: number;

const query = (expression: string) => ask(prometheus, 'query', { query: expression, time: String(at) });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scale-'));
  origin = await startDemo(['--demo.scale=medium', '--log.level=error']);
  // Names are recorded; with a short interval the test need not wait minutes for them.
  for (const [file, text] of buildRuleFiles()) {
    await writeFile(
      join(folder, `rules-${file}`),
      text.replaceAll(/^( +interval: ).*$/gm, (_, name: string) => `${name}10s`),
    );
  }
  prometheus = await startPrometheus(folder, {
    global: { scrape_interval: '5s' },
    rule_files: [join(folder, 'rules-*.yml')],
    scrape_configs: [{ job_name: 'bunnynet', static_configs: [{ targets: [new URL(origin).host] }] }],
  });
  await eventually(async () => {
    at = Date.now() / 1000;
    const seen = 'count({__name__=~"bunnynet_.+_up"} offset 10s) > 2000 and on () up == 1';
    if ((await query(seen)).length === 0) throw new Error('Prometheus has not seen the demo yet');
    const named = await query('count by (__name__) ({__name__=~"bunnynet:.+_display"} offset 10s)');
    if (named.length < 10) throw new Error('the names are not recorded yet');
  });
});
afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true });
});

describe('the page of the demo at scale medium', () => {
  it('has no findings by promtool', async () => {
    const page = await (await fetch(`${origin}/metrics`)).text();
    expect(page).toContain('bunnynet_application_up');
    const findings = execFileSync(toolPath('promtool'), ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });
    expect(findings).toBe('');
  });

  it('is in Prometheus as it is', async () => {
    // In OpenMetrics, as Prometheus requests it: it also has the start times of counters.
    const accept = 'application/openmetrics-text; version=1.0.0';
    const pods = 'count({__name__=~"bunnynet_application_pod_.+"})';
    const scraped = `sum(scrape_samples_post_metric_relabeling) - ${pods}`;
    // On a busy machine the last scrape is old.
    const page = await eventually(async () => {
      const text = await (await fetch(`${origin}/metrics`, { headers: { accept } })).text();
      // Pods start and stop between the two. The exporter's own counters gain series as status codes occur, and the histogram of
      // garbage collections as they do; all others exist from the start.
      const rows = text.match(/^(?!#|bunnynet_application_pod_)./gm)?.length ?? 0;
      expect(rows).toBeGreaterThan(50_000);
      const known = numberOf(
        await ask(prometheus, 'query', { query: scraped, time: String(Date.now() / 1000) }),
      );
      expect(Math.abs(known - rows)).toBeLessThanOrEqual(25);
      return text;
    });
    const kinds = await query(
      'count by (__name__) ({__name__=~"bunnynet_.+_up", __name__!="bunnynet_exporter_discovery_up"})',
    );
    expect(kinds.map(({ metric }) => String(metric['__name__'])).toSorted()).toEqual(
      [...new Set(page.match(/^bunnynet_(?!exporter_)\w+_up(?=\{)/gm))].toSorted(),
    );
    expect(kinds.length).toBeGreaterThan(20);
  });

  it('has one state an application, and nothing that fails or is old', async () => {
    expect(await query('sum by (app_id) (bunnynet_application_status) != 1')).toEqual([]);
    expect(await query('{__name__=~"bunnynet_.+_up"} != 1')).toEqual([]);
    expect(await query('time() - bunnynet_application_last_success_timestamp_seconds > 120')).toEqual([]);
    expect(await query('bunnynet_application_last_success_timestamp_seconds')).not.toEqual([]);
  });
});

describe('with thousands of targets', () => {
  let answered = 0;

  it.each(queries)('$place ($refId) stays readable', async ({ expr, instant }) => {
    const text = substitute(expr, hours);
    const range = {
      start: String(at - hours.rangeSeconds),
      end: String(at),
      step: String(hours.stepSeconds),
    };
    const found = instant
      ? await query(text)
      : await ask(prometheus, 'query_range', { query: text, ...range });
    if (found.length > 0) answered += 1;
    // A table has at most a hundred rows, a chart a few dozen lines, or one for each kind.
    expect(found.length).toBeLessThanOrEqual(instant ? 100 : Math.max(40, resources.length));
  });

  it('most queries have a result', () => {
    expect(answered).toBeGreaterThan(0.5 * queries.length);
  });
});
