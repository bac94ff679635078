/** What an exporter with one target would count: for tests of the exporter's own metrics. */
import type { Inventory } from '../src/telemetry.ts';

export const inventory: Inventory = {
  counts: () => ({ targets: 1, stale: 0 }),
  store: { series: () => 2, dropped: () => 0 },
  listings: () => [],
  refusedKeys: () => 0,
  capacities: () => [],
  configuration: () => ({ loadedAtMs: 0, refused: undefined }),
  droppedLogLines: () => 0,
};
