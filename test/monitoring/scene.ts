/**
 * An outage as a real Prometheus sees it: the exporter reads the simulated API, Prometheus scrapes it and evaluates the
 * rules, Alertmanager notifies. A minute of the rules lasts a second here; what happens at which moment is told by its script.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { allKinds, createDataset, type Dataset, scales } from '../../src/simulator/dataset.ts';
import { everything, sectionOf } from '../../src/simulator/everything.ts';
import { application } from '../../src/simulator/kinds/application.ts';
import { configuration } from '../../src/simulator/kinds/shield-zone.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { eventually, freePort, start, stopAll, toolPath } from '../stack/processes.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly metric: Labels;
  /** Of an instant query: one. [Unix time, value] */
  readonly values: readonly (readonly [number, string])[];
}

/** The script: what is the matter at each moment. */
export const momentNames = ['calm', 'troubled', 'down', 'after', 'gone'] as const;
export type Moment = (typeof momentNames)[number];

export interface Notification {
  readonly status: 'firing' | 'resolved';
  readonly labels: Labels;
  readonly annotations: Labels;
}

export interface Scene {
  readonly simulator: Simulator;
  /** Unix time, in seconds, of each moment. */
  readonly moments: Readonly<Record<Moment, number>>;
  /** Of every page that was read at a moment: families and the labels of their series. */
  readonly page: ReadonlyMap<string, ReadonlySet<string>>;
  readonly notifications: readonly Notification[];
  /** Applications without a name in the configuration. */
  readonly nameless: ReadonlySet<string>;
  /** The application that does not exist any more from `troubled` on, and exists again `after`. */
  readonly deleted: string;
  query(expr: string, at: Moment): Promise<readonly Series[]>;
  /** From the first moment to the last but one, every second. */
  queryRange(expr: string): Promise<readonly Series[]>;
  stop(): Promise<void>;
}

/** A minute of the rules in a second. */
const pace = 60;
const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const dayMs = 86_400_000;

/** Every duration of minutes or more a sixtieth as long; what is shorter stays. */
export function compress(rules: string): string {
  return rules
    .replaceAll(/(?<![\w.])(\d+)([mhd])\b/g, (_, count: string, unit: 'm' | 'h' | 'd') => {
      const seconds = (Number(count) * unitSeconds[unit]) / pace;
      return `${seconds}s`;
    })
    .replaceAll(/interval: \d+s/g, 'interval: 1s');
}

const shape = { ...scales.small, zones: 40 };

/**
 * A time shortly before a midnight of the past days, at the start of a turn of the failing applications: between it and a
 * quarter of an hour later both the day and the failing application change.
 */
function openingMs(): number {
  const midnightMs = Math.floor(Date.now() / dayMs) * dayMs;
  const turnMs = 7 * 60_000;
  return Math.floor(midnightMs / turnMs) * turnMs - turnMs + 30_000;
}
const laterMs = 14 * 60_000;

/**
 * A seed whose dataset has a zone that learns for another day or so, and an application whose latency has leapt: which do
 * depends on the date.
 */
function chooseSeed(nowMs: number): number {
  for (let seed = 1; ; seed += 1) {
    const dataset = createDataset(seed, shape);
    const zones = dataset.zones.map((zone) => configuration(zone, nowMs));
    const leftMs = zones
      .filter(({ learningMode }) => learningMode)
      .map(({ learningModeUntil }) => Date.parse(learningModeUntil ?? '') - Date.now());
    const hasZones =
      leftMs.some((ms) => ms > dayMs / 4 && ms < 1.75 * dayMs) && zones.some((zone) => !zone.wafEnabled);
    if (hasZones && hasLeap(dataset, nowMs)) return seed;
  }
}

/** True where the latency of one application is far over its average, and over 0.25 s, for the first two minutes. */
function hasLeap(dataset: Dataset, nowMs: number): boolean {
  const answers = application.operations[0].answers(dataset);
  const asked = {
    query: '',
    maxPageSize: 1,
    isRemoved: () => false,
    nameOf: (_id: string, name: string) => name,
  };
  return dataset.applications.some(({ id }) =>
    [0, 30_000, 60_000, 90_000, 120_000].every((ms) => {
      const { body } = answers({ ...asked, ids: [id], nowMs: nowMs + ms });
      const { averageLatency, currentLatency } = body as Readonly<Record<string, number>>;
      return (currentLatency ?? 0) > Math.max(260, 3.1 * (averageLatency ?? 0));
    }),
  );
}

