/** The property of bodies, checked a few times in every test run, more often in test/stack, and very often at night. */
import fc from 'fast-check';
import type { KindName } from '../../simulator/dataset.ts';
import { bodiesOf, examplesOf } from './bodies.ts';
import { createReader } from './reading.ts';

const chartSettings = (['latest', 'points', 'off'] as const).flatMap((latency_chart) =>
  (['milliseconds', 'seconds'] as const).map((latency_unit) => ({ latency_chart, latency_unit })),
);

export interface Checked {
  /** The number of bodies by outcome. */
  readonly results: Readonly<Record<string, number>>;
  readonly bodies: number;
  readonly samples: number;
}

/** Checks that each body becomes a reading or a known error, and that the page is valid. onPage gets the page after each reading. */
export async function checkBodies(
  kind: KindName,
  count: number,
  onPage: (page: string) => void = () => undefined,
): Promise<Checked> {
  const settings = kind === 'application' ? chartSettings : [undefined];
  const readers = settings.map((one) => createReader(kind, one));
  const results: Record<string, number> = {};
  let bodies = 0;
  let samples = 0;
  await fc.assert(
    fc.asyncProperty(bodiesOf(kind), fc.nat(readers.length - 1), async (given, reader) => {
      const outcome = await readers[reader]?.(given);
      if (!outcome) throw new Error('no reader');
      results[outcome.result] = (results[outcome.result] ?? 0) + 1;
      bodies++;
      samples += outcome.samples;
      if (outcome.result === 'reading') onPage(outcome.page);
    }),
    // So that there is a reading and an error, whatever chance gives.
    { numRuns: count, examples: examplesOf(kind).map((given) => [given, 0]) },
  );
  return { results, bodies, samples };
}
