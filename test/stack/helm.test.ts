import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { buildRuleFiles, readSettings } from '../../monitoring/src/rule-files.ts';
import {
  chart,
  configMap,
  exampleChart,
  helms,
  lint,
  type Manifest,
  parse,
  render,
  sidecarValues,
  template,
} from './chart.ts';
import { cases, plain, refusals, ruleSettings } from './chart-cases.ts';
import { root, succeed } from './tools.ts';

/** The smallest, the largest, and those that change many manifests. What the others add, the schemas of Kubernetes check. */
const golden = ['account', 'tls', 'requires-auth', 'everything'];

/** Without the rules and dashboards, which are unchanged copies. */
function ownManifests(manifests: string): string {
  return manifests
    .split(/^(?=---\n)/m)
    .filter((manifest) => !/^# Source: .*\/(dashboards|prometheusrule)\.yaml$/m.test(manifest))
    .join('');
}

describe.each(helms)('%s', (helm) => {
  test('lints the chart without complaints', () => {
    for (const values of [{}, cases['everything']]) {
      const { code, stdout, stderr } = lint(helm, values);
      expect(`${stdout}${stderr}`).toContain('0 chart(s) failed');
      expect(code).toBe(0);
    }
  });

  test.each(readdirSync(`${chart}/ci`))('lints and renders %s', (name) => {
    const values: unknown = parseYaml(readFileSync(`${chart}/ci/${name}`, 'utf8'));
    const { code, stdout, stderr } = lint(helm, values);
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(parse(render(helm, values)).map(({ kind }) => kind)).toContain('ServiceAccount');
  });

  test.each(Object.entries(cases))('renders %s, without a Secret', async (name, values) => {
    const manifests = render(helm, values);
    const kinds = parse(manifests).map(({ kind }) => kind);
    expect(kinds).toContain('ServiceAccount');
    expect(kinds).not.toContain('Secret');
    if (golden.includes(name))
      await expect(ownManifests(manifests)).toMatchFileSnapshot(`golden/${name}.yaml`);
  });

  test.each(Object.entries(refusals))('refuses %s and says why', (_, { values, naming }) => {
    const { code, stderr } = template(helm, values);
    expect(code).not.toBe(0);
    const message = stderr.replaceAll("'/", "'").replace(/(?<=\w)\/(?=\w)/g, '.');
    for (const words of naming) expect(message).toMatch(words);
  });

  test('keeps counters in a claim, and never has two Pods with one', () => {
    const of = (name: string, kind: string) =>
      parse(render(helm, cases[name] ?? {})).find((manifest) => manifest.kind === kind);
    expect(of('state-claim', 'Deployment')).toMatchObject({
      spec: {
        replicas: 1,
        strategy: { type: 'Recreate' },
        template: {
          spec: {
            volumes: expect.arrayContaining([
              { name: 'state', persistentVolumeClaim: { claimName: 'edge-bunnynet-exporter' } },
            ]) as unknown,
          },
        },
      },
    });
    expect(of('state-claim', 'PersistentVolumeClaim')).toMatchObject({
      metadata: { name: 'edge-bunnynet-exporter' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '100Mi' } } },
    });
    expect(of('state-of-another-class', 'PersistentVolumeClaim')).toMatchObject({
      spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
    });
    expect(render(helm, cases['account'] ?? {})).not.toContain('/var/lib/bunnynet-exporter');
  });

  test('runs nothing with replicas 0, and leaves all else as it is', () => {
    const values = cases['stopped'] ?? {};
    const of = (replicas: number) => parse(render(helm, { ...values, replicas }));
    const hasTest = ({ kind }: Manifest) => kind === 'Pod';
    expect(of(1).filter(hasTest)).toHaveLength(1);
    const [stopped, running] = [of(0), of(1).filter((manifest) => !hasTest(manifest))];
    expect(stopped.map(({ kind }) => kind)).toEqual(running.map(({ kind }) => kind));
    for (const [at, manifest] of stopped.entries()) {
      const { spec, ...others } = manifest;
      const { spec: specOfRunning, ...othersOfRunning } = running[at] ?? manifest;
      expect(others).toEqual(othersOfRunning);
      const replicas = manifest.kind === 'Deployment' ? { replicas: 0 } : {};
      expect(spec).toEqual(specOfRunning && { ...specOfRunning, ...replicas });
    }
  });

  test('has no field that Kubernetes refuses beside a Recreate that is all that was given', () => {
    for (const name of ['strategy-recreate', 'state-claim', 'state-claim-and-recreate'])
      expect(parse(render(helm, cases[name])).find(({ kind }) => kind === 'Deployment')).toHaveProperty(
        'spec.strategy',
        { type: 'Recreate' },
      );
  });

  test('refuses a Kubernetes without native sidecars', () => {
    const { code, stderr } = template(helm, plain, chart, '1.28.0');
    expect(code).not.toBe(0);
    expect(stderr).toContain('requires kubeVersion');
  });

  test('renders nothing if only its sidecar is used', () => {
    expect(parse(render(helm, { standalone: false }))).toEqual([]);
  });
});

