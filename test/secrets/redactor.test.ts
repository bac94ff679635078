import { describe, expect, it } from 'vitest';
import { CredentialError, Secret } from '../../src/secrets/credentials.ts';
import { FoundKeys } from '../../src/secrets/found-keys.ts';
import { Redactor } from '../../src/secrets/redactor.ts';

const key = '4f1d9e27-77aa-CANA-b00c-5e1f0d2c3b4a';
const odd = 'a%b "c\\d/e+f=g';
const base64 = (text: string) => Buffer.from(text).toString('base64');

function redactorOf(...keys: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const [at, one] of keys.entries()) redactor.learn(`credential ${at}`, one);
  return redactor;
}

describe('a key in a text', () => {
  const redactor = redactorOf(key, odd);

  it.each<[string, string, string]>([
    ['the key', `no ${key}, sorry`, 'no [redacted], sorry'],
    ['the key twice', `${key} ${key}`, '[redacted] [redacted]'],
    ['the key twice in a row', key + key, '[redacted][redacted]'],
    ['another case', key.toUpperCase(), '[redacted]'],
    ['hexadecimal digits', Buffer.from(key).toString('hex').toUpperCase(), '[redacted]'],
    ['percent-encoded', `?key=${encodeURIComponent(odd)}`, '?key=[redacted]'],
    ['escaped as JSON', `{"key":${JSON.stringify(odd)}}`, '{"key":"[redacted]"}'],
    ['Base64 for URLs', Buffer.from(odd).toString('base64url'), '[redacted]'],
    ['after a letter that changes its length in lower case', `İ${key}İ`, 'İ[redacted]İ'],
    ['another key after its beginning', `${key.slice(0, 9)}${key}`, `${key.slice(0, 9)}[redacted]`],
  ])('is redacted: %s', (_, text, expected) => {
    expect(redactor.redact(text)).toBe(expected);
  });

  it.each(['', 'x', 'xy', 'xyz', 'Basic user:', 'a longer text before: '])(
    'is redacted in Base64 after %j',
    (before) => {
      const text = redactor.redact(base64(`${before}${key} and after`));
      expect(text).toContain('[redacted]');
      // No four bytes of the key in a row are left.
      const left = text.split('[redacted]').map((part) => Buffer.from(part, 'base64').toString('latin1'));
      expect(left[0]?.slice(before.length).length).toBeLessThan(4);
      expect(left.join('')).not.toMatch(/4f1d|3b4a/);
    },
  );

  it('is redacted from the answer to a request with it in the same forms', () => {
    const secret = new Secret(odd);
    const text = `${odd} ${encodeURIComponent(odd)} ${base64(`:${odd}`)} ${JSON.stringify(odd)}`;
    expect(secret.hideIn(text)).toMatch(/^\[redacted\] \[redacted\] .{2}\[redacted\].* "\[redacted\]"$/);
  });

  it('is redacted whole where a text is cut', () => {
    for (let length = 0; length <= key.length + 8; length++) {
      const text = redactor.redact(`no ${key} and ${'x'.repeat(100)}`, length);
      expect(text).toBe(
        `no ${length > 3 ? '[redacted]' : ''}${length > 39 ? ' and xxx' : ''}`.slice(0, text.length),
      );
      expect(text.replace('[redacted]', '')).not.toContain('4');
    }
  });

  it('is the longer one of two that begin alike', () => {
    expect(redactorOf('the-key-', 'the-key-of-all').redact('the-key-of-all')).toBe('[redacted]');
  });

  it('is left if it is so short that it occurs in words', () => {
    expect(redactorOf('key').redact('the key')).toBe('the key');
    expect(redactorOf('k-12').redact('the key k-12 is short')).toBe('the key [redacted] is short');
  });

  it('is unknown before the redactor has learned it', () => {
    expect(new Redactor().redact(key)).toBe(key);
  });
});

describe('a key that is no longer in use', () => {
  const keyOf = (n: number) => `the-key-of-library-${String(n).padStart(4, '0')}`;

  it('is redacted for a while longer, for answers that were under way, whether replaced or deleted', () => {
    const redactor = new Redactor();
    for (const one of ['first', 'second', 'third', 'third']) redactor.learn('account', `${one}-key-1234`);
    redactor.forget('account');
    redactor.forget('account');
    expect(redactor.redact('first-key-1234 second-key-1234 third-key-1234')).toBe(
      '[redacted] [redacted] [redacted]',
    );
  });

  it('is forgotten when 256 others have gone after it', () => {
    const redactor = new Redactor();
    for (let n = 0; n <= 257; n++) redactor.learn('library', keyOf(n));
    expect(redactor.redact(`${keyOf(0)} ${keyOf(1)} ${keyOf(257)}`)).toBe(
      `${keyOf(0)} [redacted] [redacted]`,
    );
  });

  it('does not affect another credential with the same key', () => {
    const redactor = redactorOf(key, key);
    redactor.forget('credential 0');
    for (let n = 0; n <= 300; n++) redactor.learn('library', keyOf(n));
    expect(redactor.redact(key)).toBe('[redacted]');
  });
});

describe('keys that come with listings', () => {
  const listed = (key: string) => ({ key: () => key, isReadOnly: false });
  const ofSeven = (key: string) => new Map([['library/7', listed(key)]]);

  it('are used, in the order of the listings, as long as a listing has them', () => {
    const keys = new FoundKeys(new Redactor());
    expect(keys.learn('one', ofSeven('the-first-key'))).toEqual([]);
    expect(keys.learn('other', ofSeven('the-other-key'))).toEqual([]);
    expect(keys.get('library/7')?.reveal()).toBe('the-first-key');
    expect(keys.learn('one', ofSeven('the-first-key'))).toEqual([]);
    expect(keys.learn('one', ofSeven('the-new-key'))).toEqual(['library/7']);
    expect(keys.learn('one', new Map())).toEqual(['library/7']);
    expect(keys.get('library/7')?.reveal()).toBe('the-other-key');
    expect(keys.learn('other', new Map([['library/8', listed('the-key-of-eight')]]))).toEqual([]);
    expect([keys.get('library/7'), keys.has('library/7')]).toEqual([undefined, false]);
    keys.retain((listing) => listing !== 'other');
    expect(keys.has('library/8')).toBe(false);
  });

  it('are refused by the rules for keys in files', () => {
    const keys = new FoundKeys(new Redactor());
    keys.learn('one', ofSeven('not a key'));
    expect(keys.has('library/7')).toBe(true);
    expect(() => keys.get('library/7')).toThrow(
      new CredentialError('expected a key in the listing; it holds a space'),
    );
    expect(keys.learn('one', ofSeven('not a key'))).toEqual([]);
    expect(keys.learn('one', ofSeven('a-key'))).toEqual(['library/7']);
  });

  it('that a listing lacks are told from those that it does not know', () => {
    const keys = new FoundKeys(new Redactor());
    const none = { key: undefined, isReadOnly: false };
    keys.learn('one', new Map([['library/7', none]]));
    expect(() => keys.get('library/7')).toThrow('it was listed without a key');
    expect([keys.lackOf('library/7'), keys.lackOf('library/8')]).toEqual(['no_key', undefined]);
    expect(keys.learn('one', ofSeven('a-key'))).toEqual(['library/7']);
    expect(keys.lackOf('library/7')).toBeUndefined();
  });
});
