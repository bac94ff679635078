/** What an exporter with one target would count: for tests of the exporter's own metrics. */
import { answersOf } from '../src/polling/answers.ts';
import { resources } from '../src/resources/kinds/index.ts';
import type { Inventory } from '../src/telemetry.ts';

export const inventory: Inventory = {
  counts: () => new Map(resources.map(({ kind }) => [kind, { targets: 1, stale: 0 }])),
  store: { series: () => 2, dropped: () => 0 },
  listings: () => [],
  answers: () => answersOf([])(0),
  capacities: () => [],
  configuration: () => ({ loadedAtMs: 0, refused: undefined }),
  droppedLogLines: () => 0,
};