describe('a value that is set to nothing, as a section with all its lines commented out', () => {
  type Section = Readonly<Record<string, unknown>>;
  const isSection = (value: unknown): value is Section =>
    typeof value === 'object' && !Array.isArray(value) && Object.keys(value ?? {}).length > 0;
  const presets = parseYaml(readFileSync(`${chart}/values.yaml`, 'utf8')) as Section;
  const defaults = parseYaml(readFileSync(`${chart}/files/defaults.yaml`, 'utf8')) as Section;
  const nothing = (section: Section, isDeep: boolean): Section =>
    Object.fromEntries(
      Object.entries(section).map(([key, value]) => [
        key,
        isDeep && isSection(value) ? nothing(value, true) : null,
      ]),
    );
  /** Turns on every template that has an own switch. */
  const base: Section = {
    existingSecret: 'bunnynet',
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    networkPolicy: { enabled: true },
    podDisruptionBudget: { enabled: true },
  };

  test.each(Object.keys(presets))('counts as its default: %s', (key) => {
    const { [key]: _, ...rest } = base;
    // Without a key it is refused.
    const credentials = [{ name: 'account', existingSecret: 'bunnynet' }];
    const others = key === 'existingSecret' ? { ...rest, credentials } : rest;
    const expected = render('helm4', others);
    const section = defaults[key];
    const forms = isSection(section) ? [null, nothing(section, false), nothing(section, true)] : [null];
    for (const value of forms) {
      const rendered = render('helm4', { ...others, [key]: value });
      // What Kubernetes reads is left out.
      if (isSection(presets[key]) && !isSection(section)) expect(rendered).not.toBe(expected);
      else expect(rendered).toBe(expected);
    }
  });

  test('counts as its default in a sidecar, too', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nothing-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const example = exampleChart('helm4', folder);
    const needed = { applications: ['HbqFNk0KZjzYOcp'], existingSecret: 'bunnynet' };
    const { resources: ofKubernetes, ...others } = defaults['sidecar'] as Section;
    expect(ofKubernetes).toEqual({});
    for (const isDeep of [false, true]) {
      const chartValues = nothing(defaults, isDeep);
      const sidecar = { ...nothing(others, isDeep), ...needed };
      const values = { 'bunnynet-exporter': { ...chartValues, standalone: false, sidecar } };
      expect(render('helm4', values, example)).toBe(render('helm4', sidecarValues(needed), example));
    }
  });
});

