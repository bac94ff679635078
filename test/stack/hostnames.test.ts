/** The certificates of docs/querying.md: a real Prometheus with the page's configuration discovers hostnames and alerts. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, startDemo, stopAll } from './processes.ts';
import { startPrometheus } from './prometheus.ts';

const text = readFileSync(new URL('../../docs/querying.md', import.meta.url), 'utf8');

function yamlOf(beginning: string): string {
  const block = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].find(([, yaml]) =>
    yaml?.startsWith(beginning),
  );
  if (!block?.[1]) throw new Error(`docs/querying.md has no YAML that begins with ${beginning}`);
  return block[1];
}

interface Target {
  readonly discoveredLabels: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly scrapeUrl: string;
}

/** The hostname whose certificate ends within a week; that of all others ends in a year. */
let expiring = '';
const probed: URLSearchParams[] = [];
/** Answers as blackbox_exporter does. */
const blackbox = createServer(({ url = '' }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://blackbox');
  if (pathname !== '/probe') return void response.writeHead(404).end();
  probed.push(searchParams);
  const days = searchParams.get('target') === `${expiring}:443` ? 7 : 365;
  response.setHeader('Content-Type', 'text/plain; version=0.0.4');
  response.end(`probe_success 1\nprobe_ssl_earliest_cert_expiry ${Date.now() / 1000 + days * 86_400}\n`);
});

let folder = '';
let exporter = '';
let prometheus = '';

async function api<Data>(path: string): Promise<Data> {
  const response = await fetch(`http://${prometheus}/api/v1/${path}`);
  return ((await response.json()) as { readonly data: Data }).data;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostnames-'));
  exporter = await startDemo([]);
  await new Promise<void>((resolve) => blackbox.listen(0, '127.0.0.1', resolve));
  const { port } = blackbox.address() as AddressInfo;
  const config = `${yamlOf('scrape_configs:')}rule_files: [rules.yml]\nglobal: { evaluation_interval: 1s }\n`
    .replace('http://bunnynet-exporter:10057', exporter)
    .replace('blackbox-exporter:9115', `127.0.0.1:${port}`)
    .replace('scrape_interval: 10m', 'scrape_interval: 1s')
    .replace('scrape_timeout: 10s', 'scrape_timeout: 1s');
  await writeFile(join(folder, 'rules.yml'), yamlOf('groups:').replaceAll(/for: \d+[mh]/g, 'for: 1s'));
  prometheus = await startPrometheus(folder, config);
});
afterAll(async () => {
  await stopAll();
  blackbox.closeAllConnections();
  blackbox.close();
  await rm(folder, { recursive: true });
});

describe('a Prometheus with the configuration of the page', () => {
  test('discovers the hostnames that have a certificate, each with its pull zone', async () => {
    const page = await (await fetch(`${exporter}/metrics?kind=pull_zone`)).text();
    const rows = [
      ...page.matchAll(
        /^bunnynet_pull_zone_hostname_info\{pull_zone_id="(\d+)",account="[^"]*",hostname="([^"]+)",certificate="(\w+)"/gm,
      ),
    ];
    const wanted = rows.flatMap(([, id = '', hostname = '', certificate = '']) =>
      certificate === 'none' ? [] : [{ id, hostname, certificate }],
    );
    expect(wanted.length).toBeGreaterThan(3);
    expect(wanted.length).toBeLessThan(rows.length);
    const targets = await eventually(async () => {
      const { activeTargets } = await api<{ readonly activeTargets: readonly Target[] }>('targets');
      expect(activeTargets.length).toBe(wanted.length);
      return activeTargets;
    });
    const found = targets.map(({ labels, discoveredLabels }) => ({
      id: labels['pull_zone_id'],
      hostname: labels['hostname'],
      certificate: discoveredLabels['__meta_bunnynet_certificate'],
    }));
    expect(found).toEqual(expect.arrayContaining(wanted));
    for (const { labels, scrapeUrl } of targets) {
      expect(labels['instance']).toBe(labels['hostname']);
      expect(labels['pull_zone']).toMatch(/./);
      const { pathname, searchParams } = new URL(scrapeUrl);
      expect(pathname).toBe('/probe');
      expect(searchParams.get('target')).toBe(`${labels['hostname']}:443`);
      expect(searchParams.get('module')).toBe('tls_connect');
    }
    expiring = wanted[0]?.hostname ?? '';
  });

  test('fires for the certificate that ends soon, and for no other', async () => {
    const { alerts } = await eventually(async () => {
      const firing = await api<{ readonly alerts: readonly (Target & { readonly state: string })[] }>(
        'alerts',
      );
      expect(firing.alerts.map(({ state }) => state)).toEqual(['firing']);
      return firing;
    });
    expect(alerts[0]?.labels).toMatchObject({ alertname: 'CertificateExpiresSoon', hostname: expiring });
    expect(probed.length).toBeGreaterThan(0);
  });
});
