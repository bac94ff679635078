/** Hides keys in text, as they are and in the encodings in which an answer may repeat them. */

export const redacted = '[redacted]';

/** The shortest form that is hidden: shorter ones occur in ordinary words. */
const shortestForm = 4;

/** How many keys that are no longer in use are still hidden: answers to requests with them may still arrive. */
const maxFormerKeys = 256;

/** The forms in which an answer may contain a key. key: visible ASCII. */
export function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key);
  // Base64 of a key depends on its offset in the encoded text.
  const base64 = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    // The characters at both ends also depend on what is next to the key.
    const own = (text: string) => text.slice(before === 0 ? 0 : before + 1).replace(/.?=+$/, '');
    return [own(padded.toString('base64')), own(padded.toString('base64url'))];
  });
  const escaped = JSON.stringify(key).slice(1, -1);
  const forms = new Set([key, escaped, encodeURIComponent(key), bytes.toString('hex'), ...base64]);
  return [...forms].filter(({ length }) => length >= shortestForm);
}

/** The text in lower case, with the same offsets: U+0130 is the only letter that would become longer. */
function lowerCased(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

/** The forms of keys in lower case, by the characters that they begin with, and the length of the longest. */
function indexOf(keys: ReadonlySet<string>) {
  const byStart = new Map<string, string[]>();
  let longest = 0;
  for (const form of [...keys].flatMap(formsOf).map(lowerCased)) {
    const start = form.slice(0, shortestForm);
    byStart.set(start, [...(byStart.get(start) ?? []), form]);
    longest = Math.max(longest, form.length);
  }
  return { byStart, longest };
}

export class Redactor {
  /** By credential. */
  readonly #keys = new Map<string, string>();
  /** The oldest first. */
  readonly #former = new Set<string>();
  /** Of all of these; undefined if they have changed since. */
  #forms: ReturnType<typeof indexOf> | undefined;

  /** Hides the credential's key from now on; its previous key becomes a former one. */
  learn(credential: string, key: string): void {
    if (this.#keys.get(credential) === key) return;
    this.forget(credential);
    this.#keys.set(credential, key);
    this.#forms = undefined;
  }

  /** The credential's key is no longer in use. It stays hidden until 256 others have become former keys after it. */
  forget(credential: string): void {
    const key = this.#keys.get(credential);
    if (key === undefined) return;
    this.#keys.delete(credential);
    this.#former.delete(key);
    this.#former.add(key);
    const [oldest = ''] = this.#former;
    if (this.#former.size > maxFormerKeys) this.#former.delete(oldest);
    this.#forms = undefined;
  }

  /**
   * Replaces each key with `[redacted]`, in any case of its letters.
   *
   * @param maxLength where the text is truncated; a key that begins before and ends behind is replaced as a whole
   */
  redact(text: string, maxLength = text.length): string {
    this.#forms ??= indexOf(new Set([...this.#keys.values(), ...this.#former]));
    const { byStart, longest } = this.#forms;
    const plain = lowerCased(text.slice(0, maxLength + longest));
    let result = '';
    let kept = 0;
    for (let at = 0; at < maxLength && at < plain.length; at++) {
      const forms = byStart.get(plain.slice(at, at + shortestForm)) ?? [];
      const length = forms.reduce(
        (most, form) => (form.length > most && plain.startsWith(form, at) ? form.length : most),
        0,
      );
      if (length === 0) continue;
      result += text.slice(kept, at) + redacted;
      kept = at + length;
      at = kept - 1;
    }
    return result + text.slice(kept, Math.max(kept, maxLength));
  }
}
