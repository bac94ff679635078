/** The cost of discovering an account, in a process that does nothing else, compared with an idle process. */
import type { DiscoverCommands } from './children/discover.ts';
import { Child } from './processes.ts';
import { type Aim, milliseconds, type Part } from './report.ts';
import { median } from './statistics.ts';

/** The longest allowed stall of the event loop by number of targets. */
const limits = [
  { targets: 92_000, stallMs: 100 },
  { targets: 5_000, stallMs: 20 },
] as const;

interface Round extends Awaited<ReturnType<DiscoverCommands['find']>> {
  readonly idleStallMs: number;
}

async function measureOnce(targets: number): Promise<Round> {
  const child = new Child<DiscoverCommands>('discovery', 'discover');
  const idle = new Child<DiscoverCommands>('an idle process', 'discover');
  await idle.ask('idle', undefined as never);
  const found = await child.ask('find', { targets });
  const idleStallMs = await idle.ask('idled', undefined as never);
  await Promise.all([child.stop(), idle.stop()]);
  return { ...found, idleStallMs };
}

export async function measureDiscovery(quick: boolean): Promise<Part> {
  const rows: string[][] = [];
  const aims: Aim[] = [];
  for (const { targets, stallMs } of limits) {
    const rounds: Round[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) rounds.push(await measureOnce(targets));
    const of = (figure: (round: Round) => number) => median(rounds.map(figure));
    const measured = of((round) => Math.max(round.foundStallMs, round.renameStallMs));
    rows.push([
      targets.toLocaleString('en-US'),
      milliseconds(of(({ foundMs }) => foundMs)),
      milliseconds(of(({ cpuMs }) => cpuMs)),
      `${Math.round(of(({ bytesPerTarget }) => bytesPerTarget))} bytes`,
      milliseconds(of(({ foundStallMs }) => foundStallMs)),
      milliseconds(of(({ renameStallMs }) => renameStallMs)),
      milliseconds(of(({ idleStallMs }) => idleStallMs)),
    ]);
    aims.push({
      what: `longest stall of the event loop while ${targets.toLocaleString('en-US')} targets are found, or one is renamed`,
      wanted: `≤ ${stallMs} ms`,
      measured: milliseconds(measured),
      met: measured <= stallMs,
    });
  }
  return {
    tables: [
      {
        title: 'Discovery',
        note: 'A client in the measured process answers listings at once. The longest stall is measured while the found targets are polled.',
        columns: [
          'targets found',
          'after',
          'processor time',
          'heap a target',
          'longest stall',
          'after a rename',
          'of an idle process meanwhile',
        ],
        rows,
      },
    ],
    aims,
  };
}
