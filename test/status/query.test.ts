import { describe, expect, it } from 'vitest';
import { resources } from '../../src/resources/kinds/index.ts';
import { linkTo, parseQuery, QueryError, wordsOf } from '../../src/status/query.ts';
import { everything } from './fixtures.ts';

const kinds = ['application', 'shield_zone'];
const parse = (text: string) =>
  parseQuery(new URLSearchParams(text), kinds, ['active', 'suspended'], ['acme', 'umbrella']);

describe('the query of the status page', () => {
  it('selects everything if it is empty', () => {
    expect(parse('')).toEqual(everything);
    expect(parse('kind=&state=&condition=&q=&sort=&page=')).toEqual(everything);
  });

  it('accepts several kinds and states, repeated or with commas', () => {
    expect(parse('kind=application&kind=shield_zone').kinds).toEqual(['application', 'shield_zone']);
    expect(parse('state=failing,stale').states).toEqual(['failing', 'stale']);
    expect(parse('sort=-duration')).toMatchObject({ sort: 'duration', descending: true });
  });

  it.each([
    ['kind=nonsense', 'kind: expected application or shield_zone; got "nonsense"'],
    ['state=constructor', 'state: expected one such as absent, stale or pending; got "constructor"'],
    ['sort=age', 'sort: expected one such as name, state or kind; got "age"'],
    ['condition=dead', 'condition: expected active or suspended; got "dead"'],
    ['page=0', 'page: expected a number from 1; got "0"'],
    ['page=1e3', 'page: expected a number from 1; got "1e3"'],
    [`q=${'a+'.repeat(201)}b`, 'q: expected at most 400 characters; got 403'],
  ])('says what it expected instead of %.40s', (text, message) => {
    expect(() => parse(text)).toThrow(new QueryError(message));
  });

  it('names the three nearest of many kinds', () => {
    const many = resources.map(({ kind }) => kind);
    const query = new URLSearchParams('kind=pullzone');
    expect(() => parseQuery(query, many, [], [])).toThrow(
      /^kind: expected one such as pull_zone, [a-z_]+ or [a-z_]+; got "pullzone"$/,
    );
  });

  it('looks for the first twelve different words of a text', () => {
    const words = wordsOf('a b c d e f g h i j k A l m');
    expect(words.join('')).toBe('abcdefghijkl');
    expect(wordsOf(' ')).toEqual([]);
  });

  it('can be read back from its link', () => {
    const query = {
      kinds: ['application', 'shield_zone'],
      accounts: ['acme', 'umbrella'],
      states: ['failing', 'stale'],
      conditions: ['suspended'],
      text: 'a&b="c" é',
      sort: 'last_success',
      descending: true,
      page: 3,
    } as const;
    expect(parse(new URL(linkTo(query), 'http://localhost/').search)).toEqual(query);
    expect(linkTo(everything)).toBe('./?#targets');
  });
});
