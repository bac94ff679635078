/**
 * Takes keys out of texts from outside: whole, in part, and in the usual encodings. A key is recognised by the runs of
 * characters that it is made of.
 */

export const redacted = '[redacted]';

/** So many characters in a row shared with a key count as a part of it. */
const runLength = 8;

/** ASCII alone, so that every character keeps its offset. */
function lowerCased(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The key as it may come back. In Base64 it looks different depending on its offset in the text. */
function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    // The characters at both ends also depend on what stands beside the key.
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

  /** From now on this key of the credential is taken out, and the one before it. */
  learn(credential: string, key: string): void {
    const [current] = this.#keys.get(credential) ?? [];
    if (current === key) return;
    this.#keys.set(credential, current === undefined ? [key] : [key, current]);
    const forms = [...this.#keys.values()].flat().flatMap(formsOf).map(lowerCased);
    const runs = new Set<string>();
    for (const form of forms)
      for (let at = 0; at + runLength <= form.length; at++) runs.add(form.slice(at, at + runLength));
    this.#runs = runs;
    // Three characters or fewer occur in ordinary words; taking them out would only garble the text.
    this.#short = forms.filter(({ length }) => length > 3 && length < runLength);
  }

  /** The text with `[redacted]` in place of every part of a key. */
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

  /** The end of the part of a key that begins at the offset; the offset itself if none does. */
  #endOfKey(plain: string, at: number): number {
    let end = at;
    for (let next = at; next <= end && this.#runs.has(plain.slice(next, next + runLength)); next++)
      end = next + runLength;
    const short = this.#short.find((form) => plain.startsWith(form, at));
    return Math.max(end, at + (short?.length ?? 0));
  }
}
