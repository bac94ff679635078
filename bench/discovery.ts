/** What it costs to find an account, in a process that does nothing else, beside one that does nothing at all. */
import type { DiscoverCommands } from './children/discover.ts';
import { Child } from './processes.ts';
import { milliseconds, type Part } from './report.ts';

const stallLimitMs = 20;

export async function measureDiscovery(isSmall: boolean): Promise<Part> {
  const child = new Child<DiscoverCommands>('discovery', 'discover');
  const idle = new Child<DiscoverCommands>('an idle process', 'discover');
  await idle.ask('idle', undefined as never);
  const { targets, foundMs, cpuMs, bytesPerTarget, foundStallMs, renameStallMs } = await child.ask('find', {
    isSmall,
  });
  const idleStallMs = await idle.ask('idled', undefined as never);
  await Promise.all([child.stop(), idle.stop()]);
  const measured = Math.max(foundStallMs, renameStallMs);
  return {
    tables: [
      {
        title: 'Discovery',
        note: 'Listings answered at once, in the process that is measured; the longest stall is beside polls of what was found.',
        columns: [
          'targets found',
          'after',
          'processor time',
          'heap a target',
          'longest stall',
          'after a rename',
          'of an idle process meanwhile',
        ],
        rows: [
          [
            targets.toLocaleString('en-US'),
            milliseconds(foundMs),
            milliseconds(cpuMs),
            `${Math.round(bytesPerTarget)} bytes`,
            milliseconds(foundStallMs),
            milliseconds(renameStallMs),
            milliseconds(idleStallMs),
          ],
        ],
      },
    ],
    aims: [
      {
        what: 'longest stall of the event loop by first discovery and by a rename',
        wanted: `≤ ${stallLimitMs} ms`,
        measured: milliseconds(measured),
        met: measured <= stallLimitMs,
      },
    ],
  };
}