/** Everything, with applications without a name. */
function configOf(simulator: Simulator, nameless: ReadonlySet<string>) {
  const whole = everything(simulator, {
    isNamed: true,
    interval: '1s',
    staleAfter: '3s',
    api: () => ({ timeout: '1s', requests_per_second: 1000, max_concurrency: 32, max_retries: 0 }),
  });
  const section = sectionOf(whole.document, application);
  if (section.targets === 'all') throw new Error('the applications are not listed one by one');
  for (const target of section.targets) {
    if (typeof target['id'] === 'string' && nameless.has(target['id'])) delete target['name'];
  }
  return whole;
}

/** Collects what Alertmanager sends. */
async function listenForNotifications(into: Notification[]): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      into.push(...(JSON.parse(body) as { alerts: Notification[] }).alerts);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Started, and its output let go. */
function launch(command: string, args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess {
  const child = start(command, args, env);
  child.stdout?.resume();
  child.stderr?.resume();
  return child;
}

function readPage(text: string, into: Map<string, Set<string>>): void {
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = into.get(name) ?? new Set<string>();
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    into.set(name, known);
  }
}

async function startPrometheus(
  folder: string,
  exporter: string,
  alertmanager: string,
  rules: readonly string[],
): Promise<string> {
  await mkdir(join(folder, 'rules'));
  for (const file of rules) {
    await writeFile(join(folder, 'rules', file), compress(await readFile(`${rulesFolder}/${file}`, 'utf8')));
  }
  const config = join(folder, 'prometheus.yml');
  await writeFile(
    config,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(folder, 'rules', '*.yml')],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
      scrape_configs: [{ job_name: 'bunnynet', static_configs: [{ targets: [exporter] }] }],
    }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  launch(toolPath('prometheus'), [
    `--config.file=${config}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--log.level=warn',
  ]);
  return address;
}

async function startAlertmanager(folder: string, receiver: string): Promise<string> {
  const config = join(folder, 'alertmanager.yml');
  await writeFile(
    config,
    stringify({
      route: { receiver: 'test', group_by: ['...'], group_wait: '1s', group_interval: '1s' },
      receivers: [{ name: 'test', webhook_configs: [{ url: receiver, send_resolved: true }] }],
    }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  launch(toolPath('prometheus-alertmanager'), [
    `--config.file=${config}`,
    `--web.listen-address=${address}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    '--cluster.listen-address=',
  ]);
  return address;
}

