/** The cost of the exporter as a sidecar of two applications, compared with an idle Node process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { scales } from '../src/simulator/dataset.ts';
import { startProgram } from './processes.ts';
import { type Account, createAccount, fetchPage, untilReady } from './program.ts';
import { atMost, log, megabytes, milliseconds, type Part, times } from './report.ts';

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
    node,
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
  const [first] = measured;
  if (!first) throw new Error('there is no Node to measure with');
  return {
    aims: [
      atMost(
        `${first.name}: peak memory of a sidecar against an empty process`,
        1.8,
        first.peakBytes / first.emptyBytes,
      ),
    ],
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
