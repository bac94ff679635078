/** What it costs to find an account, in a process that does nothing else, beside one that does nothing at all. */
import type { DiscoverCommands } from './children/discover.ts';
import { Child } from './processes.ts';
import { milliseconds, type Part } from './report.ts';
import { median } from './statistics.ts';

const stallLimitMs = 20;

interface Round extends Awaited<ReturnType<DiscoverCommands['find']>> {
  readonly idleStallMs: number;
}

async function measureOnce(isSmall: boolean): Promise<Round> {
  const child = new Child<DiscoverCommands>('discovery', 'discover');
  const idle = new Child<DiscoverCommands>('an idle process', 'discover');
  await idle.ask('idle', undefined as never);
  const found = await child.ask('find', { isSmall });
  const idleStallMs = await idle.ask('idled', undefined as never);
  await Promise.all([child.stop(), idle.stop()]);
  return { ...found, idleStallMs };
}

export async function measureDiscovery(isSmall: boolean): Promise<Part> {
  const rounds: Round[] = [];
  for (let round = 0; round < (isSmall ? 1 : 3); round++) rounds.push(await measureOnce(isSmall));
  const measured = median(rounds.map((round) => Math.max(round.foundStallMs, round.renameStallMs)));
  return {
    tables: [
      {
        title: 'Discovery',
        note: 'Listings answered at once, in the process that is measured; the longest stall is beside polls of what was found. A row for each round; the aim is held against the median of the rounds.',
        columns: [
          'targets found',
          'after',
          'processor time',
          'heap a target',
          'longest stall',
          'after a rename',
          'of an idle process meanwhile',
        ],
        rows: rounds.map((round) => [
          round.targets.toLocaleString('en-US'),
          milliseconds(round.foundMs),
          milliseconds(round.cpuMs),
          `${Math.round(round.bytesPerTarget)} bytes`,
          milliseconds(round.foundStallMs),
          milliseconds(round.renameStallMs),
          milliseconds(round.idleStallMs),
        ]),
      },
    ],
    aims: [
      {
        what: 'longest stall of the event loop by first discovery and by a rename, median of the rounds',
        wanted: `≤ ${stallLimitMs} ms`,
        measured: milliseconds(measured),
        met: measured <= stallLimitMs,
      },
    ],
  };
}
