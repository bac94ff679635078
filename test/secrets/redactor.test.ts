import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/secrets/redactor.ts';

const key = '4f1d9e27-77aa-CANA-b00c-5e1f0d2c3b4a';
const redactor = new Redactor();
redactor.learn('account', key);
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a key in a text', () => {
  it.each<[string, string, string]>([
    ['the key', `no ${key}, sorry`, 'no [redacted], sorry'],
    ['the key twice', `${key} ${key}`, '[redacted] [redacted]'],
    ['the key twice in a row', key + key, '[redacted][redacted]'],
    ['another case', key.toUpperCase(), '[redacted]'],
    ['its beginning', `${key.slice(0, 12)}…`, '[redacted]…'],
    ['its end', `…${key.slice(-8)}`, '…[redacted]'],
    ['its middle', `<${key.slice(9, 20)}>`, '<[redacted]>'],
    ['hexadecimal digits', Buffer.from(key).toString('hex'), '[redacted]'],
    ['after a letter that changes its length in lower case', `İ${key}İ`, 'İ[redacted]İ'],
  ])('is redacted: %s', (_, text, expected) => {
    expect(redactor.redact(text)).toBe(expected);
  });

  it.each(['', 'x', 'xy', 'xyz', 'Basic user:', 'a longer text before: '])(
    'is redacted in Base64 after %j',
    (before) => {
      const encoded = base64(`${before}${key} and after`);
      const text = redactor.redact(encoded);
      expect(text).toContain('[redacted]');
      // No four bytes of the key in a row are left.
      const left = text.split('[redacted]').map((part) => Buffer.from(part, 'base64').toString('latin1'));
      expect(left[0]?.slice(before.length).length).toBeLessThan(4);
      expect(left.join('')).not.toMatch(/4f1d|3b4a/);
    },
  );

  it('is redacted percent-encoded, and in Base64 for URLs', () => {
    const other = new Redactor();
    const odd = 'a/b?c&d=e+f~g>>>h???i';
    other.learn('account', odd);
    expect(other.redact(`?key=${encodeURIComponent(odd)}`)).toBe('?key=[redacted]');
    expect(other.redact(Buffer.from(odd).toString('base64url'))).toBe('[redacted]');
  });

  it('is left if it is only seven characters of it, and nothing else is touched', () => {
    const text = `HTTP 500: ${key.slice(0, 7)} is not ${key.slice(8, 15)}`;
    expect(redactor.redact(text)).toBe(text);
  });

  it('is redacted completely if the key is shorter than that', () => {
    const other = new Redactor();
    other.learn('account', 'k-12');
    expect(other.redact('the key k-12 is short')).toBe('the key [redacted] is short');
  });
});

it('is redacted if it is the current or the previous one, for answers under way, but not if it is older', () => {
  const rotated = new Redactor();
  for (const name of ['first', 'second', 'third', 'third']) rotated.learn('account', `the-${name}-key-1234`);
  rotated.learn('library', 'the-library-key-1234');
  expect(rotated.redact('the-third-key-1234, the-second-key-1234, the-library-key-1234')).toBe(
    '[redacted], [redacted], [redacted]',
  );
  expect(rotated.redact('the-first')).toBe('the-first');
});

it('is unknown before the redactor has learned it', () => {
  expect(new Redactor().redact(key)).toBe(key);
});

describe('a credential that is no longer in use', () => {
  const keyOf = (n: number) =>
    `the-key-of-library-${String(n).padStart(4, '0')}-${'abcdefghij'[n % 10]}${n * 7919}`;

  it('has its keys redacted for a while longer, for answers that were under way', () => {
    const libraries = new Redactor();
    libraries.learn('library', 'the-old-key-1234');
    libraries.learn('library', 'the-new-key-5678');
    libraries.forget('library');
    libraries.forget('library');
    expect(libraries.redact('the-old-key-1234 the-new-key-5678')).toBe('[redacted] [redacted]');
  });

  it('is forgotten after many others have gone out of use', () => {
    const libraries = new Redactor();
    libraries.learn('first', 'QWERTYUIOPASDFGH');
    for (let n = 0; n < 300; n++) libraries.learn(`library/${n}`, keyOf(n));
    libraries.forget('first');
    expect(libraries.redact('QWERTYUIOPASDFGH')).toBe('[redacted]');
    for (let n = 0; n < 290; n++) libraries.forget(`library/${n}`);
    expect(libraries.redact('QWERTYUIOPASDFGH')).toBe('QWERTYUIOPASDFGH');
    expect(libraries.redact(`${keyOf(289)} ${keyOf(299)}`)).toBe('[redacted] [redacted]');
  });

  it('does not affect another credential with the same key', () => {
    const libraries = new Redactor();
    libraries.learn('one', 'k-12');
    libraries.learn('other', 'k-12');
    libraries.learn('one', 'k-34');
    libraries.learn('one', 'k-56');
    expect(libraries.redact('k-12 k-34 k-56')).toBe('[redacted] [redacted] [redacted]');
  });
});
