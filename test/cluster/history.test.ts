/**
 * "A history on the first day" on Kubernetes: the steps of docs/backfill.md as they stand there, in a namespace that enforces the
 * restricted Pod Security Standard. The cluster runs no Pods: what a kubelet would do for `kubectl attach`, and the exporter that is
 * then started, are the same containers' command lines on this machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createSimulator } from '../../simulator/simulator.ts';
import { parseState } from '../../src/counting/state-form.ts';
import { chart, helms } from '../stack/chart.ts';
import { eventually, freePort, stopAll } from '../stack/processes.ts';
import { type Outcome, root, tools } from '../stack/tools.ts';
import { type Client, startCluster } from './cluster.ts';
import { type Get, startContainer, type Workload } from './on-this-machine.ts';

const published = 'oci://ghcr.io/bunnynet-exporter/charts/bunnynet-exporter';
const simulator = createSimulator({
  shape: {
    zones: 1,
    dnsZones: 1,
    libraries: 1,
    applications: 1,
    endpoints: 1,
    rateLimitZones: 1,
    loadBalancers: 1,
  },
});
let folder = '';
let client: Client;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'history-'));
  await simulator.start();
  client = await startCluster(folder);
  succeed('kubectl', ['apply', '--server-side', '--filename', `${tools}/crds/`]);
  await eventually(() => succeed('kubectl', ['get', 'servicemonitors', '--all-namespaces']));
});
afterAll(async () => {
  await stopAll();
  await simulator.stop();
  rmSync(folder, { recursive: true });
});

function succeed(program: string, args: readonly string[], input?: unknown): string {
  const { code, stdout, stderr }: Outcome = client(program, args, input);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The blocks of a section of a page, of a language. */
function blocksOf(page: string, title: string, language: string): readonly string[] {
  const text = readFileSync(`${root}docs/${page}`, 'utf8');
  const [, section = ''] = text.split(`\n### ${title}\n`);
  const [own = ''] = section.split(/\n###? /);
  return Array.from(
    own.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs')),
    ([, code = '']) => code,
  );
}

/** A namespace as somebody has it who enforces `restricted`, with a volume for a claim. */
function makeNamespace(name: string): Get {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {
        name: 'standard',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: 'kubernetes.io/no-provisioner',
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        storageClassName: 'standard',
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: `/volumes/${name}` },
      },
    },
  ];
  succeed('kubectl', ['apply', '--filename', '-'], { apiVersion: 'v1', kind: 'List', items });
  return (kind, object) =>
    JSON.parse(succeed('kubectl', ['get', kind, object, '--namespace', name, '--output', 'json'])) as never;
}

/**
 * Attaches to a workload, on this machine: writes what its container prints on stdout. It is an Alertmanager, too, which takes any
 * silence.
 */
async function serveAttach(place: string, get: Get) {
  const logs: string[] = [];
  const silences: unknown[] = [];
  const alertmanager = async (request: IncomingMessage, response: ServerResponse) => {
    // amtool asks for the version first.
    if (request.method === 'POST') silences.push(await json(request));
    response.setHeader('content-type', 'application/json').end('{ "silenceID": "one" }');
  };
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/api/v2/')) return void alertmanager(request, response);
    const [, kind = '', name = ''] = (request.url ?? '').split('/');
    const child = startContainer(get<Workload>(kind, name), place, get);
    child.stderr?.on('data', (chunk: Buffer) => logs.push(chunk.toString()));
    child.stdout?.pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { server, logs, silences };
}

/**
 * A folder with the programs of the page: Helm takes the chart of this repository, with the address of the simulator, and kubectl
 * attaches on this machine.
 */
function programs(place: string, helm: string, serverPort: number): string {
  const bin = join(place, 'bin');
  mkdirSync(bin);
  const write = (name: string, lines: readonly string[]) => {
    writeFileSync(join(bin, name), ['#!/usr/bin/env bash', 'set -euo pipefail', ...lines, ''].join('\n'));
    chmodSync(join(bin, name), 0o755);
  };
  const api = { requests_per_second: 1000, max_concurrency: 16 };
  const apis = Object.fromEntries(
    Object.entries(simulator.baseUrls).map(([name, base_url]) => [name, { base_url, ...api }]),
  );
  const values = join(place, 'of-the-test.json');
  // Everything would be 500 MB.
  const all = { targets: 'all' };
  const sections = { dns_zones: all, load_balancer_statistics: all, storage_zone_egress: all };
  writeFileSync(values, JSON.stringify({ config: { apis, ...sections } }));
  write('helm', [
    `exec ${tools}/bin/${helm} "\${@/#${published.replaceAll('/', '\\/')}/${chart}}" --values=${values}`,
  ]);
  const alertmanager = 'http:\\/\\/alertmanager:9093/http:\\/\\/127.0.0.1:';
  write('amtool', [`PATH="\${PATH#*:}" exec amtool "\${@/${alertmanager}${serverPort}}"`]);
  write('kubectl', [
    `[[ $1 != attach ]] || exec curl --silent --show-error --fail "http://127.0.0.1:${serverPort}/$2"`,
    `exec ${tools}/bin/kubectl "$@"`,
  ]);
  return bin;
}

