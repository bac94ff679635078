/** The chart and the sidecars on a real Kubernetes API. Pods run nothing there; test/stack checks what they do. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { chart, exampleChart, type Helm, helms, parse, render, sidecarValues } from '../stack/chart.ts';
import { cases, plain, switches } from '../stack/chart-cases.ts';
import { eventually, stopAll } from '../stack/processes.ts';
import { type Outcome, root, tools } from '../stack/tools.ts';
import { type Client, startCluster } from './cluster.ts';

type Values = Readonly<Record<string, unknown>>;

interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}
interface Pod {
  readonly metadata: {
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
}
interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly replicas: number };
}
interface Selecting {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly selector: { readonly matchLabels: Readonly<Record<string, string>> } };
}

const namespace = (name: string, labels: Values) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
const warned = { 'pod-security.kubernetes.io/warn': 'restricted' };
const restricted = { ...warned, 'pod-security.kubernetes.io/enforce': 'restricted' };
/** Volumes of a class that are there before they are claimed: nothing in the cluster could make one. */
const storage = (name: string, volumes: number, annotations: Values = {}) => [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, annotations },
    provisioner: 'kubernetes.io/no-provisioner',
  },
  ...Array.from({ length: volumes }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${name}-${at}` },
    spec: {
      storageClassName: name,
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: `/volumes/${name}-${at}` },
    },
  })),
];

/**
 * Releases are in `monitoring`; the cases also use the namespaces `metrics` and `prometheus`, a priority class, and volumes: one of the
 * default class and one of another. A release leaves its claims behind, so the next one gets the same.
 */
const surroundings = [
  namespace('monitoring', restricted),
  namespace('metrics', restricted),
  namespace('prometheus', restricted),
  namespace('sidecars', warned),
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 },
  ...storage('standard', 1, { 'storageclass.kubernetes.io/is-default-class': 'true' }),
  ...storage('fast', 1),
];

let folder = '';
let client: Client;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  client = await startCluster(folder);
  kubectl(['apply', '--server-side', '--filename', `${tools}/crds/`]);
  await eventually(() =>
    kubectl(['get', 'servicemonitors,podmonitors,prometheusrules', '--ignore-not-found']),
  );
  kubectl(['apply', '--filename', '-'], { apiVersion: 'v1', kind: 'List', items: surroundings });
});
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

/** What a client prints. It must succeed without warnings of the API server; each Helm repeats those in its own form. */
function quietly({ code, stdout, stderr }: Outcome): string {
  expect(code, `${stdout}${stderr}`).toBe(0);
  expect(stderr).not.toMatch(/warning/i);
  return stdout;
}

function kubectl(args: readonly string[], input?: unknown): string {
  return quietly(client('kubectl', args, input));
}

function get<T>(...args: readonly string[]): T {
  return JSON.parse(kubectl(['get', '--output', 'json', ...args])) as T;
}

function list<T>(kind: string, place: string, labels: Readonly<Record<string, string>> = {}): readonly T[] {
  const selector = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return get<{ items: readonly T[] }>(kind, '--namespace', place, '--selector', selector.join(',')).items;
}

/** Installs the release or upgrades it, and waits until its Pods are ready. */
function upgrade(helm: Helm, values: unknown, path = chart, place = 'monitoring', timeout = '2m'): Outcome {
  const flags = ['--install', '--namespace', place, '--wait', '--timeout', timeout, '--values', '-'];
  return client(helm, ['upgrade', 'edge', path, ...flags], values);
}

/** Removes the release; its Pods go a little later. */
async function uninstall(place: string): Promise<void> {
  quietly(client('helm4', ['uninstall', 'edge', '--namespace', place, '--wait', '--ignore-not-found']));
  await eventually(() => expect(get('pods', '--all-namespaces')).toMatchObject({ items: [] }));
}

/** The Pods of a namespace, once its rollouts are done and those of removed workloads are gone. */
async function pods(place = 'monitoring'): Promise<readonly Pod[]> {
  const workloads = list<Workload>('deployments', place);
  for (const { kind, metadata } of workloads) {
    kubectl(['rollout', 'status', `${kind}/${metadata.name}`, '--namespace', place, '--timeout', '1m']);
  }
  const wanted = workloads.reduce((sum, { spec }) => sum + spec.replicas, 0);
  return eventually(() => {
    const found = list<Pod>('pods', place);
    expect(found).toHaveLength(wanted);
    return found;
  });
}

const ids = (running: readonly Pod[]) => running.map(({ metadata }) => metadata.uid).sort();

/** What a change does to the Pods: it replaces all of them or none. */
async function effect(change: () => unknown, place?: string): Promise<string> {
  const before = ids(await pods(place));
  expect(before).not.toHaveLength(0);
  change();
  const kept = ids(await pods(place)).filter((id) => before.includes(id));
  if (kept.length === 0) return 'rolls';
  return kept.length === before.length ? 'stays' : `keeps ${kept.length} of ${before.length}`;
}

/** The addresses that the controllers found behind a Service, ready or not. */
function addresses(service: string, place: string): readonly string[] {
  interface EndpointSlice {
    readonly endpoints: readonly { readonly addresses: readonly string[] }[] | null;
  }
  return list<EndpointSlice>('endpointslices', place, { 'kubernetes.io/service-name': service })
    .flatMap(({ endpoints }) => endpoints ?? [])
    .flatMap((endpoint) => endpoint.addresses);
}

describe.each(helms)('%s, in a namespace that enforces the restricted Pod Security Standard', (helm) => {
  afterEach(() => uninstall('monitoring'));

  const own = Object.fromEntries(
    readdirSync(`${chart}/ci`).map((name) => [
      name,
      parseYaml(readFileSync(`${chart}/ci/${name}`, 'utf8')) as Values,
    ]),
  );
  const context = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const everything = {
    ...cases['everything'],
    extraContainers: [{ name: 'beside', image: 'beside:1', securityContext: context }],
    initContainers: [{ name: 'before', image: 'before:1', securityContext: context }],
  };

  test.each(Object.entries<Values>({ ...own, ...cases, everything }))('installs %s', async (_, values) => {
    quietly(upgrade(helm, values));

    const place = (values['namespaceOverride'] as string | undefined) ?? 'monitoring';
    const running = await pods(place);
    expect(running).toHaveLength((values['replicas'] as number | undefined) ?? 1);
    const manifests = parse(render(helm, values));
    const rendered = (kind: string) =>
      manifests.filter((manifest) => manifest.kind === kind) as unknown as readonly Selecting[];
    for (const { metadata } of rendered('Service')) {
      const hooks = quietly(client(helm, ['get', 'hooks', 'edge', '--namespace', 'monitoring']));
      // Where nothing runs there is nothing to test.
      expect(hooks.trim() !== '').toBe(running.length > 0);
      if (running.length > 0)
        expect(kubectl(['create', '--dry-run=server', '--filename', '-'], hooks)).toMatch(
          /^pod\/\S+-test created/,
        );
      await eventually(() => expect(addresses(metadata.name, place)).toHaveLength(running.length));
    }
    for (const { spec } of rendered('ServiceMonitor')) {
      expect(list('services', place, spec.selector.matchLabels)).toHaveLength(1);
    }
    for (const { spec } of rendered('PodMonitor')) {
      expect(list('pods', place, spec.selector.matchLabels)).toHaveLength(running.length);
    }
    for (const { metadata } of rendered('PodDisruptionBudget')) {
      await eventually(() =>
        expect(get('poddisruptionbudget', metadata.name, '--namespace', place)).toMatchObject({
          status: { expectedPods: running.length, currentHealthy: running.length },
        }),
      );
    }
  });

  test('runs nothing with replicas 0, keeps all else, and starts again', async () => {
    const values = { ...cases['stopped'], replicas: 1 };
    quietly(upgrade(helm, values));
    const [running = ''] = ids(await pods());
    const others = () =>
      ['persistentvolumeclaims', 'services', 'configmaps', 'servicemonitors', 'poddisruptionbudgets']
        .flatMap((kind) => list<Pod>(kind, 'monitoring'))
        .map(({ metadata }) => metadata.uid);
    const before = others();
    quietly(upgrade(helm, { ...values, replicas: 0 }));
    expect(await pods()).toEqual([]);
    expect(others()).toEqual(before);
    const hooks = quietly(client(helm, ['get', 'hooks', 'edge', '--namespace', 'monitoring']));
    expect(hooks.trim()).toBe('');
    quietly(upgrade(helm, values));
    const [again] = ids(await pods());
    expect(again).not.toBe(running);
    expect(others()).toEqual(before);
  });

  test('comes back from what kubectl has scaled or patched to 0, as docs/kubernetes.md says', async () => {
    const deployment = ['deployment/edge-bunnynet-exporter', '--namespace', 'monitoring'];
    const force = () => {
      const flags = ['--namespace', 'monitoring', '--wait', '--force-conflicts', '--values', '-'];
      quietly(client(helm, ['upgrade', 'edge', chart, ...flags], plain));
    };
    quietly(upgrade(helm, plain));
    kubectl(['scale', ...deployment, '--replicas=0']);
    expect(await pods()).toEqual([]);
    // Whether Kubernetes notes that kubectl owns the number depends on its version.
    const scaled = upgrade(helm, plain);
    if (helm === 'helm4' && scaled.stderr.includes('conflict with "kubectl')) force();
    else quietly(scaled);
    expect(await pods()).toHaveLength(1);

    kubectl(['patch', ...deployment, '--patch', '{"spec":{"replicas":0}}']);
    expect(await pods()).toEqual([]);
    const patched = upgrade(helm, plain);
    if (helm === 'helm4') {
      expect(patched.code).not.toBe(0);
      expect(patched.stderr).toMatch(/conflict with "kubectl-patch".*\.spec\.replicas/);
      force();
    } else quietly(patched);
    expect(await pods()).toHaveLength(1);
    for (const replicas of [0, 1]) {
      quietly(upgrade(helm, { ...plain, replicas }));
      expect(await pods()).toHaveLength(replicas);
    }
  });

  test('keeps the old Pod if the new one does not become ready', async () => {
    quietly(upgrade(helm, plain));
    const [old = ''] = ids(await pods());
    const unready = upgrade(helm, { ...plain, nodeSelector: { absent: 'node' } }, chart, 'monitoring', '5s');
    expect(unready.code).not.toBe(0);
    const both = await eventually(() => {
      const found = ids(list<Pod>('pods', 'monitoring'));
      expect(found).toHaveLength(2);
      return found;
    });
    expect(both).toContain(old);
    expect(addresses('edge-bunnynet-exporter', 'monitoring')).toHaveLength(1);
    quietly(client(helm, ['rollback', 'edge', '--namespace', 'monitoring', '--wait']));
    expect(ids(await pods())).toEqual([old]);
  });
});

describe('the API server', () => {
  const ask = (values: Values) =>
    client(
      'kubectl',
      ['create', '--dry-run=server', '--filename', '-'],
      render('helm4', { ...plain, ...values }),
    );
  const { 'without security contexts': loose, ...others } = switches;

  test.each(Object.entries(others))('accepts a release %s', (_, values) => {
    expect(quietly(ask(values))).toContain('created (server dry run)');
  });

  test('refuses Pods without security contexts', () => {
    const { code, stderr } = ask(loose ?? {});
    expect(code).not.toBe(0);
    expect(stderr).toContain('Warning: would violate PodSecurity "restricted:latest"');
    expect(stderr).toContain('is forbidden: violates PodSecurity "restricted:latest"');
  });
});

/** Changes of the values, one after the other, and whether each replaces the Pods. */
const changes: Readonly<Record<string, readonly ['stays' | 'rolls', Values]>> = {
  nothing: ['stays', {}],
  'a rule': [
    'stays',
    {
      prometheusRule: {
        enabled: true,
        additionalGroups: [{ name: 'own', rules: [{ record: 'own:up', expr: 'sum(up)' }] }],
      },
    },
  ],
  'a label of the monitor': [
    'stays',
    { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
  ],
  'dashboards and policies': [
    'stays',
    {
      dashboards: { enabled: true },
      networkPolicy: { enabled: true },
      podDisruptionBudget: { enabled: true },
    },
  ],
  'a label of the Service': ['stays', { service: { labels: { a: 'b' } } }],
  'annotations of the workload': ['stays', { annotations: { a: 'b' } }],
  'the revision limit': ['stays', { revisionHistoryLimit: 5 }],
  'the configuration': ['rolls', { config: { applications: { targets: ['q7TzVb2'] } } }],
  'the Secret of the key': ['rolls', { credentials: [{ name: 'account', existingSecret: 'other' }] }],
  'the Secret of the web configuration': ['rolls', { web: { config: { existingSecret: 'bunnynet-web' } } }],
  'the image': ['rolls', { image: { tag: 'next' } }],
  'a label of every object': ['rolls', { commonLabels: { team: 'platform' } }],
  'the reload mode': ['rolls', { reload: 'endpoint' }],
  'the configuration, with reload: endpoint': [
    'stays',
    { config: { applications: { targets: ['HbqFNk0KZjzYOcp'] } } },
  ],
};

describe('Pods', () => {
  afterEach(() => uninstall('monitoring'));

  test.each(helms)('are replaced only when they must be (%s)', async (helm) => {
    let values: Values = {
      ...plain,
      serviceMonitor: { enabled: true },
      prometheusRule: { enabled: true },
    };
    quietly(upgrade(helm, values));
    for (const [name, [expected, change]] of Object.entries(changes)) {
      values = { ...values, ...change };
      expect(await effect(() => quietly(upgrade(helm, values))), name).toBe(expected);
    }
  });

  test('stay when a Secret or ConfigMap changes that the exporter reads again', async () => {
    const values = cases['own-configuration'] ?? {};
    const write = (content: string) => {
      const metadata = { name: 'bunnynet-config', namespace: 'monitoring' };
      const items = [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.yaml': content } },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { ...metadata, name: 'bunnynet' },
          stringData: { second: content },
        },
      ];
      kubectl(['apply', '--filename', '-'], { apiVersion: 'v1', kind: 'List', items });
      quietly(upgrade('helm4', values));
    };
    write('one');
    expect(await effect(() => write('other'))).toBe('stays');
  });

  test('stay when the release moves to a newer Helm and a newer chart with the same image', async () => {
    const next = mkdtempSync(join(folder, 'next-'));
    cpSync(chart, next, { recursive: true });
    const metadata = readFileSync(`${chart}/Chart.yaml`, 'utf8');
    expect(metadata).toMatch(/^version: .+$/m);
    writeFileSync(join(next, 'Chart.yaml'), metadata.replace(/^version: .+$/m, 'version: 99.0.0'));
    quietly(upgrade('helm3', plain));
    expect(await effect(() => quietly(upgrade('helm4', plain)))).toBe('stays');
    expect(await effect(() => quietly(upgrade('helm4', plain, next)))).toBe('stays');
  });
});

describe('the sidecar', () => {
  afterEach(async () => {
    kubectl(['delete', 'deployments', '--all', '--namespace', 'sidecars']);
    await uninstall('sidecars');
  });

  /** The API server warns that the example's application has no security context; it must not warn about the sidecar. */
  function apply({ code, stdout, stderr }: Outcome): string {
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(stderr).not.toContain('bunnynet-exporter');
    return stderr;
  }
  const warning = /container \\?"storefront\\?" must set/;

  const containers = async () =>
    new Set(
      (await pods('sidecars')).map(({ spec }) =>
        [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name),
      ),
    );

  test('is added by Kustomize, and only the Pod whose settings change is replaced', async () => {
    const copy = mkdtempSync(join(folder, 'kustomize-'));
    cpSync(`${root}deploy/kustomize`, copy, { recursive: true });
    const install = () =>
      apply(client('kubectl', ['apply', '--kustomize', join(copy, 'example'), '--namespace', 'sidecars']));
    expect(install()).toMatch(warning);
    expect(await containers()).toEqual(new Set([['bunnynet-exporter', 'storefront'], ['without-sidecar']]));
    expect(await effect(install, 'sidecars')).toBe('stays');
    const settings = join(copy, 'example/kustomization.yaml');
    writeFileSync(settings, readFileSync(settings, 'utf8').replace('HbqFNk0KZjzYOcp', 'q7TzVb2'));
    expect(await effect(install, 'sidecars')).toBe('keeps 1 of 2');
  });

  test.each(helms.flatMap((helm) => [[helm, 'native'] as const, [helm, 'plain'] as const]))(
    'is part of a chart by %s (%s), and replaces its Pod when its settings change',
    async (helm, form) => {
      const path = exampleChart(helm, folder, form);
      const install = (settings: object = {}) =>
        apply(upgrade(helm, sidecarValues({ native: form === 'native', ...settings }), path, 'sidecars'));
      expect(install()).toMatch(warning);
      expect(await containers()).toEqual(new Set([['bunnynet-exporter', 'storefront']]));
      expect(await effect(install, 'sidecars')).toBe('stays');
      expect(await effect(() => install({ applications: ['q7TzVb2'] }), 'sidecars')).toBe('rolls');
    },
  );
});
