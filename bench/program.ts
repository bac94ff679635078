/** The exporter as it is shipped, against the simulated API in another process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDataset, createKeys, type Dataset, type Shape } from '../simulator/dataset.ts';
import { type ConfigDocument, everything } from '../simulator/everything.ts';
import { baseUrlsOf } from '../simulator/simulator.ts';
import { type Build, present } from './builds.ts';
import type { SimulateCommands } from './children/simulate.ts';
import { Child, type Measured, startProgram } from './processes.ts';

/** The dataset is a function of seed and shape, so both processes know its ids and keys. */
export const seed = 1;
const readyWithinMs = 300_000;

export interface Account {
  readonly simulator: Child<SimulateCommands>;
  readonly dataset: Dataset;
  readonly origin: string;
  /** A configuration that exports all of it. */
  readonly everything: (options: Parameters<typeof everything>[1]) => ConfigDocument;
  /** Default: the present build, with the Node of the benchmark. */
  readonly start: (document: ConfigDocument, how?: Starting) => Promise<Exporter>;
  readonly stop: () => Promise<void>;
}

interface Starting {
  readonly build?: Build;
  readonly node?: string;
  /** A file in `children`, without its extension, that Node runs first and that gets messages. */
  readonly preload?: string;
}

export interface Exporter {
  readonly name: string;
  readonly measured: Measured;
  readonly port: number;
  /** Changes the configuration in use. */
  readonly reload: (document: ConfigDocument) => void;
}

export async function createAccount(shape: Shape): Promise<Account> {
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-bench-`);
  const simulator = new Child<SimulateCommands>('simulator', 'simulate');
  const origin = await simulator.ask('start', { seed, shape });
  const dataset = createDataset(seed, shape);
  const keys = createKeys(seed, dataset.libraryIds);
  return {
    simulator,
    dataset,
    origin,
    everything: (options) => everything({ ...dataset, keys, baseUrls: baseUrlsOf(origin) }, options).document,
    async start(document, { build = present, node = process.execPath, preload } = {}) {
      const port = await freePort();
      const file = `${folder}/${port}.json`;
      const write = (changed: ConfigDocument) => {
        const known = Object.entries(changed).filter(([name]) => build.sections.includes(name));
        writeFileSync(file, JSON.stringify(Object.fromEntries(known)));
      };
      write(document);
      const flags = [`--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
      const env = { ...build.environment, ACCOUNT_KEY: keys.account };
      const preloaded = preload ? [`--import=${new URL(`./${preload}.mjs`, import.meta.url).href}`] : [];
      const words = [...build.options, ...preloaded, build.bundle, ...flags];
      const measured = startProgram(build.name, node, words, env, ...(preload ? ['ipc' as const] : []));
      return {
        name: build.name,
        measured,
        port,
        reload(changed) {
          write(changed);
          measured.process.kill('SIGHUP');
        },
      };
    },
    async stop() {
      await simulator.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Waits until every target was polled once. */
export async function untilReady({ measured, port }: Pick<Exporter, 'measured' | 'port'>): Promise<void> {
  const deadlineMs = performance.now() + readyWithinMs;
  while (!(await fetchPage(port, '/-/ready').catch(() => '')).toString().startsWith('ready')) {
    if (measured.process.exitCode !== null) throw new Error('the exporter ended');
    if (performance.now() > deadlineMs) throw new Error('the exporter did not poll every target in time');
    await sleep(20);
  }
}

/** The body as it was sent, whatever the status. */
export function fetchPage(port: number, path = '/metrics', gzip = false): Promise<Buffer> {
  const headers = gzip ? { 'accept-encoding': 'gzip' } : {};
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** A port on loopback that was free a moment ago, for programs that do not report theirs. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
