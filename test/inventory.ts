/** What an exporter with one target would count: for tests of the exporter's own metrics. */
import { health } from '../src/polling/health.ts';
import { noCounts } from '../src/polling/tally.ts';
import { resources } from '../src/resources/kinds/index.ts';
import type { Inventory } from '../src/telemetry.ts';

export function overviewWith(
  changes: Partial<ReturnType<Inventory['overview']>>,
): ReturnType<Inventory['overview']> {
  return {
    tallies: resources.map(({ kind }) => ({
      kind,
      account: 'account',
      counts: { ...noCounts(), targets: 1, failing: 1 },
      failing: new Map([['timeout', 1]]),
      conditions: new Map(),
      listed: undefined,
    })),
    health: health([], 0),
    capacities: [],
    countingSinceMs: 0,
    ...changes,
  };
}

export const inventory: Inventory = {
  overview: () => overviewWith({}),
  store: { series: () => 2 },
  configuration: () => ({ loadedAtMs: 0, refused: undefined }),
  accounts: () => ['account'],
  sameKeys: () => [],
  pauses: () => [],
  droppedLogLines: () => 0,
  state: () => ({ lastWriteMs: 0, failingSinceMs: 0 }),
};
