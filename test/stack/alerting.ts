/** Prometheus with the rules, and Alertmanager. A minute of the rules takes a second here. */
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { freePort, start, toolPath } from './processes.ts';
import { startPrometheus } from './prometheus.ts';

const pace = 60;
const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Divides every duration of minutes or more by sixty; shorter ones stay. */
export function compress(rules: string): string {
  return rules.replaceAll(/(?<![\w.])(\d+)([mhd])\b/g, (_, count: string, unit: 'm' | 'h' | 'd') => {
    const seconds = (Number(count) * unitSeconds[unit]) / pace;
    return `${seconds}s`;
  });
}

interface Scraped {
  readonly targets: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** Resolves with the address. files: names of the rule files. */
export async function startPrometheusWithRules(
  folder: string,
  files: readonly string[],
  alertmanager: string,
  scraped: readonly Scraped[],
): Promise<string> {
  await mkdir(join(folder, 'rules'));
  for (const file of files) {
    await writeFile(join(folder, 'rules', file), compress(await readFile(`${rulesFolder}/${file}`, 'utf8')));
  }
  return await startPrometheus(folder, {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(folder, 'rules', '*.yml')],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: [{ job_name: 'bunnynet', static_configs: scraped }],
  });
}

export interface Notification {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What Alertmanager sends at once: a group of alerts. */
export interface Delivery {
  readonly receiver: string;
  readonly status: 'firing' | 'resolved';
  readonly groupLabels: Readonly<Record<string, string>>;
  readonly alerts: readonly Notification[];
}

export interface Alertmanager {
  readonly address: string;
  /** In the order in which they came. */
  readonly deliveries: readonly Delivery[];
  /** Stops listening. The process ends with the others. */
  readonly close: () => void;
}

interface Settings {
  readonly route: object;
  readonly inhibit_rules?: unknown;
  /** Default: one for all. */
  readonly receivers?: readonly { readonly name: string }[];
}

/** Starts an Alertmanager that delivers everything here, whoever receives it. */
export async function startAlertmanager(
  folder: string,
  { route, receivers, ...settings }: Settings,
): Promise<Alertmanager> {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      deliveries.push(JSON.parse(body) as Delivery);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = join(folder, 'alertmanager.yml');
  await writeFile(
    config,
    stringify({
      ...settings,
      route: receivers ? route : { ...route, receiver: 'test' },
      receivers: (receivers ?? [{ name: 'test' }]).map(({ name }) => ({
        name,
        webhook_configs: [{ url: `http://127.0.0.1:${port}/`, send_resolved: true }],
      })),
    }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  start(toolPath('prometheus-alertmanager'), [
    `--config.file=${config}`,
    `--web.listen-address=${address}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    '--cluster.listen-address=',
  ]);
  return {
    address,
    deliveries,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
