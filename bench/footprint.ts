/** The cost of the shipped program as a sidecar of two applications, compared with an idle Node process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDataset, createKeys } from '../src/simulator/dataset.ts';
import { baseUrlsOf } from '../src/simulator/simulator.ts';
import type { SimulateCommands } from './children/simulate.ts';
import { shapes } from './datasets.ts';
import { seed } from './fleet.ts';
import { log } from './log.ts';
import { freePort } from './ports.ts';
import { Child, type Measured, nodeEnvironment, nodeOptions, startProgram } from './processes.ts';
import { type Aim, atMost, megabytes, milliseconds, type Part, type Table, times } from './report.ts';

const bundle = 'dist/bunnynet-exporter.js';
const nothing = ['-e', 'setInterval(() => {}, 1e9)'];
interface Sidecar {
  /** interval: as in the configuration file. */
  readonly start: (node: string, interval: string) => Promise<{ program: Measured; port: number }>;
  readonly stop: () => Promise<void>;
}

/** The exporter with two applications of a simulated API in another process. */
async function createSidecar(): Promise<Sidecar> {
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-bench-`);
  const simulator = new Child<SimulateCommands>('simulator', 'simulate');
  const origin = await simulator.ask('start', { shape: shapes.small });
  const { applications, libraryIds } = createDataset(seed, shapes.small);
  const targets = applications.slice(0, 2).map(({ id }) => id);
  const env = { ...nodeEnvironment, BUNNYNET_ACCESS_KEY: createKeys(seed, libraryIds).account };
  return {
    async start(node, interval) {
      const port = await freePort();
      const file = `${folder}/${port}.json`;
      const configuration = {
        credentials: { account: { env: 'BUNNYNET_ACCESS_KEY' } },
        apis: { application: { base_url: baseUrlsOf(origin).application } },
        applications: { interval, targets },
      };
      writeFileSync(file, JSON.stringify(configuration));
      const flags = [
        ...nodeOptions,
        bundle,
        `--config.file=${file}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ];
      return { program: startProgram('exporter', node, flags, env), port };
    },
    async stop() {
      await simulator.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Sends one request; resolves with whether the answer is a 200. */
function ask(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200));
    });
    asked.on('error', () => resolve(false));
  });
}

async function untilAnswered(port: number, path: string): Promise<void> {
  const startedMs = performance.now();
  while (!(await ask(port, path))) {
    if (performance.now() - startedMs > 20_000) throw new Error(`nothing answers ${path}`);
    await sleep(1);
  }
}

interface Footprint {
  readonly peakBytes: number;
  readonly restBytes: number;
  readonly emptyBytes: number;
  readonly cpuMs: number;
}

/** The polls and scrapes of an hour in a minute, or in ten seconds if `quick`. */
async function measureNode(node: string, sidecar: Sidecar, quick: boolean): Promise<Footprint> {
  const { program, port } = await sidecar.start(node, '1s');
  const empty = startProgram('empty', node, nothing);
  await untilAnswered(port, '/-/healthy');
  const cpuBefore = program.cpuMs();
  for (let scrape = 0; scrape < (quick ? 40 : 240); scrape++) {
    await ask(port, '/metrics');
    await sleep(250);
  }
  const cpuMs = program.cpuMs() - cpuBefore;
  const peakBytes = program.peakBytes();
  await sleep(2000);
  const footprint = { peakBytes, restBytes: program.rssBytes(), emptyBytes: empty.rssBytes(), cpuMs };
  await Promise.all([program.stop(), empty.stop()]);
  return footprint;
}

/** Memory of an empty process by Node release. */
function limitsOf(name: string): { readonly peak: number; readonly rest: number } {
  return name.startsWith('Node 20.') ? { peak: 1.8, rest: 1.7 } : { peak: 2, rest: 2 };
}

/** nodes: the Node binaries to measure with, by name. */
export async function measureFootprint(quick: boolean, nodes: ReadonlyMap<string, string>): Promise<Part> {
  const sidecar = await createSidecar();
  try {
    const rows: string[][] = [];
    const aims: Aim[] = [];
    const forUsers: Table[] = [];
    for (const [name, node] of nodes) {
      const { peakBytes, restBytes, emptyBytes, cpuMs } = await measureNode(node, sidecar, quick);
      log(name);
      const [peak, rest] = [peakBytes / emptyBytes, restBytes / emptyBytes];
      rows.push([
        name,
        megabytes(peakBytes),
        times(peak),
        megabytes(restBytes),
        times(rest),
        milliseconds(cpuMs),
      ]);
      const limits = limitsOf(name);
      aims.push(
        atMost(`${name}: peak memory of a sidecar against an empty process`, limits.peak, peak),
        atMost(`${name}: memory of a sidecar at rest against an empty process`, limits.rest, rest),
      );
      forUsers.push({
        title: `A sidecar of two applications, ${name}`,
        columns: ['', 'exporter', 'an empty Node process'],
        rows: [
          ['memory at rest', megabytes(restBytes), megabytes(emptyBytes)],
          ['memory at its peak', megabytes(peakBytes), '-'],
          ['CPU of an hour, polled once a minute and scraped every 15 s', milliseconds(cpuMs), '-'],
        ],
      });
    }
    return {
      tables: [
        {
          title: 'A sidecar of two applications',
          note: 'The work of an hour, done in a minute: 60 polls of each and 240 scrapes.',
          columns: ['', 'peak memory', 'of an empty process', 'at rest', 'of an empty process', 'CPU'],
          rows,
        },
      ],
      aims,
      forUsers,
    };
  } finally {
    await sidecar.stop();
  }
}
