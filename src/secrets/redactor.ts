/**
 * Takes keys out of texts that others wrote: whole, in part, and in the usual codings. It knows the keys by the runs of
 * characters that they are made of, and nothing of where texts come from or go to.
 */

export const redacted = '[redacted]';

/** A text that shares so many characters in a row with a key gives some of it away. */
const runLength = 8;

/** ASCII alone, so that every character keeps its place. */
function lowerCased(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The key as it may come back. In Base64 it looks different by where in a text it began. */
function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    // The characters at both ends are made of what stands beside the key, too.
    const own = (text: string) => text.slice(before === 0 ? 0 : before + 1).replace(/.?=+$/, '');
    return [own(padded.toString('base64')), own(padded.toString('base64url'))];
  });
  return [key, encodeURIComponent(key), bytes.toString('hex'), ...base64];
}

export class Redactor {
  /** By the credential: the key in use and the one before, whose answers may still come. */
  readonly #keys = new Map<string, readonly string[]>();
  /** Of all keys in all forms, in lower case. */
  #runs: ReadonlySet<string> = new Set();
  /** Forms that are shorter than a run. */
  #short: readonly string[] = [];

  /** From now on texts must not hold this key of the credential, nor the one before it. */
  learn(credential: string, key: string): void {
    const [current] = this.#keys.get(credential) ?? [];
    if (current === key) return;
    this.#keys.set(credential, current === undefined ? [key] : [key, current]);
    const forms = [...this.#keys.values()].flat().flatMap(formsOf).map(lowerCased);
    const runs = new Set<string>();
    for (const form of forms)
      for (let at = 0; at + runLength <= form.length; at++) runs.add(form.slice(at, at + runLength));
    this.#runs = runs;
    // Three characters or fewer are in every other word: to take them out would only spoil the texts.
    this.#short = forms.filter(({ length }) => length > 3 && length < runLength);
  }

  /** The text with `[redacted]` in place of whatever is of a key. */
  redact(text: string): string {
    const plain = lowerCased(text);
    let result = '';
    let kept = 0;
    for (let at = 0; at < plain.length; ) {
      const end = this.#endOfKey(plain, at);
      if (end === at) {
        at++;
      } else {
        result += text.slice(kept, at) + redacted;
        kept = at = end;
      }
    }
    return result + text.slice(kept);
  }

  /** Where the part of a key that begins here ends; here, where none does. */
  #endOfKey(plain: string, at: number): number {
    let end = at;
    for (let next = at; next <= end && this.#runs.has(plain.slice(next, next + runLength)); next++)
      end = next + runLength;
    const short = this.#short.find((form) => plain.startsWith(form, at));
    return Math.max(end, at + (short?.length ?? 0));
  }
}
