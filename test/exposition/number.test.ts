import fc from 'fast-check';
import { expect, it } from 'vitest';
import { maxNumberBytes, renderNumber, writeNumber } from '../../src/exposition/number.ts';

const bytes = Buffer.alloc(2 * maxNumberBytes);
const written = (value: number) => bytes.toString('latin1', 3, writeNumber(bytes, 3, value));

it.each([
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [-0, '0'],
  [-1, '-1'],
  [0.1, '0.1'],
  [0.1 + 0.2, '0.30000000000000004'],
  [-1234.5, '-1234.5'],
  [0.000001, '0.000001'],
  [1e-7, '1e-7'],
  [999999999999999, '999999999999999'],
  [2 ** 53, '9007199254740992'],
  [1e21, '1e+21'],
  [-Number.MIN_VALUE, '-5e-324'],
])('writes %d as %s', (value, text) => {
  expect(written(value)).toBe(text);
  expect(renderNumber(value)).toBe(text);
});

it('writes every double as JavaScript does, in no more bytes than it says', () => {
  const decimal = fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 22 })).map(([n, e]) => n / 10 ** e);
  const short = fc.tuple(fc.integer(), fc.integer({ min: 0, max: 12 })).map(([n, e]) => n / 10 ** e);
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.maxSafeInteger(), decimal, short), (value) => {
      const text = written(value);
      expect(text).toBe(renderNumber(value));
      expect(text.length).toBeLessThanOrEqual(maxNumberBytes);
    }),
    { numRuns: 20_000 },
  );
});