/** Runs the steps of a page in a shell that ends at the first one that fails. */
async function runSteps(steps: string, place: string, bin: string, namespace: string): Promise<Outcome> {
  const config = JSON.parse(readFileSync(join(folder, 'kubeconfig'), 'utf8')) as {
    contexts: { context: Record<string, string> }[];
  };
  for (const { context } of config.contexts) context['namespace'] = namespace;
  const kubeconfig = join(place, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, KUBECONFIG: kubeconfig };
  const child = spawn('bash', ['-euo', 'pipefail', '-c', steps], { cwd: place, env });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      texts[name] += chunk.toString();
    });
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...texts };
}

/** The counters of a page or a history, each with its last value. */
function countersIn(text: string): ReadonlyMap<string, number> {
  const rows = text.matchAll(/^(bunnynet_\w+_total)\{([^}]*)\} (\S+)/gm);
  const ofScrape = /^(job|instance|namespace|service|container|endpoint)=/;
  return new Map(
    Array.from(rows, ([, name, labels = '', value]) => {
      const own = labels.split(/,(?=\w+=)/).filter((label) => !ofScrape.test(label));
      return [`${name}{${own.sort().join(',')}}`, Number(value)];
    }),
  );
}

describe.each(helms)('the steps of the page (%s)', (helm) => {
  test('write a history where restricted is enforced, and the exporter goes on from it', async () => {
    const namespace = `history-${helm}`;
    const get = makeNamespace(namespace);
    const place = mkdtempSync(join(folder, 'steps-'));
    for (const block of blocksOf('backfill.md', 'On Kubernetes', 'yaml')) {
      const [, name = ''] = /^# (\S+\.yaml)\n/.exec(block) ?? [];
      writeFileSync(join(place, name), block);
    }
    expect(readdirSync(place).sort()).toEqual(['history-job.yaml', 'values.yaml']);
    writeFileSync(join(place, 'access-key'), simulator.keys.account);
    const { server, logs, silences } = await serveAttach(place, get);
    const bin = programs(place, helm, (server.address() as AddressInfo).port);

    const steps = blocksOf('backfill.md', 'On Kubernetes', 'sh').join('\n');
    const { code, stdout, stderr } = await runSteps(steps, place, bin, namespace);
    expect(code, `${stdout}${stderr}${logs.join('')}`).toBe(0);
    expect(stderr).not.toMatch(/warning|violate/i);
    expect(stdout).toMatch(/^# TYPE bunnynet_exporter_build info\n# EOF$/m);

    const history = readFileSync(join(place, 'history.om'), 'utf8');
    const ends = countersIn(history);
    expect(ends.size).toBeGreaterThan(5);
    const state = join(place, 'claim-bunnynet-exporter/state.json');
    expect(parseState(readFileSync(state, 'utf8')).written_by).toBe('backfill');

    const deployment = get<Workload & { spec: { replicas: number } }>('deployment', 'bunnynet-exporter');
    expect(deployment.spec.replicas).toBe(1);
    const port = await freePort();
    const exporter = startContainer(deployment, place, get, (arg) =>
      arg.replace(/^(--web\.listen-address=).*/, `$1127.0.0.1:${port}`),
    );
    onTestFinished(() => void exporter.kill('SIGKILL'));
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/-/ready`)).status).toBe(200));
    const page = countersIn(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    for (const [series, value] of ends) expect(page.get(series), series).toBeGreaterThanOrEqual(value);
    exporter.kill('SIGTERM');
    await once(exporter, 'exit');
    expect(parseState(readFileSync(state, 'utf8')).written_by).toBe('exporter');

    const idOf = (kind: string) => get<{ metadata: { uid: string } }>(kind, 'bunnynet-exporter').metadata.uid;
    const before = ['deployment', 'persistentvolumeclaim', 'service', 'servicemonitor'].map(idOf);
    const [stopping = ''] = blocksOf('kubernetes.md', 'Stopping it for a while', 'sh');
    const stopped = await runSteps(stopping, place, bin, namespace);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.stdout).toContain('Nothing runs: replicas is 0');
    expect(silences).toMatchObject([
      {
        comment: 'stopped',
        matchers: [
          { name: 'alertname', value: 'BunnynetExporterAbsent', isRegex: false },
          { name: 'namespace', value: 'default', isRegex: false },
        ],
      },
    ]);
    expect(get('deployment', 'bunnynet-exporter')).toMatchObject({ spec: { replicas: 1 } });
    expect(['deployment', 'persistentvolumeclaim', 'service', 'servicemonitor'].map(idOf)).toEqual(before);
  });
});
