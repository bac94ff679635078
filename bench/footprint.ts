/** What the shipped program costs as a sidecar of two applications, beside Node processes that do next to nothing. */
import { execFileSync } from 'node:child_process';
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
import { bareEnvironment, Child, type Measured, startProgram } from './processes.ts';
import { type Aim, atMost, megabytes, milliseconds, type Part, plain, times } from './report.ts';
import { median } from './statistics.ts';

const bundle = 'dist/bunnynet-exporter.js';
const nothing = ['-e', 'setInterval(() => {}, 1e9)'];
/** A page as large as the sidecar's, from memory. */
const pageBytes = 20_000;

/** Listens, and answers everything with the same bytes. */
function staticServer(port: number): readonly string[] {
  const code = `const page = Buffer.alloc(${pageBytes}, 'x'); require('node:http').createServer((_, response) => response.end(page)).listen(${port}, '127.0.0.1')`;
  return ['-e', code];
}

interface Sidecar {
  /** Of the configuration file; `interval` in it is text. */
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
  const env = { BUNNYNET_ACCESS_KEY: createKeys(seed, libraryIds).account };
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
      const flags = [bundle, `--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`];
      return { program: startProgram('exporter', node, flags, env), port };
    },
    async stop() {
      await simulator.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Asks once; resolves with whether the answer is a 200. */
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

/** From spawning to the last byte of the first answer, in milliseconds. */
async function timeToAnswer(
  start: () => Promise<{ program: Measured; port: number }>,
  path: string,
): Promise<number> {
  const startedMs = performance.now();
  const { program, port } = await start();
  try {
    await untilAnswered(port, path);
    return performance.now() - startedMs;
  } finally {
    await program.stop();
  }
}

interface Footprint {
  readonly startMs: number;
  readonly staticStartMs: number;
  readonly peakBytes: number;
  readonly restBytes: number;
  readonly emptyBytes: number;
  /** Of an hour. */
  readonly cpuMs: number;
  readonly staticCpuMs: number;
}

async function measureNode(node: string, sidecar: Sidecar, quick: boolean): Promise<Footprint> {
  const startStatic = async () => {
    const port = await freePort();
    return { program: startProgram('static server', node, staticServer(port)), port };
  };
  // As in the image.
  execFileSync(node, ['scripts/code-cache.mjs', 'dist'], { env: bareEnvironment });
  const starts: number[] = [];
  const staticStarts: number[] = [];
  for (let round = 0; round < (quick ? 3 : 11); round++) {
    staticStarts.push(await timeToAnswer(startStatic, '/'));
    starts.push(await timeToAnswer(() => sidecar.start(node, '1m'), '/-/healthy'));
  }
  log('start-up');

  // The polls and scrapes of an hour in a minute.
  const hour = await sidecar.start(node, '1s');
  const empty = startProgram('empty', node, nothing);
  await untilAnswered(hour.port, '/-/healthy');
  for (let scrape = 0; scrape < (quick ? 40 : 240); scrape++) {
    await ask(hour.port, '/metrics');
    await sleep(250);
  }
  const peakBytes = hour.program.peakBytes();
  await sleep(2000);
  const restBytes = hour.program.rssBytes();
  const emptyBytes = empty.rssBytes();
  await Promise.all([hour.program.stop(), empty.stop()]);
  log('memory');

  const [exporter, server] = [await sidecar.start(node, '1m'), await startStatic()];
  await Promise.all([untilAnswered(exporter.port, '/-/healthy'), untilAnswered(server.port, '/')]);
  // What starting left behind is collected within a minute.
  await sleep(quick ? 10_000 : 60_000);
  const before = [exporter, server].map(({ program }) => program.cpuMs());
  const minutes = quick ? 1 : 3;
  for (let scrape = 0; scrape < minutes * 4; scrape++) {
    await Promise.all([ask(exporter.port, '/metrics'), ask(server.port, '/')]);
    await sleep(15_000);
  }
  const [cpuMs = 0, staticCpuMs = 0] = [exporter, server].map(
    ({ program }, at) => ((program.cpuMs() - (before[at] ?? 0)) * 60) / minutes,
  );
  await Promise.all([exporter, server].map(({ program }) => program.stop()));
  log('CPU at rest');
  return {
    startMs: median(starts),
    staticStartMs: median(staticStarts),
    peakBytes,
    restBytes,
    emptyBytes,
    cpuMs,
    staticCpuMs,
  };
}

function aimsOf(name: string, one: Footprint): readonly Aim[] {
  return [
    atMost(
      `${name}: peak resident memory of an hour against an empty process`,
      1.7,
      one.peakBytes / one.emptyBytes,
    ),
    atMost(`${name}: resident memory at rest against an empty process`, 1.4, one.restBytes / one.emptyBytes),
    atMost(
      `${name}: start to first healthy answer against an empty process that listens`,
      1.8,
      one.startMs / one.staticStartMs,
    ),
    atMost(
      `${name}: CPU of an hour at rest against a server of static bytes`,
      2,
      one.cpuMs / one.staticCpuMs,
    ),
  ];
}

/** nodes: the programs to measure with, by their names. */
export async function measureFootprint(quick: boolean, nodes: ReadonlyMap<string, string>): Promise<Part> {
  const sidecar = await createSidecar();
  try {
    const rows: string[][] = [];
    const words: string[] = [];
    const aims: Aim[] = [];
    for (const [name, node] of nodes) {
      log(name);
      const one = await measureNode(node, sidecar, quick);
      rows.push([
        name,
        megabytes(one.peakBytes),
        times(one.peakBytes / one.emptyBytes),
        megabytes(one.restBytes),
        times(one.restBytes / one.emptyBytes),
        milliseconds(one.startMs),
        times(one.startMs / one.staticStartMs),
        milliseconds(one.cpuMs),
        times(one.cpuMs / one.staticCpuMs),
      ]);
      aims.push(...aimsOf(name, one));
      words.push(
        `**A sidecar of two applications**, asked for once a minute and scraped every 15 s, takes ${megabytes(one.restBytes)} with ${name}, ` +
          `${megabytes(one.peakBytes)} at its peak; an empty Node process takes ${megabytes(one.emptyBytes)}. In an hour it uses ${plain(one.cpuMs / 1000)} s of one core.`,
      );
    }
    return {
      tables: [
        {
          title: 'A sidecar of two applications',
          note: 'The peak is that of 60 polls of each and 240 scrapes, the work of an hour, done in a minute. Memory is held against a Node process that does nothing, the others against one that answers every request with the same bytes. V8 starts with a cache of the code, as in the image.',
          columns: [
            '',
            'peak memory',
            'of an empty process',
            'at rest',
            'of an empty process',
            'start to first answer',
            'of a bare server',
            'CPU of an hour',
            'of a bare server',
          ],
          rows,
        },
      ],
      aims,
      words,
    };
  } finally {
    await sidecar.stop();
  }
}