describe('the chart', () => {
  const objects = (values: unknown) => parse(render('helm4', values));
  const configOf = (values: object) =>
    configMap(objects(values), 'edge-bunnynet-exporter')['config.yaml'] ?? '';

  test('passes large numbers to the exporter unchanged', () => {
    const written = configOf(cases['large-numbers'] ?? {});
    expect(parseYaml(written)).toMatchObject(cases['large-numbers']?.['config'] as object);
    expect(written).not.toMatch(/\de\+/);
  });

  test('replaces the Pods when the configuration changes, unless reload is endpoint', () => {
    const checksum = (values: object) =>
      /checksum\/config: (\w+)/.exec(render('helm4', { ...plain, ...values }))?.[1];
    const changed = { config: { applications: { targets: ['q7TzVb2'] } } };
    expect(checksum({})).toMatch(/^[0-9a-f]{64}$/);
    expect(checksum({ podLabels: { a: 'b' } })).toBe(checksum({}));
    expect(checksum(changed)).not.toBe(checksum({}));
    expect(checksum({ ...changed, reload: 'endpoint' })).toBeUndefined();
  });

  test('polls everything but videos by default', () => {
    const written = (values: object): unknown =>
      parseYaml(configOf({ existingSecret: 'bunnynet', ...values }));
    const credentials = { account: { file: '/etc/bunnynet-exporter/credentials/account' } };
    const discovery = { kinds: 'all' };
    expect(written({})).toEqual({ credentials, discovery });
    expect(written({ config: { apis: { core: { timeout: '5s' } } } })).toEqual({
      credentials,
      discovery,
      apis: { core: { timeout: '5s' } },
    });
    expect(written({ config: { shield_zones: { targets: 'all' } } })).toEqual({
      credentials,
      shield_zones: { targets: 'all' },
    });
  });

  test('mounts an existing ConfigMap, whose changes need a reload', () => {
    const manifests = render('helm4', cases['own-configuration']);
    expect(parse(manifests).map(({ kind }) => kind)).not.toContain('ConfigMap');
    expect(manifests).toMatch(/configMap:\s+name: bunnynet-config\n/);
    expect(manifests).toMatch(/key: second\s+path: "account"\n/);
    expect(manifests).not.toContain('checksum/config');
  });

  test('uses the image from the given registry', () => {
    const image = (values: object) => /image: (\S+)/.exec(render('helm4', { ...plain, ...values }))?.[1];
    const path = 'bunnynet-exporter/bunnynet-exporter:0.1.0';
    expect(image({})).toBe(`ghcr.io/${path}`);
    expect(image({ image: { registry: 'one.example' } })).toBe(`one.example/${path}`);
    expect(
      image({ image: { registry: 'one.example' }, global: { imageRegistry: 'all.example/mirror' } }),
    ).toBe(`all.example/mirror/${path}`);
    expect(image({ image: { registry: '', repository: 'one.example/exporter' } })).toBe(
      'one.example/exporter:0.1.0',
    );
  });

  test('takes the image with its own Secrets and those of the parent chart', () => {
    const secrets = (values: object) =>
      objects({ ...plain, ...values }).flatMap(({ kind, spec }) => {
        type Pod = { imagePullSecrets?: readonly object[] };
        const { template: { spec: pod } = { spec } } = (spec ?? {}) as { template?: { spec: unknown } };
        return ['Deployment', 'Pod'].includes(kind) ? [(pod as Pod).imagePullSecrets] : [];
      });
    const [own, shared, both] = [{ name: 'own' }, { name: 'shared' }, { name: 'both' }];
    const global = { imagePullSecrets: ['shared', both] };
    expect(secrets({ global, imagePullSecrets: [own, both] })).toEqual(Array(2).fill([own, both, shared]));
    expect(secrets({ global })).toEqual(Array(2).fill([shared, both]));
    expect(secrets({})).toEqual([undefined, undefined]);
  });

  test('moves a probe with a number as its port, too, if clients must authenticate', () => {
    const probe = { httpGet: { path: '/-/healthy', port: 10057 } };
    const workload = objects({ ...cases['requires-auth'], livenessProbe: probe }).find(
      ({ kind }) => kind === 'Deployment',
    );
    expect(workload).toHaveProperty('spec.template.spec.containers[0].livenessProbe.httpGet', {
      path: '/-/healthy',
      port: 'probes',
    });
  });

  test("has each label and annotation once, where several values set it: the own one of an object, and the chart's above all", () => {
    const manifests = objects({
      ...plain,
      commonLabels: { team: 'common', owner: 'common', 'app.kubernetes.io/name': 'other' },
      podLabels: { team: 'pod', 'app.kubernetes.io/instance': 'other' },
      podAnnotations: { 'checksum/config': 'other' },
      service: { labels: { team: 'service', 'app.kubernetes.io/instance': 'other' } },
      serviceMonitor: { enabled: true, labels: { team: 'monitor', 'helm.sh/chart': 'other' } },
      podMonitor: { enabled: false },
      prometheusRule: { enabled: true, labels: { team: 'rule' } },
      dashboards: { enabled: true, namespace: 'grafana', labels: { team: 'dashboard' } },
      test: { annotations: { 'helm.sh/hook': 'other' } },
    });
    const [deployment, service, monitor] = ['Deployment', 'Service', 'ServiceMonitor'].map((kind) =>
      manifests.find((manifest) => manifest.kind === kind),
    );
    expect(deployment).toMatchObject({
      metadata: { labels: { team: 'common', 'app.kubernetes.io/name': 'bunnynet-exporter' } },
      spec: {
        selector: { matchLabels: { 'app.kubernetes.io/name': 'bunnynet-exporter' } },
        template: {
          metadata: {
            labels: { team: 'pod', owner: 'common', 'app.kubernetes.io/instance': 'edge' },
            annotations: { 'checksum/config': expect.stringMatching(/^[0-9a-f]{64}$/) as string },
          },
        },
      },
    });
    expect(service).toHaveProperty(['metadata', 'labels', 'team'], 'service');
    expect(service).toHaveProperty(['metadata', 'labels', 'app.kubernetes.io/instance'], 'edge');
    expect(monitor).toHaveProperty(['metadata', 'labels', 'team'], 'monitor');
    expect(monitor).toHaveProperty(
      ['metadata', 'labels', 'helm.sh/chart'],
      expect.stringContaining('bunnynet-exporter-'),
    );
    const dashboards = manifests.filter(({ metadata }) => metadata.name.includes('exporter-bunnynet-'));
    expect(dashboards.length).toBeGreaterThan(5);
    for (const { metadata } of dashboards)
      expect(metadata).toMatchObject({ namespace: 'grafana', labels: { team: 'dashboard' } });
  });

  test('lets DNS out to the Pods of kube-system and openshift-dns at any port', () => {
    const policy = objects({ ...plain, networkPolicy: { enabled: true } }).find(
      ({ kind }) => kind === 'NetworkPolicy',
    ) as unknown as { spec: { egress: { to?: unknown; ports?: unknown }[] } };
    const open = policy.spec.egress.filter(({ ports }) => ports === undefined);
    expect(JSON.stringify(open)).toContain('["kube-system","openshift-dns"]');
    expect(open.every(({ to }) => to !== undefined)).toBe(true);
  });

  test('polls everything where only intervals are stretched', () => {
    const [config = ''] = Object.values(
      configMap(objects({ ...plain, config: { interval_factor: 2 } }), 'edge-bunnynet-exporter'),
    );
    expect(parseYaml(config)).toMatchObject({ interval_factor: 2, discovery: { kinds: 'all' } });
  });

  test('polls everything but what discovery leaves out, also where it says nothing else', () => {
    const written = (values: object): unknown => parseYaml(configOf(values));
    const credentials = { account: { file: '/etc/bunnynet-exporter/credentials/account' } };
    expect(written(cases['discovery-of-a-part'] ?? {})).toEqual({
      credentials,
      discovery: {
        kinds: 'all',
        interval: '20m',
        except: ['audit_log'],
        exclude: ['.*staging'],
      },
    });
    for (const name of ['some-of-two-accounts', 'two-accounts-by-discovery'])
      expect(written(cases[name] ?? {})).toMatchObject({
        credentials: { account: {}, second: {} },
        discovery: { kinds: 'all' },
      });
    expect(written(cases['videos-beside-everything'] ?? {})).toMatchObject({
      discovery: { kinds: 'all' },
      video_storage: { targets: 'all' },
    });
  });

  test('has selectors that do not match the Pod of `helm test`', () => {
    const manifests = objects(cases['everything']);
    const labelsOf = (kind: string) =>
      manifests.find((manifest) => manifest.kind === kind)?.metadata as unknown as {
        labels: Record<string, string>;
      };
    const service = manifests.find(({ kind }) => kind === 'Service') as unknown as {
      spec: { selector: Record<string, string> };
    };
    expect(labelsOf('Pod').labels).not.toMatchObject(service.spec.selector);
    expect(labelsOf('Deployment').labels).toMatchObject(service.spec.selector);
  });

  test('shows valid values in its README', () => {
    const readme = readFileSync(`${chart}/README.md`, 'utf8');
    const [, example = ''] = /```yaml\n# values.yaml\n([\s\S]*?)```/.exec(readme) ?? [];
    const kinds = objects(parseYaml(example)).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['Deployment', 'ConfigMap', 'ServiceMonitor']));
  });

  test('contains the dashboards unchanged', () => {
    const manifests = objects({ ...plain, dashboards: { enabled: true } });
    for (const file of readdirSync(`${root}monitoring/dashboards`)) {
      const name = `edge-bunnynet-exporter-${file.replace('.json', '')}`;
      expect(JSON.parse(configMap(manifests, name)[file] ?? '')).toEqual(
        JSON.parse(readFileSync(`${root}monitoring/dashboards/${file}`, 'utf8')),
      );
    }
  });

  test.each(Object.entries(ruleSettings))('changes rules like the plain files: %s', (_, settings) => {
    const own = { name: 'own', rules: [{ record: 'own:up', expr: 'sum(bunnynet_application_up)' }] };
    const prometheusRule = { enabled: true, additionalGroups: [own], ...settings };
    const manifests = objects({ ...plain, prometheusRule });
    const files = [...buildRuleFiles(readSettings(JSON.stringify(settings)))].toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    );
    const groups = files.flatMap(([, text]) => (parseYaml(text) as { groups: unknown[] }).groups);
    expect(groups).not.toHaveLength(0);
    const { spec } = manifests.find(({ kind }) => kind === 'PrometheusRule') as unknown as {
      spec: { groups: { rules: { alert?: string; labels: Record<string, string> }[] }[] };
    };
    // Without an exporter there may be no samples with a namespace: then only the chart knows it.
    const absent = spec.groups.flatMap(({ rules }) => rules.filter(({ alert }) => alert?.endsWith('Absent')));
    for (const { labels } of absent) {
      expect(labels['namespace']).toBe('{{ or $labels.namespace "monitoring" }}');
      delete labels['namespace'];
    }
    expect(spec.groups).toEqual([...groups, own]);
  });

  test('leads to the runbooks of the reader, in rules as `npm run rules` does, and in dashboards', () => {
    const runbookUrl = 'https://wiki.example/$1/{alert}?from={alert}';
    const manifests = objects({
      ...plain,
      prometheusRule: { enabled: true, disabled: ['BunnynetExporterAbsent'] },
      dashboards: { enabled: true },
      alerts: { runbookUrl },
    });
    const settings = readSettings('disabled: [BunnynetExporterAbsent]');
    const files = [...buildRuleFiles({ ...settings, runbookUrl })].toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(manifests.find(({ kind }) => kind === 'PrometheusRule')).toHaveProperty(
      'spec.groups',
      files.flatMap(([, text]) => (parseYaml(text) as { groups: unknown[] }).groups),
    );
    const dashboard = configMap(manifests, 'edge-bunnynet-exporter-bunnynet-overview')[
      'bunnynet-overview.json'
    ];
    expect(dashboard).not.toContain('docs/runbooks');
    expect(dashboard).toMatch(/wiki\.example\/\$1\/\$\{__value\.text\}\?from=\$\{__value\.text\}/);
    expect(dashboard).toContain('https://wiki.example/$1/BunnynetApplicationFailing?from=');
  });

  test('says the next step', () => {
    const notes = (values: unknown) =>
      succeed('helm4', ['install', 'edge', chart, '--dry-run=client', '--values', '-'], {
        input: JSON.stringify(values),
      }).split('NOTES:\n')[1];
    expect(notes(plain)).toMatchSnapshot();
    expect(notes(cases['demo'])).toMatchSnapshot();
    expect(notes(cases['account'])).toMatchSnapshot();
    expect(notes({ ...plain, serviceMonitor: { enabled: true } })).toMatchSnapshot();
    expect(notes({ ...plain, replicas: 0, prometheusRule: { enabled: true } })).toMatchSnapshot();
    expect(notes({ ...plain, service: { enabled: false } })).toMatchSnapshot();
    expect(notes({ standalone: false })).toMatchSnapshot();
  });
});
