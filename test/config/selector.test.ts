import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadPatternEngine, patternProblem, type Selection, selectorOf } from '../../src/config/selector.ts';
import type { Listed } from '../../src/resources/resource.ts';
import { anyText } from '../any-text.ts';
import { runs } from '../runs.ts';

beforeAll(loadPatternEngine);

const app = (id: string, name?: string): Listed => ({ ids: { app_id: id }, name });
const video: Listed = { ids: { library_id: '4711', video_id: 'f00' }, name: 'Trailer' };

function selects({ include = [], exclude = [] }: Partial<Selection>, listed: Listed): boolean {
  return selectorOf({ include, exclude })(listed);
}

describe('a selection', () => {
  test.each<[string, Partial<Selection>, Listed, boolean]>([
    ['takes everything without a pattern', {}, app('a'), true],
    ['matches by name', { include: ['prod-.*'] }, app('a', 'prod-shop'), true],
    ['matches by id', { include: ['q7.*'] }, app('q7T', 'shop'), true],
    ['leaves out targets that no pattern matches', { include: ['prod-.*'] }, app('a', 'dev-shop'), false],
    ['takes targets that any pattern matches', { include: ['x', 'shop'] }, app('a', 'shop'), true],
    [
      'lets exclude win over include',
      { include: ['.*'], exclude: ['.*-preview'] },
      app('a', 'x-preview'),
      false,
    ],
    ['excludes by id', { exclude: ['a'] }, app('a', 'shop'), false],
    ['is anchored at the start', { include: ['shop'] }, app('a', 'my shop'), false],
    ['is anchored at the end', { include: ['shop'] }, app('a', 'shop 2'), false],
    ['anchors every alternative', { include: ['shop|www'] }, app('a', 'www2'), false],
    ['matches the longer alternative', { include: ['w|www'] }, app('a', 'www'), true],
    ['matches a target without a name by its id', { include: ['a'] }, app('a'), true],
    ['is case-sensitive', { include: ['SHOP'] }, app('a', 'shop'), false],
    ['is not case-sensitive with (?i)', { include: ['(?i)SHOP'] }, app('a', 'shop'), true],
    ['matches the last id', { include: ['f00'] }, video, true],
    ['matches all ids together', { include: ['4711/.*'] }, video, true],
    ['does not match only the first id', { include: ['4711'] }, video, false],
  ])('%s', (_, selection, listed, expected) => {
    expect(selects(selection, listed)).toBe(expected);
  });

  test.each(['x\n-preview', 'x\r\n-preview', '\u2028-preview', '\uD800-preview'])(
    'no name escapes an exclusion by unusual characters: %j',
    (name) => {
      expect(selects({ exclude: ['.*-preview'] }, app('a', name))).toBe(false);
    },
  );
});

describe('a pattern', () => {
  test.each([
    ['a(', 'missing closing )'],
    ['a)', 'unexpected )'],
    ['a\\', 'trailing backslash at end of expression'],
    ['xa**', 'invalid nested repetition operator: "**" (did you mean "xa.*"?)'],
    ['x(?=y)', 'RE2 has no look-ahead and no look-behind: use include and exclude'],
    ['(?<!x)y', 'RE2 has no look-ahead and no look-behind: use include and exclude'],
    ['x\\1', 'invalid escape sequence: "\\\\1"'],
    ['xa{1001}', 'invalid repeat count: "{1001}"'],
    ['', 'it is empty'],
    ['a'.repeat(1001), 'it is longer than 1000 characters'],
    ['(a?){900}', 'it repeats too much'],
    ...runs<[string, string][]>([], [['((a?){300}){3}', 'it repeats too much']]),
    ['(((a{1,30}){1,30}){1,30})', 'invalid repeat count: "{1,30}"'],
  ])('%s has a problem', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem);
  });

  test.each(['.*', 'a|b', '^shop$', '(?i)shop', '\\p{L}+', '[^/]+/prod', '.{1,300}', '(a+)+$'])(
    '%s has no problem',
    (pattern) => {
      expect(patternProblem(pattern)).toBeUndefined();
    },
  );

  // A backtracking engine would never finish any of these.
  test.each(['(a+)+$', '(.*a){12}b'])('%s is matched against a name of 10 kB in little time', (pattern) => {
    expect(patternProblem(pattern)).toBeUndefined();
    expect(selects({ include: [pattern] }, app('x', `${'a'.repeat(10_240)}\n`))).toBe(false);
  });

  test('without a problem matches any name or not, and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'ab(|)*+?[]{}1,^$.\\pd'.split('')) })),
        anyText(10),
        (pattern, name) => {
          const problem = patternProblem(pattern);
          if (problem === undefined)
            expect(typeof selects({ include: [pattern] }, app('a', name))).toBe('boolean');
          else expect(problem).not.toBe('it cannot be compiled');
        },
      ),
      { numRuns: runs(25, 2000) },
    );
  });
});
