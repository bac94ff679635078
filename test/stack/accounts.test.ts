/** The dashboards with two accounts: what is chosen is shown as if the other one were not there. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { exporterDashboard } from '../../monitoring/src/exporter-health.ts';
import { buildRuleFiles } from '../../monitoring/src/rule-files.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { queriesOf, substitute, variableQueries } from '../monitoring/dashboard-queries.ts';
import { startPrometheusWithRules } from './alerting.ts';
import { eventually, startDemo, stopAll } from './processes.ts';
import { ask, type Series } from './prometheus.ts';

const dashboards = [...buildDashboards().values()].filter(({ uid }) => uid !== exporterDashboard.uid);
const queries = dashboards.flatMap((dashboard) => queriesOf(dashboard));
const variables = dashboards.flatMap((dashboard) => variableQueries(dashboard));
const idLabels = [...new Set(resources.flatMap(({ ids }) => ids.map(({ label }) => label)))].filter(
  (label) => label !== 'account',
);
const ids = new RegExp(`\\b(${idLabels.join('|')})="([^"]+)"`, 'g');
const window = { rangeSeconds: 60, stepSeconds: 1 };

let folder: string;
let prometheus: string;
/** When everything was scraped and recorded; Unix time, in seconds. */
let at: number;
const servers: Server[] = [];

