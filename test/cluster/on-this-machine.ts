/**
 * What a kubelet would do, on this machine: runs the container of a workload of the cluster as a process, with its configuration, its
 * keys and its claims as folders. Reads the objects from the API server, so what they name must be there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../stack/tools.ts';

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string; readonly items: readonly Item[] };
  readonly projected?: {
    readonly sources: readonly {
      readonly secret: { readonly name: string; readonly items: readonly Item[] };
    }[];
  };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}
interface Item {
  readonly key: string;
  readonly path: string;
}
interface Container {
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
export interface Workload {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly Container[]; readonly volumes: readonly Volume[] };
    };
  };
}

/** Reads an object of the cluster. Throws if it is not there. */
export type Get = <T>(kind: string, name: string) => T;

/**
 * Starts the first container of a workload.
 *
 * @param folder what is mounted is below it, each claim in the same folder for all workloads
 * @param changed the arguments that are others on this machine, such as the port
 */
export function startContainer(
  { spec }: Workload,
  folder: string,
  get: Get,
  changed: (arg: string) => string = (arg) => arg,
): ChildProcess {
  const { containers, volumes } = spec.template.spec;
  const [container] = containers;
  if (!container) throw new Error('the workload has no container');
  const places = container.volumeMounts.map(({ name, mountPath }) => {
    const volume = volumes.find((one) => one.name === name);
    if (!volume) throw new Error(`no volume is called ${name}`);
    return { mountPath, volume, place: mount(volume, folder, get) };
  });
  const local = (text: string) =>
    places.reduce((moved, { mountPath, place }) => moved.replaceAll(`${mountPath}/`, `${place}/`), text);
  // The configuration names the keys by their paths.
  for (const { volume, place } of places) {
    if (!volume.configMap) continue;
    const { data } = get<{ data: Readonly<Record<string, string>> }>('configmap', volume.configMap.name);
    for (const [name, text] of Object.entries(data)) writeFileSync(join(place, name), local(text));
  }
  const args = container.args.map((arg) => changed(local(arg)));
  return spawn(process.execPath, [`${root}dist/bunnynet-exporter.js`, ...args], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The folder of a volume. */
function mount({ name, secret, projected, persistentVolumeClaim }: Volume, folder: string, get: Get): string {
  if (persistentVolumeClaim) {
    const { claimName } = persistentVolumeClaim;
    get('persistentvolumeclaim', claimName);
    const place = join(folder, `claim-${claimName}`);
    mkdirSync(place, { recursive: true });
    return place;
  }
  const place = mkdtempSync(join(folder, `${name}-`));
  const sources = projected?.sources.map((source) => source.secret) ?? [];
  const all = secret ? [...sources, { name: secret.secretName, items: secret.items }] : sources;
  for (const source of all) {
    const { data } = get<{ data: Readonly<Record<string, string>> }>('secret', source.name);
    for (const { key, path } of source.items) {
      const value = data[key];
      if (value === undefined) throw new Error(`the Secret ${source.name} has no key ${key}`);
      writeFileSync(join(place, path), Buffer.from(value, 'base64'));
    }
  }
  return place;
}
