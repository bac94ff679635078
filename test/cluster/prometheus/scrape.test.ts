/** The demo's page, as the newest Prometheus takes it in each protocol, with the types and units that it puts on series. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startDemo, stopAll, toolPath } from '../../stack/processes.ts';
import { ask, numberOf, startPrometheus } from '../../stack/prometheus.ts';

const protocols = [
  'OpenMetricsText1.0.0',
  'OpenMetricsText0.0.1',
  'PrometheusText1.0.0',
  'PrometheusText0.0.4',
  // It is not served: Prometheus gets text.
  'PrometheusProto',
];

let folder = '';
let origin = '';
let prometheus = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scrape-'));
  origin = await startDemo([]);
  const targets = [new URL(origin).host];
  const scrape_configs = protocols.map((protocol) => ({
    job_name: protocol,
    scrape_protocols: [protocol],
    static_configs: [{ targets }],
  }));
  const documented = { convert_classic_histograms_to_nhcb: true, always_scrape_classic_histograms: true };
  prometheus = await startPrometheus(
    folder,
    {
      global: { scrape_interval: '5s' },
      scrape_configs: [
        ...scrape_configs,
        { job_name: 'histograms', static_configs: [{ targets }], ...documented },
        // The page has some 500 kB, compressed 50.
        { job_name: 'limited', static_configs: [{ targets }], body_size_limit: '200KB' },
      ],
    },
    '--enable-feature=type-and-unit-labels',
  );
});
afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true });
});

/** All series of a job that are on the page. */
async function scraped(job: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const query = `{job="${job}", __name__!~"up|scrape_.*"}`;
  return (await ask(prometheus, 'query', { query })).map(({ metric }) => metric);
}

async function page(accept: string): Promise<string> {
  const response = await fetch(`${origin}/metrics`, { headers: { accept } });
  return await response.text();
}

test('promtool and Prometheus are of the version that tools.sh builds', () => {
  for (const tool of ['promtool', 'prometheus'])
    expect(execFileSync(toolPath(tool), ['--version'], { encoding: 'utf8' })).toMatch(/version 3\./);
});

test.each(protocols)('%s brings every name', async (protocol) => {
  const names = new Set((await page('text/plain')).match(/^\w+/gm));
  await eventually(async () => {
    expect(new Set((await scraped(protocol)).map((series) => series['__name__']))).toEqual(names);
  });
});

test('histograms are native and classic, as docs/scraping.md has it', async () => {
  const histogram = 'bunnynet_exporter_api_request_duration_seconds';
  await eventually(async () => {
    const names = (await scraped('histograms')).map((series) => series['__name__']);
    expect(names).toEqual(expect.arrayContaining([histogram, `${histogram}_bucket`]));
  });
});

test('body_size_limit counts what is behind the compression', async () => {
  await eventually(async () => {
    expect(numberOf(await ask(prometheus, 'query', { query: 'up{job="limited"}' }))).toBe(0);
  });
});

/** What stands after the family's name, by the family; '' for nothing. */
function described(text: string, keyword: 'TYPE' | 'UNIT'): ReadonlyMap<string, string> {
  const lines = text.matchAll(new RegExp(`^# ${keyword} (\\w+) (\\w*)$`, 'gm'));
  return new Map([...lines].map(([, family = '', word = '']) => [family, word]));
}

test('every series has the type and the unit of its family, and only where the family has one', async () => {
  const text = await page('application/openmetrics-text; version=1.0.0');
  const [types, units] = [described(text, 'TYPE'), described(text, 'UNIT')];
  const series = await scraped('OpenMetricsText1.0.0');
  expect(series.length).toBeGreaterThan(1000);
  const wrong = series.filter(({ __name__: name = '', __type__: type, __unit__: unit }) => {
    const family = types.has(name) ? name : name.replace(/_(total|info|bucket|count|sum|created)$/, '');
    return type !== types.get(family) || (unit ?? '') !== (units.get(family) ?? '');
  });
  expect([...new Set(wrong.map(({ __name__: name }) => name))]).toEqual([]);
});
