import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseYaml as parse } from '../../src/config/yaml.ts';
import { anyText } from '../any-text.ts';
import { runs } from '../runs.ts';

const parseYaml = (text: string) => parse(text, 'a.yml');

describe('values', () => {
  test.each([
    [
      'digits as written',
      'a: [0123, 1e5, 18446744073709551615, 1.0, true, 0x1F]',
      {
        a: ['0123', '1e5', '18446744073709551615', '1.0', 'true', '0x1F'],
      },
    ],
    [
      'quoted and plain text in the same way',
      `a: ['it''s', "tab\\t", plain text]`,
      { a: ["it's", 'tab\t', 'plain text'] },
    ],
    [
      'empty values as null',
      'a:\nb: ~\nc: null\nd: ""\ne: "null"',
      { a: null, b: null, c: null, d: '', e: 'null' },
    ],
    ['block text', 'a: |\n  x\n  y\n', { a: 'x\ny\n' }],
    [
      'aliases as the value of their anchor',
      'a: &x [1, 2]\nb: *x\nc: { d: *x }',
      { a: ['1', '2'], b: ['1', '2'], c: { d: ['1', '2'] } },
    ],
    ['YAML 1.1 documents alike', '%YAML 1.1\n---\na: 0123', { a: '0123' }],
    ['tags for text, list and mapping', 'a: !!str 1\nb: !!seq [1]', { a: '1', b: ['1'] }],
    ['an empty document as null', '# only a comment', null],
  ])('reads %s', (_, text, expected) => {
    const { raw, problems } = parseYaml(text);
    expect(problems).toEqual([]);
    expect(structuredClone(raw)).toEqual(expected);
  });

  test('keys like __proto__ are ordinary keys', () => {
    const { raw } = parseYaml('__proto__: { polluted: yes }\nconstructor: x');
    expect(Object.keys(raw ?? {})).toEqual(['__proto__', 'constructor']);
    expect('polluted' in {}).toBe(false);
  });
});

describe('problems', () => {
  test.each([
    ['a: 1\nb: [1', 2, 'expected YAML: the bracket that opens here is not closed'],
    ['a:\n  b: { c: 1 }\n d: 1\n', 3, 'expected YAML: this line is not indented as the ones beside it'],
    ['a:\n  b: [[1], [2]]\n d: 1\n', 3, 'expected YAML: this line is not indented as the ones beside it'],
    ['a: [[1]\nb: 1\n', 1, 'expected YAML: the bracket that opens here is not closed'],
    ["a: 'b\nc: 2", 1, 'expected YAML: the quote that opens here is not closed'],
    ['a: 1\nb: c: d', 2, 'expected YAML: a second key on one line; text that holds a colon needs quotes'],
    ['a: 1\n\tb: 2', 2, 'expected YAML: a tab indents this line; use spaces'],
    ['a:\n  b: 1\n c: 2', 3, 'expected YAML: this line is not indented as the ones beside it'],
    ['a: @b', 1, 'expected YAML: text that begins with this character needs quotes'],
    ['a: 1\nb\nc: 2', 2, 'expected YAML: a colon, comma or space is missing here'],
    ['a: 1\na: 2', 2, 'expected each key once; it is already on line 1'],
    ['a: 1\n---\nb: 2', 2, 'expected one document; a second begins here'],
    ['a:\n  - *none', 2, 'expected an alias of an anchor that ends before it; there is none of this name'],
    ['a: 1\nb: !!int 5', 2, 'expected YAML: a value has a tag; remove the word that begins with !'],
    ['a: !x!y 1', 1, 'expected YAML: a value has a tag; remove the word that begins with !'],
    ['? [a]\n: 1', 1, 'expected plain text as a key'],
    ['['.repeat(100_000), 1, 'expected YAML: it is nested too deeply'],
  ])('in $0 are reported with their line: $1, $2', (text, line, message) => {
    expect(parseYaml(text).problems.map((problem) => [problem.line, problem.message])).toEqual([
      [line, message],
    ]);
  });

  test('a document that aliases expand without limit is refused', () => {
    const levels = Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]`);
    const { problems } = parseYaml(`a0: &a0 x\n${levels.join('\n')}`);
    expect(problems).toMatchObject([
      { line: 8, message: 'expected at most 8000000 values once aliases are followed' },
    ]);
  });
});

describe('positions', () => {
  test('an empty first item of a list is on its own line', () => {
    expect(parseYaml('a:\n  -\n  - x\n').place(['a', 0])).toMatchObject({ line: 2 });
  });

  const { place } = parseYaml(
    'a:\n  - x\n  -\n  - { b: 1,\n      c: 2 }\nd: "long\n  text"\ne: &f\n  g: 1\nh: *f\n',
  );

  test.each([
    [[], 1, 1],
    [['a'], 1, 1],
    [['a', 0], 2, 5],
    [['a', 1], 3, 4],
    [['a', 2, 'b'], 4, 7],
    [['a', 2, 'c'], 5, 7],
    [['a', 2, 'missing'], 4, 5],
    [['a', 99], 1, 1],
    [['d'], 6, 1],
    [['h', 'g'], 10, 1],
  ])('%j is at %i:%i', (path, line, column) => {
    expect(place(path)).toMatchObject({ file: 'a.yml', line, column });
  });
});

test('the parser never throws, whatever the text', () => {
  const piece = fc.constantFrom(
    'a',
    ': ',
    '- ',
    '\n',
    '  ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '&x ',
    '*x',
    '!t ',
    '"',
    "'",
    '|',
    '>',
    '#',
    '?',
    '%',
    '---',
    '\t',
    '\ud800',
    '\u2028',
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    anyText(10),
  );
  fc.assert(
    fc.property(text, (yaml) => {
      const { raw, problems, place } = parseYaml(yaml);
      expect(raw !== undefined && Array.isArray(problems) && Number(place(['a', 0]).line) >= 1).toBe(true);
    }),
    { numRuns: runs(150, 20_000) },
  );
});
