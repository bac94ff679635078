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

/** So many keys that are no longer in use are still taken out. */
const maxForgotten = 256;

/** Adds to a count, and drops what nothing counts any more. */
function add(counts: Map<string, number>, text: string, change: number): void {
  const count = (counts.get(text) ?? 0) + change;
  if (count > 0) counts.set(text, count);
  else counts.delete(text);
}

export class Redactor {
  /** By the credential: the key in use and the one before, whose answers may still come. */
  readonly #keys = new Map<string, readonly string[]>();
  /** Keys of credentials that are gone, the oldest first: their answers may still come, too. */
  readonly #forgotten: string[] = [];
  /** The runs of all keys in all forms, in lower case, and how often each occurs. */
  readonly #runs = new Map<string, number>();
  /** Forms that are shorter than a run, and how often each occurs. */
  readonly #short = new Map<string, number>();

  /** From now on this key of the credential is taken out, and the one before it. */
  learn(credential: string, key: string): void {
    const [current, before] = this.#keys.get(credential) ?? [];
    if (current === key) return;
    this.#keys.set(credential, current === undefined ? [key] : [key, current]);
    this.#count(key, 1);
    if (before !== undefined) this.#count(before, -1);
  }

  /** The credential is no longer in use. Its keys are still taken out until many others have gone after them. */
  forget(credential: string): void {
    this.#forgotten.push(...(this.#keys.get(credential) ?? []));
    this.#keys.delete(credential);
    while (this.#forgotten.length > maxForgotten) this.#count(this.#forgotten.shift() ?? '', -1);
  }

  /** How many keys are taken out, those that are no longer in use among them. */
  get size(): number {
    let keys = this.#forgotten.length;
    for (const known of this.#keys.values()) keys += known.length;
    return keys;
  }

  #count(key: string, change: number): void {
    for (const form of formsOf(key).map(lowerCased)) {
      for (let at = 0; at + runLength <= form.length; at++)
        add(this.#runs, form.slice(at, at + runLength), change);
      // Three characters or fewer occur in ordinary words; taking them out would only garble the text.
      if (form.length > 3 && form.length < runLength) add(this.#short, form, change);
    }
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
    for (const form of this.#short.keys())
      if (plain.startsWith(form, at)) end = Math.max(end, at + form.length);
    return end;
  }
}