/** Plays the scene; takes about two minutes. Rejects when a moment does not come, with what was missing. */
export async function playScene(ruleFiles: readonly string[]): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'scene-'));
  const opensAtMs = openingMs();
  const startedMs = Date.now();
  let jumpMs = 0;
  const now = () => opensAtMs + (Date.now() - startedMs) + jumpMs;
  const simulator = createSimulator({ seed: chooseSeed(opensAtMs), shape, now });
  await simulator.start();
  const notifications: Notification[] = [];
  const receiver = await listenForNotifications(notifications);
  const stop = async () => {
    await stopAll();
    receiver.close();
    await simulator.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const nameless = new Set(simulator.applications.slice(2, 4).map(({ id }) => id));
    const ids = simulator.applications.map(({ id }) => id);
    const deleted = ids[5] ?? '';
    const configFile = join(folder, 'exporter.yml');
    const { document, env } = configOf(simulator, nameless);
    const writeConfig = () => writeFile(configFile, stringify(document));
    await writeConfig();

    const exporterAddress = `127.0.0.1:${await freePort()}`;
    const exporter = launch(
      process.execPath,
      [
        'dist/bunnynet-exporter.js',
        `--config.file=${configFile}`,
        `--web.listen-address=${exporterAddress}`,
        '--log.level=error',
      ],
      env,
    );
    const alertmanager = await startAlertmanager(folder, receiver.url);
    const prometheus = await startPrometheus(folder, exporterAddress, alertmanager, ruleFiles);

    const ask = async (path: string, parameters: Labels): Promise<readonly Series[]> => {
      const response = await fetch(`http://${prometheus}/api/v1/${path}`, {
        method: 'POST',
        body: new URLSearchParams(parameters),
      });
      const answer = (await response.json()) as {
        status: string;
        error?: string;
        data?: {
          resultType: string;
          result: readonly {
            metric: Labels;
            value?: readonly [number, string];
            values?: readonly (readonly [number, string])[];
          }[];
        };
      };
      if (answer.status !== 'success' || !answer.data)
        throw new Error(`${answer.error}: ${parameters['query']}`);
      return answer.data.result.map(({ metric, value, values }) => ({
        metric,
        values: values ?? (value ? [value] : []),
      }));
    };

    const page = new Map<string, Set<string>>();
    const moments = {} as Record<Moment, number>;
    /** Waits until each of the expressions has a result: then the moment is there. */
    const reach = async (moment: Moment, signs: readonly string[], withPage = true) => {
      await eventually(async () => {
        const time = Date.now() / 1000;
        for (const sign of signs) {
          const found = await ask('query', { query: sign, time: String(time) });
          if (found.length === 0) throw new Error(`no sign of «${moment}»: ${sign}`);
        }
        moments[moment] = time;
      });
      if (withPage) readPage(await (await fetch(`http://${exporterAddress}/metrics`)).text(), page);
    };
    const firing = (alert: string, more = '') => `ALERTS{alertname="${alert}",alertstate="firing"${more}}`;

    await reach('calm', [
      firing('BunnynetApplicationFailing'),
      firing('BunnynetShieldWafDisabled'),
      firing('BunnynetShieldLearningModeEnding'),
      // Long enough for whatever the start itself could have set off.
      'bunnynet_exporter_build_info offset 30s',
    ]);

    const [library = ''] = simulator.libraryIds;
    const [, second = '', third = ''] = ids;
    simulator.inject({ type: 'status-401', api: 'video', target: `library/${library}` });
    simulator.inject({ type: 'wrong-types', kind: 'application', target: second });
    simulator.inject({ type: 'unknown-values', kind: 'application', target: third });
    simulator.inject({
      type: 'status-429-retry-seconds',
      kind: ['api_guardian', 'rate_limit'],
      share: 0.5,
      retryAfterSeconds: 3,
    });
    const bringBack = simulator.remove(deleted);
    await writeFile(configFile, 'applications: { targets: nonsense }\n');
    exporter.kill('SIGHUP');
    await reach('troubled', [
      firing('BunnynetKeyRefused'),
      firing('BunnynetTargetNotFound'),
      firing('BunnynetSchemaDrift', ',field="status"'),
      firing('BunnynetReloadFailed'),
      firing('BunnynetApiPaused'),
      firing('BunnynetReadingsStale'),
    ]);

    simulator.clearFaults();
    simulator.inject({ type: 'reset' });
    await reach('down', [`count(${firing('BunnynetKindUnreadable')}) == ${allKinds.length}`]);

    simulator.clearFaults();
    bringBack();
    jumpMs = laterMs;
    await writeConfig();
    exporter.kill('SIGHUP');
    await reach('after', [
      // Long enough that every rule has seen the first readings too.
      'max_over_time(sum(bunnynet_exporter_stale_targets)[5s:1s]) == 0',
      'bunnynet_exporter_config_last_reload_successful == 1',
      `absent(${firing('BunnynetKindUnreadable')})`,
      `absent(${firing('BunnynetKeyRefused')})`,
      `absent(${firing('BunnynetReadingsStale')})`,
    ]);

    exporter.kill('SIGKILL');
    await reach('gone', [firing('BunnynetExporterDown')], false);
    await eventually(() => {
      const resolved = notifications.some(({ status }) => status === 'resolved');
      return resolved ? Promise.resolve() : Promise.reject(new Error('Alertmanager resolves nothing'));
    });

    return {
      simulator,
      moments,
      page,
      notifications,
      nameless,
      deleted,
      query: (expr, at) => ask('query', { query: expr, time: String(moments[at]) }),
      queryRange: (expr) =>
        ask('query_range', {
          query: expr,
          start: String(moments.calm - 10),
          end: String(moments.after),
          step: '1',
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
