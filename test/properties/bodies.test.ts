import { describe, expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { kindNames, referenceKinds } from '../simulator/targets.ts';
import { checkBodies } from './property.ts';
import { createReader, unfounded } from './reading.ts';

describe('any body', () => {
  it.each(kindNames.filter((kind) => !referenceKinds.includes(kind)))(
    'of %s becomes a reading or a known error',
    async (kind) => {
      const count = runs(30, 1_000);
      const { bodies, results } = await checkBodies(kind, count);
      expect(bodies).toBe(count);
      expect(results['reading']).toBeGreaterThan(3);
    },
  );

  it.each(referenceKinds)('of %s is a reading whose samples come from it, or a known error', async (kind) => {
    const count = runs(150, 5_000);
    const { bodies, results, samples } = await checkBodies(kind, count);
    expect(bodies).toBe(count);
    // Both ways are taken, else nothing was shown.
    expect(results['reading']).toBeGreaterThan(count / 10);
    expect(results['schema']).toBeGreaterThan(count / 100);
    expect(samples).toBeGreaterThan(count);
  });
});

describe('the property', () => {
  it('detects a sample that is not from the body', async () => {
    const body = JSON.stringify({ averageLatency: 250, monthlyCost: 3, status: 'active' });
    const { samples } = await createReader('application')([body]);
    expect(unfounded([body], samples)).toEqual([]);
    const other = JSON.stringify({ averageLatency: 251, monthlyCost: 3, status: 'active' });
    expect(unfounded([other], samples).map(({ name }) => name)).toEqual([
      'bunnynet_application_average_latency_seconds',
    ]);
    const elsewhere = JSON.stringify({ averageLatency: 3, monthlyCost: 250, status: 'active' });
    expect(unfounded([elsewhere], samples)).toHaveLength(2);
  });
});