/** The same things as those of another account, which cannot be read; its figures are ten times as large. */
function ofUmbrella(line: string): string {
  const [series = '', value = ''] = line.split(/ (?=\S+$)/);
  const figure = /_(up|info)\{/.test(line) ? Number(line.includes('_info{')) : 10 * Number(value);
  const others = series
    .replaceAll(ids, '$1="umbrella-$2"')
    .replace('account="account"', 'account="umbrella"');
  return `${others.replaceAll(/\bname="/g, 'name="umbrella ')} ${figure}`;
}

/** Serves a page whose counters grow, those of the other account ten times as fast. */
async function serve(lines: readonly string[]): Promise<string> {
  const startedMs = Date.now();
  const server = createServer((_, response) => {
    const grown = (Date.now() - startedMs) / 10;
    const now = lines.map((line) => {
      const [, series = '', value] = /^(\w+_total(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      if (value === undefined) return line;
      // As in life, few requests are not cached.
      const share = series.includes('uncached') ? 0.1 : 1;
      return `${series} ${Number(value) + grown * share * (series.includes('umbrella') ? 10 : 1)}`;
    });
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`${now.join('\n')}\n`);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer(expr: string, chosen: Readonly<Record<string, string>>): Promise<readonly Series[]> {
  const query = substitute(expr, { ...window, variables: chosen });
  return await ask(prometheus, 'query', { query, time: String(at) });
}

const onlyAccount = { job: 'two', account: 'account' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'accounts-'));
  const origin = await startDemo(['--demo.scale=small', '--log.level=error']);
  const page = await (await fetch(`${origin}/metrics`)).text();
  await stopAll();
  const lines = page.split('\n').filter((line) => /^\w/.test(line));
  const isOfTarget = (line: string) => /^bunnynet_(?!exporter_)/.test(line);
  const one = await serve(lines);
  const two = await serve(lines.flatMap((line) => (isOfTarget(line) ? [line, ofUmbrella(line)] : [line])));
  prometheus = await startPrometheusWithRules(folder, [...buildRuleFiles().keys()], '127.0.0.1:9', [
    { targets: [one], labels: { job: 'one' } },
    { targets: [two], labels: { job: 'two' } },
  ]);
  await eventually(async () => {
    at = Date.now() / 1000 - 2;
    const failing = 'bunnynet:firing_alerts:since_seconds{app_id=~"umbrella.+"} offset 10s and on () up == 1';
    if ((await answer(failing, {})).length === 0) throw new Error('nothing fires yet');
  });
});
afterAll(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await stopAll();
  await rm(folder, { recursive: true });
});

function idsOf(found: readonly Series[]): readonly string[] {
  return found.flatMap(({ metric }) => idLabels.flatMap((label) => metric[label] ?? []));
}

describe('with two accounts', () => {
  let shown = 0;

  it('the variable offers both', async () => {
    const expr = variables.find(({ name }) => name === 'account')?.expr ?? '';
    const found = await answer(expr, { job: 'two' });
    expect(new Set(found.map(({ metric }) => metric['account']))).toEqual(new Set(['account', 'umbrella']));
  });

  it.each(queries)('$place ($refId) shows one of them as if it were alone', async ({ expr }) => {
    const found = await answer(expr, onlyAccount);
    const alone = await answer(expr, { job: 'one', account: '.*' });
    expect(idsOf(found).filter((id) => id.startsWith('umbrella-'))).toEqual([]);
    if (expr.includes('bunnynet_exporter_') || expr.includes('bunnynet:firing_alerts')) return;
    const valuesOf = (each: readonly Series[]) =>
      each.map(({ values }) => Number(values[0]?.[1])).toSorted((a, b) => a - b);
    const [mine, others] = [valuesOf(found), valuesOf(alone)];
    expect(mine.length).toBe(others.length);
    // Counters of the two pages are read at different moments.
    for (const [index, value] of mine.entries())
      expect(Math.abs(value - (others[index] ?? Number.NaN))).toBeLessThanOrEqual(
        0.3 * Math.abs(value) + 1e-9,
      );
    if (idsOf(await answer(expr, { job: 'two', account: '.*' })).some((id) => id.startsWith('umbrella-')))
      shown += 1;
  });

  it('with all accounts, panels show both, also what cannot be read', () => {
    expect(shown).toBeGreaterThan(100);
  });

  it.each(variables.filter(({ expr }) => expr.includes('_display')))(
    'the variable $name offers what belongs to one of them',
    async ({ expr }) => {
      const found = idsOf(await answer(expr, onlyAccount));
      expect(found).not.toEqual([]);
      expect(found.filter((id) => id.startsWith('umbrella-'))).toEqual([]);
    },
  );

  it('the list of alerts has those of one of them, and those about no target', async () => {
    const expr = queries.find(({ place }) => place === 'bunny.net / Overview: Firing alerts')?.expr ?? '';
    const alertsOf = async (account: string) => {
      const found = await answer(expr, { job: 'two', account });
      return found.map(({ metric }) => `${metric['alertname']} ${metric['app_id'] ?? metric['kind'] ?? ''}`);
    };
    const all = await alertsOf('.*');
    const mine = await alertsOf('account');
    expect(all.some((alert) => alert.includes('umbrella-'))).toBe(true);
    expect(mine).not.toEqual([]);
    expect(mine.filter((alert) => alert.includes('umbrella-'))).toEqual([]);
    expect(mine).toEqual(
      expect.arrayContaining(all.filter((alert) => alert.startsWith('BunnynetKindUnreadable'))),
    );
  });

  it('the list of failing targets has those of one of them', async () => {
    const expr = 'bunnynet:failing_targets:unread_seconds{account=~"$account|"}';
    expect(await answer(expr, onlyAccount)).toEqual([]);
    const failing = await answer(expr, { account: 'umbrella' });
    expect(failing.length).toBe(50);
    expect(new Set(failing.map(({ metric }) => metric['account']))).toEqual(new Set(['umbrella']));
  });

  it('the overview compares them', async () => {
    const columns = queries.filter(({ place }) => place === 'bunny.net / Overview: Accounts');
    expect(columns).toHaveLength(6);
    for (const { expr } of columns) {
      const found = await answer(expr, { job: 'two', account: '.*' });
      expect(
        found.map(({ metric }) => metric),
        expr,
      ).toEqual(expect.arrayContaining([{ account: 'account' }, { account: 'umbrella' }]));
    }
  });
});
