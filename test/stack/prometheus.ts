/** Starts a real Prometheus and asks it. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort, start, toolPath } from './processes.ts';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** [Unix time, value]: one of an instant query. */
  readonly values: readonly (readonly [number, string])[];
}

/** Starts one with its files in the folder; `config` is YAML or what becomes YAML. Resolves with its address. */
export async function startPrometheus(
  folder: string,
  config: string | object,
  ...flags: readonly string[]
): Promise<string> {
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, typeof config === 'string' ? config : stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  start(toolPath('prometheus'), [
    `--config.file=${file}`,
    `--web.listen-address=${address}`,
    `--storage.tsdb.path=${await mkdtemp(join(folder, 'data-'))}`,
    '--log.level=warn',
    ...flags,
  ]);
  return address;
}

/** Rejects with Prometheus' words. */
export async function ask(
  address: string,
  path: 'query' | 'query_range',
  parameters: Readonly<Record<string, string>>,
): Promise<readonly Series[]> {
  const response = await fetch(`http://${address}/api/v1/${path}`, {
    method: 'POST',
    body: new URLSearchParams(parameters),
  });
  const { error, data } = (await response.json()) as {
    readonly error?: string;
    readonly data?: {
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>;
        readonly value?: readonly [number, string];
        readonly values?: readonly (readonly [number, string])[];
      }[];
    };
  };
  if (!data) throw new Error(`${error}: ${parameters['query']}`);
  return data.result.map(({ metric, value, values }) => ({
    metric,
    values: values ?? (value ? [value] : []),
  }));
}

/** The number of the only series, or of the first one. */
export const numberOf = ([first]: readonly Series[]): number => Number(first?.values[0]?.[1]);
