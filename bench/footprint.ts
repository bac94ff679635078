/** The cost of the exporter as a sidecar of two applications, compared with an idle Node process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { scales } from '../simulator/dataset.ts';
import { asSidecar, present } from './builds.ts';
import { startProgram } from './processes.ts';
import { type Account, createAccount, fetchPage, untilReady } from './program.ts';
import { atMost, log, megabytes, milliseconds, type Part, times } from './report.ts';

/** By the line of Node. */
const limits = [
  ['Node 20', 1.75],
  ['Node 24', 1.95],
] as const;

interface Footprint {
  readonly peakBytes: number;
  readonly restBytes: number;
  readonly emptyBytes: number;
  readonly cpuMs: number;
}

/** The polls and scrapes of an hour in a minute, or of ten minutes in ten seconds if `quick`. */
async function measureNode(node: string, account: Account, quick: boolean): Promise<Footprint> {
  const document = account.everything({ kinds: ['application'], isNamed: true, interval: '1s' });
  const { targets } = document['applications'] as { targets: readonly { readonly [id: string]: string }[] };
  const { measured, port } = await account.start(
    { ...document, applications: { interval: '1s', targets: targets.slice(0, 2) } },
    { build: asSidecar(present), node },
  );
  const empty = startProgram('empty', node, ['-e', 'setInterval(() => {}, 1e9)']);
  await untilReady({ measured, port });
  const cpuBefore = measured.cpuMs();
  for (let scrape = 0; scrape < (quick ? 40 : 240); scrape++) {
    await fetchPage(port);
    await sleep(250);
  }
  const cpuMs = measured.cpuMs() - cpuBefore;
  const peakBytes = measured.peakBytes();
  await sleep(2000);
  const footprint = { peakBytes, restBytes: measured.rssBytes(), emptyBytes: empty.rssBytes(), cpuMs };
  await Promise.all([measured.stop(), empty.stop()]);
  return footprint;
}

/** nodes: the Node binaries to measure with, by name. */
export async function measureFootprint(quick: boolean, nodes: ReadonlyMap<string, string>): Promise<Part> {
  const account = await createAccount(scales.small);
  const measured: (Footprint & { readonly name: string })[] = [];
  try {
    for (const [name, node] of nodes) {
      measured.push({ name, ...(await measureNode(node, account, quick)) });
      log(`sidecar, ${name}`);
    }
  } finally {
    await account.stop();
  }
  return {
    aims: measured.flatMap(({ name, peakBytes, emptyBytes }) => {
      const limit = limits.find(([line]) => name.startsWith(`${line}.`))?.[1];
      const what = `${name}: peak memory of a sidecar against an empty process`;
      return limit === undefined ? [] : [atMost(what, limit, peakBytes / emptyBytes)];
    }),
    tables: [
      {
        title: 'A sidecar of two applications',
        note: 'The work of an hour, done in a minute: 60 polls of each and 240 scrapes.',
        columns: ['', 'peak memory', 'at rest', 'an empty process', 'peak against it', 'CPU'],
        rows: measured.map(({ name, peakBytes, restBytes, emptyBytes, cpuMs }) => [
          name,
          megabytes(peakBytes),
          megabytes(restBytes),
          megabytes(emptyBytes),
          times(peakBytes / emptyBytes),
          milliseconds(cpuMs),
        ]),
        isForUsers: true,
      },
    ],
  };
}
