import { expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { kindNames, kindOfEachApi } from '../simulator/targets.ts';
import { checkBodies } from './property.ts';

it.each(kindNames)('any body of %s becomes a reading with a valid page, or a known error', async (kind) => {
  const count = kindOfEachApi.includes(kind) ? runs(40, 5_000) : runs(16, 1_000);
  const { bodies, results, samples } = await checkBodies(kind, count);
  expect(bodies).toBe(count);
  // Of some kinds half of the bodies become a reading. Of few bodies, chance may leave only that which each run begins with.
  expect(results['reading']).toBeGreaterThan(runs(0, count / 10));
  expect(results['schema']).toBeGreaterThan(runs(0, kindOfEachApi.includes(kind) ? count / 100 : 0));
  expect(samples).toBeGreaterThan(0);
});
