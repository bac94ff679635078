/** What the shipped bundle costs to start and to keep, beside a Node process that does nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from './log.ts';
import { freePort } from './ports.ts';
import { startProgram } from './processes.ts';
import { atMost, megabytes, milliseconds, type Part, times } from './report.ts';
import { median } from './statistics.ts';

const bundle = 'dist/bunnynet-exporter.js';
/** After it, the page of the small demo is complete and start-up's garbage is as gone as it will be. */
const settledMs = 6_000;

interface Program {
  readonly name: string;
  readonly arguments_: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const programs: readonly Program[] = [
  { name: 'small demo, simulator included', arguments_: ['--demo'], env: {} },
  {
    name: 'exporter alone',
    arguments_: [],
    // The discard port: nothing listens, every poll fails at once.
    env: {
      BUNNYNET_ACCESS_KEY: 'bench-key-that-opens-nothing',
      BUNNYNET_APPLICATIONS: 'app-1,app-2,app-3',
      BUNNYNET_APPLICATION_URL: 'http://127.0.0.1:9/mc',
    },
  },
];

export async function measureFootprint(quick: boolean): Promise<Part> {
  const emptyStarts: number[] = [];
  const starts = programs.map((): number[] => []);
  for (let round = 0; round < (quick ? 5 : 15); round++) {
    emptyStarts.push(await timeOfEmpty());
    for (const [at, program] of programs.entries()) starts[at]?.push(await timeToFirstPage(program));
  }
  log('start-up');
  const emptyRss: number[] = [];
  const rss = programs.map((): number[] => []);
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    const memory = await Promise.all([
      memoryOf(['-e', 'setInterval(() => {}, 1e9)'], {}),
      ...programs.map(async ({ arguments_, env }) =>
        memoryOf([bundle, `--web.listen-address=127.0.0.1:${await freePort()}`, ...arguments_], env),
      ),
    ]);
    emptyRss.push(memory[0]);
    for (const at of programs.keys()) rss[at]?.push(memory[at + 1] ?? Number.NaN);
  }
  log('memory');
  const startOf = (at: number) => median(starts[at] ?? []);
  const rssOf = (at: number) => median(rss[at] ?? []);
  return {
    tables: [
      {
        title: 'Footprint',
        columns: [
          '',
          'start to first page',
          'of an empty Node process',
          'resident memory',
          'of an empty Node process',
        ],
        rows: programs.map(({ name }, at) => [
          name,
          milliseconds(startOf(at)),
          times(startOf(at) / median(emptyStarts)),
          megabytes(rssOf(at)),
          times(rssOf(at) / median(emptyRss)),
        ]),
      },
    ],
    aims: [
      atMost(
        'small demo: start to first page against an empty Node process',
        2.5,
        startOf(0) / median(emptyStarts),
      ),
      atMost('small demo: resident memory against an empty Node process', 1.6, rssOf(0) / median(emptyRss)),
    ],
  };
}

/** From spawning to the end of a Node process that does nothing, in milliseconds. */
async function timeOfEmpty(): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - startedMs;
}

/** From spawning to the last byte of the first page, in milliseconds. */
async function timeToFirstPage({ name, arguments_, env }: Program): Promise<number> {
  const port = await freePort();
  const startedMs = performance.now();
  const program = startProgram(
    name,
    process.execPath,
    [bundle, `--web.listen-address=127.0.0.1:${port}`, ...arguments_],
    env,
  );
  try {
    while (!(await isServed(port))) {
      if (performance.now() - startedMs > 20_000) throw new Error(`${name} serves no page`);
      await sleep(1);
    }
    return performance.now() - startedMs;
  } finally {
    await program.stop();
  }
}

function isServed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get({ port, host: '127.0.0.1', path: '/metrics', agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200));
    });
    asked.on('error', () => resolve(false));
  });
}

/** Resident bytes of a Node process once it has settled. */
async function memoryOf(
  arguments_: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const program = startProgram('node', process.execPath, arguments_, env);
  try {
    await sleep(settledMs);
    return program.rssBytes();
  } finally {
    await program.stop();
  }
}
