/** Hides keys in text, as they are and in the encodings in which an answer may repeat them. */

export const redacted = '[redacted]';

/** The shortest form that is hidden: shorter ones occur in ordinary words. */
const shortestForm = 4;

/** How long a key that was replaced is still hidden: an answer to a request with it may still arrive, and a line may wait. */
const formerMs = 24 * 3_600_000;

/** The forms in which a text may contain a key, the longest first. key: visible ASCII. */
function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key);
  const escaped = JSON.stringify(key).slice(1, -1);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  const forms = [
    key,
    escaped,
    encodeURIComponent(key),
    bytes.toString('hex'),
    base64,
    bytes.toString('base64url'),
  ];
  return [...new Set(forms)]
    .filter(({ length }) => length >= shortestForm)
    .toSorted((a, b) => b.length - a.length);
}

/** Matches a key in each of its forms, in any case of its letters. Undefined for a key that is too short to be hidden. */
export function patternOf(key: string): RegExp | undefined {
  const forms = formsOf(key).map((form) => form.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return forms.length === 0 ? undefined : new RegExp(forms.join('|'), 'gi');
}

/** The text in lower case, with the same offsets: U+0130 is the only letter that would become longer. */
function lowerCased(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

/** The place of a form in the filter, by its first four characters. */
function placeOf(text: string, at: number): number {
  const [a, b] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
  const [c, d] = [text.charCodeAt(at + 2), text.charCodeAt(at + 3)];
  return ((a * 31 + b) * 961 + c * 31 + d) & 0xffff;
}

/** All keys in use, and those that were replaced within a day. */
export class Redactor {
  readonly #now: () => number;
  /** By credential. */
  readonly #keys = new Map<string, string>();
  /** How many credentials have a key. */
  readonly #uses = new Map<string, number>();
  /** Since when no credential has a key that one had, the first that was replaced first. Unix time. */
  readonly #former = new Map<string, number>();
  /** The forms of all of them in lower case, by their first four characters, the longest first. */
  readonly #forms = new Map<string, readonly string[]>();
  /** Whether a form may begin like this. It spares most characters of a text the slower look into `#forms`. */
  readonly #mayBegin = new Uint8Array(0x1_0000);

  /** now: a clock that does not jump. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Hides the credential's key from this moment on, and its previous key for another 24 hours. */
  learn(credential: string, key: string): void {
    if (this.#keys.get(credential) === key) return;
    this.forget(credential);
    this.#keys.set(credential, key);
    const uses = this.#uses.get(key) ?? 0;
    this.#uses.set(key, uses + 1);
    if (uses === 0 && !this.#former.delete(key)) this.#add(key);
  }

  /** The credential has no key any more. The one that it had stays hidden for 24 hours. */
  forget(credential: string): void {
    const key = this.#keys.get(credential);
    if (key === undefined) return;
    this.#keys.delete(credential);
    const left = (this.#uses.get(key) ?? 0) - 1;
    if (left > 0) return void this.#uses.set(key, left);
    this.#uses.delete(key);
    this.#former.set(key, this.#now());
  }

  /** Replaces each key with `[redacted]`, in any case of its letters. */
  redact(text: string): string {
    this.#dropFormer();
    const plain = lowerCased(text);
    let result = '';
    let copied = 0;
    for (let at = 0; at + shortestForm <= plain.length; at++) {
      if (this.#mayBegin[placeOf(plain, at)] === 0) continue;
      const forms = this.#forms.get(plain.slice(at, at + shortestForm));
      const form = forms?.find((one) => plain.startsWith(one, at));
      if (form === undefined) continue;
      result += text.slice(copied, at) + redacted;
      copied = at + form.length;
      at = copied - 1;
    }
    return result + text.slice(copied);
  }

  #add(key: string): void {
    for (const form of formsOf(key).map(lowerCased)) {
      const start = form.slice(0, shortestForm);
      const forms = [...(this.#forms.get(start) ?? []), form].toSorted((a, b) => b.length - a.length);
      this.#forms.set(start, forms);
      this.#mayBegin[placeOf(form, 0)] = 1;
    }
  }

  #remove(key: string): void {
    for (const form of formsOf(key).map(lowerCased)) {
      const start = form.slice(0, shortestForm);
      const forms = this.#forms.get(start) ?? [];
      // Another key may have the same form.
      const at = forms.indexOf(form);
      const left = forms.filter((_, place) => place !== at);
      if (left.length > 0) this.#forms.set(start, left);
      else this.#forms.delete(start);
    }
  }

  #dropFormer(): void {
    const untilMs = this.#now() - formerMs;
    for (const [key, sinceMs] of this.#former) {
      if (sinceMs > untilMs) return;
      this.#former.delete(key);
      this.#remove(key);
    }
  }
}
