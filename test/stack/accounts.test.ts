/**
 * The dashboards with two accounts: what is chosen is shown as if the other one were not there, also before it got its name. And
 * what they say where there is nothing, with the rules and without.
 */
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
import { isRow, panelsOf, queriesOf, substitute, variableQueries } from '../monitoring/dashboard-queries.ts';
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
let withoutRules: string;
/** When the account that `withoutRules` reads in the job `renamed` gets another name; Unix time, in seconds. */
let renamedAt = Infinity;
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
async function serve(lines: readonly string[], shown = (line: string) => line): Promise<string> {
  const startedMs = Date.now();
  const server = createServer((_, response) => {
    const grown = (Date.now() - startedMs) / 10;
    const now = lines.map(shown).map((line) => {
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

async function answer(
  expr: string,
  chosen: Readonly<Record<string, string>>,
  address = prometheus,
): Promise<readonly Series[]> {
  const query = substitute(expr, { ...window, variables: chosen });
  return await ask(address, 'query', { query, time: String(at) });
}

async function newFolder(): Promise<string> {
  return await mkdtemp(join(folder, 'prometheus-'));
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
  prometheus = await startPrometheusWithRules(
    await newFolder(),
    [...buildRuleFiles().keys()],
    '127.0.0.1:9',
    [
      { targets: [one], labels: { job: 'one' } },
      { targets: [two], labels: { job: 'two' } },
    ],
  );
  const renamed = await serve(lines, (line) => {
    const account = Date.now() / 1000 < renamedAt ? 'former' : 'acme';
    return line.replace('account="account"', `account="${account}"`);
  });
  withoutRules = await startPrometheusWithRules(await newFolder(), [], '127.0.0.1:9', [
    { targets: [one], labels: { job: 'one' } },
    { targets: [renamed], labels: { job: 'renamed' } },
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

describe('a graph of an account that got another name', () => {
  // Without records, as there are no rules. The figures of an account itself have its name as a label: those are other series.
  const graphs = queries.filter(({ instant, expr }) => !instant && !/bunnynet:|billing|audit_log/.test(expr));

  beforeAll(async () => {
    renamedAt = Date.now() / 1000;
    await eventually(async () => {
      at = Date.now() / 1000 - 2;
      const query = 'bunnynet_pull_zone_up{account="acme"} offset 5s';
      if ((await answer(query, {}, withoutRules)).length === 0)
        throw new Error('the new name is not there yet');
    });
  });

  /** The points of all lines, by when they are. */
  async function pointsOf(expr: string, account: string): Promise<ReadonlyMap<number, number>> {
    const range = { rangeSeconds: 30, stepSeconds: 1, variables: { job: 'renamed', account } };
    const query = substitute(expr, range);
    const ends = { start: String(renamedAt - 10), end: String(at), step: '1' };
    const found = await ask(withoutRules, 'query_range', { query, ...ends });
    const points = new Map<number, number>();
    for (const { values } of found)
      for (const [time] of values) points.set(time, 1 + (points.get(time) ?? 0));
    return points;
  }

  let before = 0;
  it.each(graphs)('$place ($refId) shows what it had before', async ({ expr }) => {
    const all = await pointsOf(expr, '.*');
    expect(await pointsOf(expr, 'acme')).toEqual(all);
    if ([...all.keys()].some((time) => time < renamedAt)) before += 1;
  });

  it('has points before in most panels', () => {
    expect(before).toBeGreaterThan(40);
  });
});

describe('a panel whose text says that there is nothing', () => {
  const panels = [...buildDashboards().values()].flatMap((dashboard) =>
    panelsOf(dashboard).flatMap((panel) => {
      const noValue = isRow(panel) ? undefined : panel.fieldConfig?.defaults.noValue;
      const asked = queriesOf(dashboard).filter(({ panelId }) => panelId === panel.id);
      return noValue === undefined ? [] : [{ panel, noValue, asked, place: asked[0]?.place ?? '' }];
    }),
  );
  const needing = panels.filter(({ asked }) => asked.every(({ expr }) => expr.includes('bunnynet:')));

  it.each(needing)('$place: says without the rules that they are not loaded', async ({ asked, noValue }) => {
    for (const { expr } of asked) expect(await answer(expr, { job: 'one' }, withoutRules)).toEqual([]);
    expect(noValue).toBe('rules not loaded');
  });

  it.each(panels.filter(({ noValue }) => noValue === 'rules not loaded'))(
    '$place: says with the rules what there is not',
    async ({ panel, asked }) => {
      const chosen = { job: 'nobody', account: 'nobody' };
      const answers = await Promise.all(
        asked.map(async ({ expr, legend }) => ({ legend, found: await answer(expr, chosen) })),
      );
      const [said, ...more] = answers.filter(({ found }) => found.length > 0);
      expect(more).toEqual([]);
      const value = Number(said?.found[0]?.values[0]?.[1]);
      if (panel.type === 'timeseries') {
        expect([value, said?.legend]).toEqual([0, expect.stringMatching(/\bno /i)]);
      } else if (value >= 0) {
        // Alerts on no target, and the number of alerts.
        expect(panel.title).toMatch(/firing/i);
      } else {
        const texts = JSON.stringify(isRow(panel) ? {} : panel.fieldConfig?.defaults.mappings);
        expect(texts).toMatch(new RegExp(`"${value}":\\{"text":"(There is no|No|Every) `));
      }
    },
  );
});
