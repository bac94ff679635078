/**
 * Removes keys, whole or in part, from text that comes from outside, also in the usual encodings. It looks for runs of
 * characters that occur in a key.
 */

export const redacted = '[redacted]';

/** This many characters in a row that also occur in a key count as part of it. */
const runLength = 8;

/** Shorter forms of a key occur in ordinary words. */
const shortestForm = 4;

/** Of ASCII letters only, so that all offsets stay the same. */
function lowerCased(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The forms in which a key may come back. Base64 of a key depends on its offset in the encoded text. */
function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    // The characters at both ends also depend on what is next to the key.
    const own = (text: string) => text.slice(before === 0 ? 0 : before + 1).replace(/.?=+$/, '');
    return [own(padded.toString('base64')), own(padded.toString('base64url'))];
  });
  return [key, encodeURIComponent(key), bytes.toString('hex'), ...base64];
}

/** How many keys of deleted credentials are still redacted. */
const maxForgotten = 256;

function add(counts: Map<string, number>, text: string, change: number): void {
  const count = (counts.get(text) ?? 0) + change;
  if (count > 0) counts.set(text, count);
  else counts.delete(text);
}

export class Redactor {
  /** By credential: the current key and the previous one, whose answers may still come. */
  readonly #keys = new Map<string, readonly string[]>();
  /** Keys of deleted credentials, the oldest first: their answers may still come too. */
  readonly #forgotten: string[] = [];
  /** The runs of all forms of all keys, in lower case, and how often each occurs. A form shorter than a run is one by itself. */
  readonly #runs = new Map<string, number>();

  /** From now on, redacts this key and the previous one of the credential. */
  learn(credential: string, key: string): void {
    const [current, before] = this.#keys.get(credential) ?? [];
    if (current === key) return;
    this.#keys.set(credential, current === undefined ? [key] : [key, current]);
    this.#count(key, 1);
    if (before !== undefined) this.#count(before, -1);
  }

  /** The credential was deleted. Its keys are still redacted while fewer than 256 keys were deleted after it. */
  forget(credential: string): void {
    this.#forgotten.push(...(this.#keys.get(credential) ?? []));
    this.#keys.delete(credential);
    while (this.#forgotten.length > maxForgotten) this.#count(this.#forgotten.shift() ?? '', -1);
  }

  get size(): number {
    let keys = this.#forgotten.length;
    for (const known of this.#keys.values()) keys += known.length;
    return keys;
  }

  #count(key: string, change: number): void {
    for (const form of formsOf(key).map(lowerCased)) {
      const length = Math.min(runLength, form.length);
      if (length < shortestForm) continue;
      for (let at = 0; at + length <= form.length; at++) add(this.#runs, form.slice(at, at + length), change);
    }
  }

  /** Replaces every part of a key with `[redacted]`. */
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

  /** Where the part of a key that begins at this offset ends; the offset itself if none begins there. */
  #endOfKey(plain: string, at: number): number {
    let end = at;
    for (let next = at; next <= end && this.#runs.has(plain.slice(next, next + runLength)); next++)
      end = next + runLength;
    for (let length = shortestForm; length < runLength; length++)
      if (this.#runs.has(plain.slice(at, at + length))) end = Math.max(end, at + length);
    return end;
  }
}
