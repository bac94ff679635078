import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { exampleChart, helms, type Manifest, parse, render, sidecarValues } from './chart.ts';
import { cases, plain, switches } from './chart-cases.ts';
import { checkerOf } from './kubernetes-schemas.ts';
import { root, succeed } from './tools.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifests-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
const kustomized = succeed('kustomize', ['build', 'deploy/kustomize/example']);

describe.each(['oldest', 'newest'] as const)('the %s supported Kubernetes', (version) => {
  const check = checkerOf(version);

  test('knows every field of the chart and of the Kustomize component', () => {
    const switched = Object.entries(switches).map(
      ([name, values]) => [name, { ...plain, ...values }] as const,
    );
    const all = {
      ...Object.fromEntries(
        [...Object.entries(cases), ...switched].map(([name, values]) => [name, render('helm4', values)]),
      ),
      'native sidecar': render('helm4', {}, exampleChart('helm4', folder)),
      'plain sidecar': render(
        'helm4',
        sidecarValues({ native: false }),
        exampleChart('helm4', folder, 'plain'),
      ),
      component: kustomized,
    };
    for (const [name, manifests] of Object.entries(all)) {
      expect(parse(manifests), name).not.toEqual([]);
      expect(check(manifests), name).toEqual([]);
    }
  });

  test('rejects what is called as nothing may be, and what stands twice in a list', () => {
    const twice = parse(render('helm4', cases['everything'])).flatMap((manifest) => {
      const [container] = podSpec(manifest)?.containers ?? [];
      const ports = container?.['ports'] as unknown[] | undefined;
      ports?.push(ports[0]);
      return ports ? [{ ...manifest, metadata: { name: 'Not_A_Name', labels: { a: '!' } } }] : [];
    });
    expect(check(twice.map((one) => JSON.stringify(one)).join('\n---\n'))).toEqual([
      expect.stringMatching(/^apps\/v1 Deployment .*\/ports: .*x-kubernetes-list-map-keys/),
      'apps/v1 Deployment /metadata: Not_A_Name is no name or label',
      'apps/v1 Deployment /metadata: a=! is no name or label',
    ]);
  });

  test('rejects a field of Kubernetes and one of the Prometheus Operator that is not in its schema, and a wrong value', () => {
    const bad = render('helm4', cases['everything'])
      .replace('automountServiceAccountToken:', 'automountToken:')
      .replace('targetLabels:', 'targetedLabels:')
      .replace('readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: 1')
      .replace('kind: Service\n', 'kind: Services\n');
    expect(check(bad).toSorted()).toEqual([
      'apps/v1 Deployment /spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem: must be boolean',
      'monitoring.coreos.com/v1 ServiceMonitor /spec: must NOT have additional properties targetedLabels',
      'v1 ServiceAccount /: must NOT have additional properties automountToken',
      'v1 Services: there is no such kind',
    ]);
  });
});

interface Container {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly env?: readonly { readonly name: string }[];
  readonly [field: string]: unknown;
}
interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

function podSpec({ kind, spec }: Manifest): PodSpec | undefined {
  if (kind === 'Pod') return spec as PodSpec;
  if (kind !== 'Deployment') return undefined;
  return (spec as { template: { spec: PodSpec } }).template.spec;
}

/** Violations of the restricted Pod Security Standard in the exporter's containers. */
function objections(pod: PodSpec): string[] {
  const found: string[] = [];
  const ours = [...pod.containers, ...(pod.initContainers ?? [])].filter(({ image }) =>
    String(image).includes('bunnynet-exporter'),
  );
  if (ours.length === 0) found.push('no container of the exporter');
  for (const host of ['hostNetwork', 'hostPID', 'hostIPC']) if (pod[host]) found.push(host);
  for (const volume of pod.volumes ?? []) {
    // What the Standard allows, and the volume's name.
    const allowed =
      /^(name|configMap|csi|downwardAPI|emptyDir|ephemeral|persistentVolumeClaim|projected|secret)$/;
    found.push(...Object.keys(volume).filter((key) => !allowed.test(key)));
  }
  for (const container of ours) {
    const context: Readonly<Record<string, unknown>> = {
      ...pod.securityContext,
      ...container.securityContext,
    };
    const expected = {
      runAsNonRoot: true,
      runAsUser: 65532,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    };
    for (const [field, value] of Object.entries(expected)) {
      if (JSON.stringify(context[field]) !== JSON.stringify(value)) found.push(`${container.name}: ${field}`);
    }
  }
  return found;
}

