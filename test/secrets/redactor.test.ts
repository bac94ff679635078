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
    ['Base64', `Basic ${base64(key)}`, 'Basic [redacted]'],
    ['Base64 for URLs', Buffer.from(odd).toString('base64url'), '[redacted]'],
    ['after a letter that changes its length in lower case', `İ${key}İ`, 'İ[redacted]İ'],
    ['another key after its beginning', `${key.slice(0, 9)}${key}`, `${key.slice(0, 9)}[redacted]`],
  ])('is redacted: %s', (_, text, expected) => {
    expect(redactor.redact(text)).toBe(expected);
  });

  it('is redacted from the answer to a request with it in the same forms', () => {
    const secret = new Secret(odd);
    const text = `${odd.toUpperCase()} ${encodeURIComponent(odd)} ${base64(odd).replace(/=+$/, '')} ${JSON.stringify(odd)}`;
    expect(secret.hideIn(text)).toBe('[redacted] [redacted] [redacted] "[redacted]"');
    expect(new Secret('key').hideIn('the key')).toBe('the key');
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

describe('a key that was replaced', () => {
  const hourMs = 3_600_000;
  /** A redactor whose time a test sets, in hours. */
  function redactorAt() {
    const clock = { hours: 0 };
    return { clock, redactor: new Redactor(() => clock.hours * hourMs) };
  }

  it('is redacted for another 24 hours, whether replaced or deleted', () => {
    const { clock, redactor } = redactorAt();
    redactor.learn('account', 'first-key-1234');
    clock.hours = 5;
    redactor.learn('account', 'second-key-1234');
    redactor.learn('account', 'second-key-1234');
    clock.hours = 28.9;
    redactor.forget('account');
    redactor.forget('account');
    const text = 'first-key-1234 second-key-1234';
    expect(redactor.redact(text)).toBe('[redacted] [redacted]');
    clock.hours = 29;
    expect(redactor.redact(text)).toBe('first-key-1234 [redacted]');
    clock.hours = 53;
    expect(redactor.redact(text)).toBe(text);
  });

  it('is redacted as long as another credential has it, and when it comes back', () => {
    const { clock, redactor } = redactorAt();
    for (const credential of ['one', 'two']) redactor.learn(credential, key);
    redactor.forget('one');
    clock.hours = 25;
    expect(redactor.redact(key)).toBe('[redacted]');
    redactor.forget('two');
    clock.hours = 40;
    redactor.learn('one', key);
    clock.hours = 50;
    expect(redactor.redact(key)).toBe('[redacted]');
    redactor.forget('one');
    clock.hours = 73;
    expect(redactor.redact(key)).toBe('[redacted]');
  });

  it('leaves another key with the same beginning redacted when its time is over', () => {
    const { clock, redactor } = redactorAt();
    redactor.learn('one', 'key-of-library-1');
    redactor.learn('two', 'key-of-library-2');
    redactor.forget('one');
    clock.hours = 24;
    expect(redactor.redact('key-of-library-1 key-of-library-2')).toBe('key-of-library-1 [redacted]');
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
    keys.retain(
      (listing) => listing !== 'other',
      () => false,
    );
    expect(keys.has('library/8')).toBe(false);
  });

  it('stay with a listing that may keep them as long as no other one has them', () => {
    const keys = new FoundKeys(new Redactor());
    keys.learn('one', ofSeven('the-first-key'));
    keys.learn('two', new Map([...ofSeven('the-second-key'), ['library/8', listed('the-key-of-eight')]]));
    const retain = (isWanted: (listing: string) => boolean) => keys.retain(isWanted, () => true);
    expect(retain(() => false)).toEqual([]);
    expect([keys.get('library/7')?.reveal(), keys.has('library/8')]).toEqual(['the-first-key', true]);
    keys.learn('three', ofSeven('the-third-key'));
    expect(retain((listing) => listing === 'three')).toEqual(['library/7']);
    expect([keys.get('library/7')?.reveal(), keys.has('library/8')]).toEqual(['the-third-key', true]);
    expect(
      keys.retain(
        (listing) => listing === 'three',
        () => false,
      ),
    ).toEqual([]);
    expect([keys.has('library/7'), keys.has('library/8')]).toEqual([true, false]);
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
    expect([keys.noKeyReason('library/7'), keys.noKeyReason('library/8')]).toEqual(['no_key', undefined]);
    expect(keys.learn('one', ofSeven('a-key'))).toEqual(['library/7']);
    expect(keys.noKeyReason('library/7')).toBeUndefined();
  });
});
