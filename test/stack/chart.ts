/** Renders a chart with either Helm: values in, manifests out. Knows Helm's command line, not the manifests. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type Outcome, root, run, succeed } from './tools.ts';

export const helms = ['helm4', 'helm3'] as const;
export type Helm = (typeof helms)[number];

export const chart = `${root}helm/bunnynet-exporter`;

/** The Kubernetes version that charts are rendered for. */
const kubeVersion = '1.30.0';

export function lint(helm: Helm, values: unknown, path = chart): Outcome {
  return run(helm, ['lint', '--strict', '--kube-version', kubeVersion, '--values', '-', path], {
    input: JSON.stringify(values),
  });
}

const rendered = new Map<string, Outcome>();

/** Runs Helm once for the same values. */
export function template(helm: Helm, values: unknown, path = chart, version = kubeVersion): Outcome {
  const args = ['template', 'edge', path, '--namespace', 'monitoring', '--kube-version', version];
  const input = JSON.stringify(values);
  const key = [helm, ...args, input].join(' ');
  const outcome = rendered.get(key) ?? run(helm, [...args, '--values', '-'], { input });
  rendered.set(key, outcome);
  return outcome;
}

/** The rendered manifests, without blank lines, because the two Helm versions differ in them. */
export function render(helm: Helm, values: unknown, path = chart): string {
  const { code, stdout, stderr } = template(helm, values, path);
  if (code !== 0) throw new Error(stderr);
  return stdout.replace(/\n+(?=---\n)/g, '\n').replace(/\n+$/, '\n');
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** What each document has: rules and dashboards are large, and mostly the same whatever the values. */
const parsed = new Map<string, readonly Manifest[]>();

/** The manifests as objects. Throws for what Kustomize and Flux refuse, such as a key that stands twice. */
export function parse(manifests: string): readonly Manifest[] {
  return manifests.split(/^(?=---\s)/m).flatMap((text) => {
    const found = parsed.get(text) ?? parseDocuments(text);
    parsed.set(text, found);
    return structuredClone(found);
  });
}

function parseDocuments(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = 'errors' in document ? document.errors : [];
    if (error) throw error;
    return (document.toJS() as Manifest | null) ?? [];
  });
}

/** The data of the only ConfigMap with this name. */
export function configMap(manifests: readonly Manifest[], name: string): Readonly<Record<string, string>> {
  const found = manifests.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} ConfigMaps are called ${name}`);
  return found[0]?.['data'] as Record<string, string>;
}

const examples = new Map<string, string>();

/** A copy of the example chart with the sidecar from this repository, optionally as a plain container; made once in a folder. */
export function exampleChart(helm: Helm, folder: string, form: 'native' | 'plain' = 'native'): string {
  const key = [helm, folder, form].join(' ');
  const known = examples.get(key);
  if (known !== undefined) return known;
  const copy = mkdtempSync(join(folder, 'chart-'));
  mkdirSync(join(copy, 'deploy'));
  cpSync(`${root}helm`, join(copy, 'helm'), { recursive: true });
  cpSync(`${root}deploy/helm-sidecar`, join(copy, 'deploy/helm-sidecar'), { recursive: true });
  if (form === 'plain') {
    const template = join(copy, 'deploy/helm-sidecar/templates/deployment.yaml');
    const text = readFileSync(template, 'utf8');
    const [, include = ''] = /initContainers:\n(.*include.*\n)/.exec(text) ?? [];
    writeFileSync(
      template,
      text.replace(/ *initContainers:\n.*\n/, '').replace(/(containers:\n)/, (found) => found + include),
    );
  }
  const example = join(copy, 'deploy/helm-sidecar');
  succeed(helm, ['dependency', 'build', example]);
  examples.set(key, example);
  return example;
}

export function sidecarValues(sidecar: object): object {
  return { 'bunnynet-exporter': { sidecar } };
}
