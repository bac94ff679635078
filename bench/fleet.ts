/**
 * A configuration for the whole exporter against the simulated API in another process. The dataset is a function of its seed
 * and shape, so both sides know the same ids and keys without exchanging them.
 */
import { type Loaded, load } from '../src/demo.ts';
import { createDataset, createKeys, type Shape } from '../src/simulator/dataset.ts';
import { everything } from '../src/simulator/everything.ts';
import { baseUrlsOf } from '../src/simulator/simulator.ts';
import { measuredKinds } from './datasets.ts';

export const seed = 1;

/** How fast the exporter asks. */
export interface Pace {
  readonly intervalMs: number;
  readonly requestsPerSecond: number;
  readonly maxConcurrency: number;
  readonly timeoutMs: number;
}

/** Everything in the shape is a target. */
export async function createFleet(origin: string, shape: Shape, pace: Pace): Promise<Loaded> {
  const dataset = createDataset(seed, shape);
  const keys = createKeys(seed, dataset.libraryIds);
  const { config, credentials } = await load(
    everything({ ...dataset, keys, baseUrls: baseUrlsOf(origin) }, { isNamed: true, kinds: measuredKinds }),
  );
  const { intervalMs, ...apiPace } = pace;
  // No value may become stale during a measurement. Paces may exceed the limits of a file.
  const freshness = { intervalMs, staleAfterMs: 3_600_000 };
  const apis = Object.entries(config.apis).map(([name, api]) => [name, { ...api, ...apiPace }]);
  return {
    credentials,
    config: {
      ...config,
      apis: Object.fromEntries(apis) as typeof config.apis,
      sections: config.sections.map((section) => ({
        ...section,
        ...freshness,
        targets:
          section.targets === 'all'
            ? section.targets
            : section.targets.map((target) => ({ ...target, ...freshness })),
      })),
    },
  };
}
