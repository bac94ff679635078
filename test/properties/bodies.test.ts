import { describe, expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { kindNames, referenceKinds } from '../simulator/targets.ts';
import { checkBodies } from './property.ts';
import { createReader, unfounded } from './reading.ts';
import { parsePage } from './text-format.ts';

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

describe('the reader of pages', () => {
  const head = '# HELP a b\n# TYPE a gauge\n';

  it('reads everything that the format allows', () => {
    expect(parsePage(`${head}a{x="\\"\\\\\\n,}"} -1.5e-7\na 2\n`)).toEqual([
      { name: 'a', labels: { x: '"\\\n,}' }, value: -1.5e-7 },
      { name: 'a', labels: {}, value: 2 },
    ]);
  });

  it.each([
    ['a last line without a line end', `${head}a 1`],
    ['an empty line', `${head}\na 1\n`],
    ['a sample without its family', 'a 1\n'],
    ['a sample of another family', `${head}b 1\n`],
    ['a family twice', `${head}a 1\n# HELP b c\n# TYPE b gauge\nb 1\n${head}a{x="1"} 1\n`],
    ['a series twice', `${head}a 1\na 2\n`],
    ['a label twice', `${head}a{x="1",x="2"} 1\n`],
    ['a line end in a label', `${head}a{x="1\n"} 1\n`],
    ['an unknown escape', `${head}a{x="\\t"} 1\n`],
    ['a last comma', `${head}a{x="1",} 1\n`],
    ['an invalid value', `${head}a undefined\n`],
    ['no value', `${head}a \n`],
    ['a time', `${head}a 1 1786795200000\n`],
  ])('refuses %s', (_, page) => {
    expect(() => parsePage(page)).toThrow(SyntaxError);
  });
});
