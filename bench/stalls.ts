/** How long the event loop of the exporter stalls while an account is found, a target renamed, a configuration reloaded, keys replaced. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shape, scales } from '../simulator/dataset.ts';
import type { ConfigDocument } from '../simulator/everything.ts';
import type { Build } from './builds.ts';
import { createAccount, type Exporter, fetchPage, untilReady } from './program.ts';
import { log, milliseconds, type Part } from './report.ts';

export const shape: Shape = { ...scales.medium, videosPerLibrary: 450 };
export const targets = 5_000;
/** Those whose keys change at once. */
const libraries = 1_000;
export const limitMs = 50;
const giveUpMs = 300_000;

/** Waits until the page has the text. */
async function until({ port }: Exporter, path: string, text: string, everyMs = 200): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const page = await fetchPage(port, path).catch(() => '');
    if (page.toString().includes(text)) return;
    if (performance.now() - startedMs > giveUpMs) throw new Error(`${path} does not show ${text}`);
    await sleep(everyMs);
  }
}

/** The longest stall since it was asked for the last time, in milliseconds. */
export async function longestStall({ measured: { process } }: Exporter): Promise<number> {
  const told = once(process, 'message') as Promise<[number]>;
  process.send({});
  return (await told)[0];
}

interface Stalls {
  readonly name: string;
  readonly foundAfterMs: number;
  readonly findingMs: number;
  readonly renamingMs: number;
  readonly reloadingMs: number;
  readonly replacingKeysMs: number;
}

/** The longest stall when the keys of all video libraries are replaced at once. */
async function stallOfKeys(build: Build): Promise<number> {
  const account = await createAccount({ ...shape, libraries, videosPerLibrary: 1 });
  const document: ConfigDocument = {
    ...account.everything({
      kinds: ['video_library', 'video_encoding'],
      interval: '1m',
      staleAfter: '3d',
      api: () => ({ requests_per_second: libraries / 10, max_concurrency: 32 }),
    }),
    discovery: { interval: '5s' },
  };
  const exporter = await account.start(document, { build, preload: 'stall-probe' });
  try {
    await untilReady(exporter);
    await longestStall(exporter);
    await account.simulator.ask('replaceLibraryKeys', undefined);
    // Each library has been read with its new key after that.
    await sleep(75_000);
    return await longestStall(exporter);
  } finally {
    await Promise.all([exporter.measured.stop(), account.stop()]);
  }
}

async function measureBuild(build: Build): Promise<Stalls> {
  const account = await createAccount(shape);
  const document = (interval: string): ConfigDocument => ({
    ...account.everything({
      interval,
      staleAfter: '3d',
      api: () => ({ requests_per_second: targets / 20, max_concurrency: 32 }),
    }),
    discovery: { interval: '5s' },
  });
  const replacingKeysMs = await stallOfKeys(build);
  const [application] = account.dataset.applications;
  if (!application) throw new Error('there is no application');
  const startedMs = performance.now();
  const exporter = await account.start(document('5m'), { build, preload: 'stall-probe' });
  try {
    // To load the program is no stall of it.
    await until(exporter, '/-/healthy', 'healthy', 2);
    await longestStall(exporter);
    await untilReady(exporter);
    const foundAfterMs = performance.now() - startedMs;
    const findingMs = await longestStall(exporter);
    await account.simulator.ask('rename', { id: application.id, name: 'renamed' });
    await until(exporter, '/metrics?kind=application', 'name="renamed"');
    const renamingMs = await longestStall(exporter);
    exporter.reload(document('6m'));
    await until(exporter, '/config', '"interval": "6m"');
    // What it means for the targets follows after the configuration is in use.
    await sleep(500);
    const reloadingMs = await longestStall(exporter);
    log(`stalls of ${build.name}`);
    return { name: build.name, foundAfterMs, findingMs, renamingMs, reloadingMs, replacingKeysMs };
  } finally {
    await Promise.all([exporter.measured.stop(), account.stop()]);
  }
}

export async function measureStalls(builds: readonly Build[]): Promise<Part> {
  const measured: Stalls[] = [];
  for (const build of builds) measured.push(await measureBuild(build));
  const [own, other] = measured.map(({ findingMs, renamingMs, reloadingMs, replacingKeysMs }) =>
    Math.max(findingMs, renamingMs, reloadingMs, replacingKeysMs),
  );
  return {
    aims: [
      {
        what: 'longest stall of the event loop while 5,000 targets are found, renamed or reloaded, or the keys of 1,000 video libraries replaced',
        wanted: `≤ ${limitMs} ms`,
        other: milliseconds(other),
        measured: milliseconds(own),
        met: own !== undefined && own <= limitMs,
      },
    ],
    tables: [
      {
        title: 'Longest stall of the event loop, with 5,000 targets',
        columns: [
          '',
          'found and polled after',
          'meanwhile',
          'when one is renamed',
          'at a reload',
          'when 1,000 keys are replaced',
        ],
        rows: measured.map(({ name, foundAfterMs, findingMs, renamingMs, reloadingMs, replacingKeysMs }) => [
          name,
          ...[foundAfterMs, findingMs, renamingMs, reloadingMs, replacingKeysMs].map(milliseconds),
        ]),
      },
    ],
  };
}