describe('the Pods', () => {
  test('meet the restricted Pod Security Standard, and have no Kubernetes token', () => {
    const pods = Object.values(cases)
      .flatMap((values) => parse(render('helm4', values)))
      .flatMap((manifest) => podSpec(manifest) ?? []);
    expect(pods).not.toHaveLength(0);
    expect(pods.flatMap(objections)).toEqual([]);
    const tokens = pods.map(({ automountServiceAccountToken }) => automountServiceAccountToken);
    expect(new Set(tokens)).toEqual(new Set([false]));
  });
});

test('on OpenShift, with the values of docs/kubernetes.md, the Pods and the sidecar leave only the ids to it', () => {
  const page = readFileSync(`${root}docs/kubernetes.md`, 'utf8');
  const [, example = ''] = /OpenShift[^#]*?```yaml\n(# values.yaml\n[^`]*)```/.exec(page) ?? [];
  const alone = render('helm4', parseYaml(example));
  const beside = render('helm4', sidecarValues({ fixedUser: false }), exampleChart('helm4', folder));
  for (const manifests of [alone, beside]) {
    expect(manifests).not.toMatch(/runAsUser|runAsGroup|fsGroup:/);
    const found = parse(manifests).flatMap((manifest) => {
      const pod = podSpec(manifest);
      return pod ? objections(pod) : [];
    });
    expect(found).not.toEqual([]);
    for (const objection of found) expect(objection).toMatch(/: runAsUser$/);
  }
});

describe.each(helms)('the sidecar of a chart, with %s', (helm) => {
  test('is an init container that does not delay the application, or a plain container', async () => {
    const native = render(helm, {}, exampleChart(helm, folder));
    await expect(native).toMatchFileSnapshot('golden/native-sidecar.yaml');
    const [sidecar] = parse(native).flatMap((manifest) => podSpec(manifest)?.initContainers ?? []);
    expect(sidecar).toBeDefined();
    expect(sidecar).not.toHaveProperty('readinessProbe');
    expect(sidecar).not.toHaveProperty('startupProbe');
    expect(objections({ containers: sidecar ? [sidecar] : [] })).toEqual([]);
    await expect(
      render(helm, sidecarValues({ native: false }), exampleChart(helm, folder, 'plain')),
    ).toMatchFileSnapshot('golden/plain-sidecar.yaml');
  });

  test.each([
    ['a Secret', { existingSecret: '' }, /sidecar.existingSecret/],
    ['an application', { applications: [] }, /sidecar.applications/],
    [
      'anything to poll',
      { applications: [], extraEnv: [{ name: 'HTTPS_PROXY' }, { name: 'BUNNYNET_ACCOUNT' }] },
      /sidecar.applications/,
    ],
    [
      'anything but an empty variable to poll',
      { applications: [], extraEnv: [{ name: 'BUNNYNET_SHIELD_ZONES', value: '' }] },
      /sidecar.applications/,
    ],
  ])('is refused without %s', (_, sidecar, message) => {
    expect(() => render(helm, sidecarValues(sidecar), exampleChart(helm, folder))).toThrow(message);
  });

  test('may have the variable of another kind in place of applications', () => {
    const extraEnv = [{ name: 'HTTPS_PROXY' }, { name: 'BUNNYNET_SHIELD_ZONES', value: '501' }];
    const values = sidecarValues({ applications: [], extraEnv });
    const env = parse(render(helm, values, exampleChart(helm, folder))).flatMap(
      (manifest) => podSpec(manifest)?.initContainers?.[0]?.env ?? [],
    );
    expect(env).toContainEqual(extraEnv[1]);
    expect(env.map(({ name }) => name)).not.toContain('BUNNYNET_APPLICATIONS');
  });

  test('has the name and the key of its account', () => {
    const accountOf = (values: object) => {
      const manifests = parse(render(helm, { 'bunnynet-exporter': values }, exampleChart(helm, folder)));
      const env = manifests.flatMap((manifest) => podSpec(manifest)?.initContainers?.[0]?.env ?? []);
      return env.filter(({ name }) => /^BUNNYNET_(ACCOUNT|ACCESS_KEY)$/.test(name));
    };
    const keyIn = (name: string) => ({
      name: 'BUNNYNET_ACCESS_KEY',
      valueFrom: { secretKeyRef: { name, key: 'access-key' } },
    });
    const umbrella = { accountName: 'umbrella', sidecar: { existingSecret: 'bunnynet-umbrella' } };
    expect(accountOf(umbrella)).toEqual([
      keyIn('bunnynet-umbrella'),
      { name: 'BUNNYNET_ACCOUNT', value: 'umbrella' },
    ]);
    // The program's own name for an account.
    expect(accountOf({})).toEqual([keyIn('bunnynet')]);
    const extraEnv = [{ name: 'BUNNYNET_ACCOUNT', value: 'umbrella' }];
    expect(() => accountOf({ ...umbrella, sidecar: { ...umbrella.sidecar, extraEnv } })).toThrow(
      /accountName: sidecar.extraEnv has BUNNYNET_ACCOUNT/,
    );
  });
});

describe('the Kustomize component', () => {
  const manifests = () => parse(kustomized);

  test('adds the sidecar only to the labelled Deployment', async () => {
    await expect(kustomized).toMatchFileSnapshot('golden/kustomize.yaml');
    const sidecars = manifests().map(({ metadata, ...manifest }) => [
      metadata.name,
      podSpec({ metadata, ...manifest })?.initContainers?.map(({ name }) => name),
    ]);
    expect(sidecars).toContainEqual(['storefront', ['bunnynet-exporter']]);
    expect(sidecars).toContainEqual(['without-sidecar', undefined]);
  });

  test('adds the same sidecar as the chart, except for the source of its settings', () => {
    const [ours] = manifests().flatMap((manifest) => podSpec(manifest)?.initContainers ?? []);
    const [charts] = parse(render('helm4', {}, exampleChart('helm4', folder))).flatMap(
      (manifest) => podSpec(manifest)?.initContainers ?? [],
    );
    const { env: _env, envFrom: _envFrom, ...rest } = ours ?? { name: '' };
    const { env: _chartEnv, imagePullPolicy: _policy, ...chartRest } = charts ?? { name: '' };
    expect(rest).toEqual(chartRest);
  });

  test('has a ConfigMap and a Secret for each account in a namespace, with the example of docs/kubernetes.md', () => {
    const page = readFileSync(`${root}docs/kubernetes.md`, 'utf8');
    const [, example = ''] = /```yaml\n# umbrella\/kustomization.yaml\n([^`]*)```/.exec(page) ?? [];
    const copy = mkdtempSync(join(folder, 'kustomize-'));
    cpSync(`${root}deploy/kustomize`, join(copy, 'deploy/kustomize'), { recursive: true });
    const umbrella = join(copy, 'umbrella');
    cpSync(join(copy, 'deploy/kustomize/example'), umbrella, { recursive: true });
    writeFileSync(join(umbrella, 'kustomization.yaml'), example);
    writeFileSync(join(umbrella, 'access-key'), 'the-key-of-umbrella');
    const built = parse(succeed('kustomize', ['build', umbrella]));
    const [sidecar] = built.flatMap((manifest) => podSpec(manifest)?.initContainers ?? []);
    const nameOf = (kind: string) => built.find((manifest) => manifest.kind === kind)?.metadata.name;
    expect(sidecar?.env).toContainEqual({
      name: 'BUNNYNET_ACCESS_KEY',
      valueFrom: { secretKeyRef: { name: nameOf('Secret'), key: 'access-key' } },
    });
    expect(sidecar?.['envFrom']).toEqual([{ configMapRef: { name: nameOf('ConfigMap') } }]);
    expect(built.find(({ kind }) => kind === 'ConfigMap')?.['data']).toMatchObject({
      BUNNYNET_ACCOUNT: 'umbrella',
    });
    for (const kind of ['Secret', 'ConfigMap']) expect(nameOf(kind)).toMatch(/^bunnynet-exporter-\w+$/);
    const ofOthers = manifests().map(({ metadata }) => metadata.name);
    for (const kind of ['Secret', 'ConfigMap']) expect(ofOthers).not.toContain(nameOf(kind));
  });
});
