import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseBoolean, parseDuration, quote, suggest } from '../src/text.ts';

describe('durations', () => {
  test.each([
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1w', 604_800_000],
    ['1s500ms', 1500],
    ['', undefined],
    ['30', undefined],
    ['1m1h', undefined],
    ['1.5h', undefined],
    ['-1s', undefined],
    ['99999999999999999999y', undefined],
  ])('%j is read as %s ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    [2_000_000, '33m20s'],
    [60_000, '1m'],
    [691_200_000, '8d'],
    [1500, '1s500ms'],
  ])('%s ms is written %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test('written durations can be read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e14 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});

describe('booleans', () => {
  test.each([
    ['true', true],
    ['yes', true],
    ['on', true],
    ['1', true],
    ['false', false],
    ['no', false],
    ['off', false],
    ['0', false],
    ['', undefined],
    ['maybe', undefined],
    ['constructor', undefined],
  ])('%j is read as %s', (text, expected) => {
    expect(parseBoolean(text)).toBe(expected);
  });
});

describe('suggestions', () => {
  test.each([
    ['intervl', 'interval'],
    ['staleAfter', 'stale_after'],
    ['nmae', 'name'],
    ['zzz', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('for $0 are $1', (word, meant) => {
    expect(suggest(word, ['interval', 'stale_after', 'name', 'credential'])).toBe(meant);
  });
});

test('quotations are short and without control characters', () => {
  expect(quote('a\n\u001b[31m"')).toBe(String.raw`"a\n\u001b[31m\""`);
  expect(quote('x'.repeat(1000))).toHaveLength(60);
});
