/** docs/scraping.md: each configuration is what its product takes, as far as that can be tried here; vmagent runs. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { allLabelsOf, catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { checkerOf } from './kubernetes-schemas.ts';
import { eventually, freePort, start, startDemo, stopAll, toolPath } from './processes.ts';
import { ask, numberOf, startPrometheus } from './prometheus.ts';
import { root, succeed, tools } from './tools.ts';

const page = readFileSync(`${root}docs/scraping.md`, 'utf8');

/** The YAML block whose first line is a comment with this name. */
function block(name: string): string {
  const found = [...page.matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)].find(([, each]) => each === name);
  if (found?.[2] === undefined) throw new Error(`docs/scraping.md has no ${name}`);
  return found[2];
}

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scraping-'));
});
afterEach(stopAll);
afterAll(() => rm(folder, { recursive: true }));

/** Throws with promtool's words if Prometheus would refuse it. */
async function checkWithPromtool(config: string): Promise<void> {
  const file = join(folder, 'checked.yml');
  await writeFile(file, config);
  expect(succeed('promtool', ['check', 'config', file])).toContain('is valid');
}

test("Prometheus accepts its configuration, and the collector's scrape configuration", async () => {
  await checkWithPromtool(block('prometheus.yml'));
  await checkWithPromtool(block('customers.yml'));
  await expect(checkWithPromtool(block('prometheus.yml').replace('targets', 'target'))).rejects.toThrow();
  const { receivers, exporters, service } = parse(block('otelcol.yaml')) as {
    receivers: { prometheus: { config: { scrape_configs: [{ scrape_protocols: string[] }] } } };
    exporters: object;
    service: { pipelines: { metrics: { receivers: string[]; exporters: string[] } } };
  };
  // Prometheus 2.42 does not know scrape_protocols yet; the Collector's is a 3.
  await checkWithPromtool(
    stringify(receivers.prometheus.config).replace(/^ *scrape_protocols:\n( +- .*\n)+/m, ''),
  );
  const { metrics } = service.pipelines;
  expect([metrics.receivers, metrics.exporters]).toEqual([Object.keys(receivers), Object.keys(exporters)]);
  // The Collector renames the families of type info, which only OpenMetrics has.
  const [scrape] = receivers.prometheus.config.scrape_configs;
  expect(scrape.scrape_protocols).toEqual(['PrometheusText0.0.4']);
});

test('the monitor is valid for the Prometheus Operator', () => {
  expect(checkerOf('oldest')(block('servicemonitor.yaml'))).toEqual([]);
});

test("Datadog's check gets kinds that there are, its patterns match their families, and names are shared", () => {
  const { instances } = parse(block('conf.d/openmetrics.d/conf.yaml')) as {
    instances: [
      {
        openmetrics_endpoint: string;
        raw_metric_prefix: string;
        metrics: string[];
        share_labels: Record<string, { match: string[]; labels: string[] }>;
      },
    ];
  };
  const [{ openmetrics_endpoint: endpoint, raw_metric_prefix: prefix, metrics, share_labels: shared }] =
    instances;
  const kinds = new URL(endpoint).searchParams.getAll('kind');
  for (const kind of kinds) expect(resources.map((each) => String(each.kind))).toContain(kind);
  const families = catalogue.filter(({ kind }) => kinds.includes(kind));
  const names = families.map(({ name }) => name);
  for (const pattern of metrics)
    expect(names.filter((name) => new RegExp(`^${prefix}${pattern}$`).test(name)).length).toBeGreaterThan(5);
  expect(names).toContain('bunnynet_pull_zone_requests_total');
  for (const [name, { match, labels }] of Object.entries(shared)) {
    const family = families.find((each) => each.name === prefix + name);
    expect(family && allLabelsOf(family)).toEqual(expect.arrayContaining([...match, ...labels]));
  }
  expect(Object.keys(shared)).toEqual(['application_info', 'pull_zone_info']);
  // Read once, a target that comes later would have no name; asked for OpenMetrics, none would have.
  expect(instances[0]).toMatchObject({ cache_shared_labels: false });
  expect(instances[0]).not.toHaveProperty('use_latest_spec');
});

test('behind exporter_exporter, a scraper gets the format that it prefers', async () => {
  const origin = await startDemo([]);
  const file = join(folder, 'exporter-exporter.yml');
  await writeFile(file, block('exporter-exporter.yml').replace('10057', new URL(origin).port));
  const address = `127.0.0.1:${await freePort()}`;
  start(toolPath('prometheus-exporter-exporter'), [`-config.file=${file}`, `-web.listen-address=${address}`]);
  for (const accept of ['application/openmetrics-text; version=1.0.0', 'text/plain']) {
    const response = await eventually(() =>
      fetch(`http://${address}/proxy?module=bunnynet`, { headers: { accept } }),
    );
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining(accept) as string,
    ]);
    expect(await response.text()).toMatch(/^bunnynet_application_info\{/m);
  }
});

test('the page names the smallest label_limit that takes every family', () => {
  const most = Math.max(...catalogue.map((family) => allLabelsOf(family).length));
  const [, plain, typed] = /`label_limit` must be at least (\d+), and (\d+) with/.exec(page) ?? [];
  // Beside the family's own labels: the name, job and instance; with the feature also the type and the unit.
  expect([Number(plain), Number(typed)]).toEqual([most + 3, most + 5]);
});

test("the provider of dashboards is compose's", () => {
  const provider = readFileSync(`${root}deploy/compose/grafana/dashboards/bunnynet.yaml`, 'utf8');
  expect(block('/etc/grafana/provisioning/dashboards/bunnynet.yaml')).toBe(provider);
});

test('vmagent scrapes the demo and writes what it has', async () => {
  const origin = await startDemo([]);
  const config = block('vmagent.yml').replace('bunnynet-exporter:10057', new URL(origin).host);
  expect(config).toContain(new URL(origin).host);
  await writeFile(join(folder, 'vmagent.yml'), config.replace('15s', '1s'));
  const receiver = await startPrometheus(
    folder,
    { scrape_configs: [] },
    '--web.enable-remote-write-receiver',
  );
  const [, flags = ''] = /^vmagent (.*)$/m.exec(page) ?? [];
  const [configFlag, writeFlag, ...others] = flags.split(' ').map((flag) => flag.split('=')[0] ?? '');
  expect(others).toEqual([]);
  start(`${tools}/bin/vmagent`, [
    `${configFlag}=${join(folder, 'vmagent.yml')}`,
    `${writeFlag}=http://${receiver}/api/v1/write`,
    `-remoteWrite.tmpDataPath=${join(folder, 'queue')}`,
    `-httpListenAddr=127.0.0.1:${await freePort()}`,
  ]);
  const onPage = (await (await fetch(`${origin}/metrics`)).text()).match(/^bunnynet_application_up\{/gm);
  await eventually(async () => {
    const query =
      'count(bunnynet_application_up{job="bunnynet-exporter",account="account"}) and on () up{job="bunnynet-exporter"} == 1';
    expect(numberOf(await ask(receiver, 'query', { query }))).toBe(onPage?.length);
  });
});
