/** Keys that come with listings, kept in memory only, and only as long as a listing has them. */
import { Secret } from './credentials.ts';
import { Redactor } from './redactor.ts';

export class FoundKeys {
  /** By credential and listing: two accounts may have different keys for the same thing. */
  readonly #keys = new Map<string, Map<string, Secret>>();
  readonly #redactor = new Redactor();

  /** Returns whether the key in use has changed. If several listings have one, the first of them counts. */
  learn(credential: string, key: string, listing: string): boolean {
    const known = this.#keys.get(credential) ?? new Map<string, Secret>();
    const before = this.get(credential)?.reveal();
    if (known.get(listing)?.reveal() !== key) known.set(listing, new Secret(key));
    this.#keys.set(credential, known);
    this.#redactor.learn(`${credential} ${listing}`, key);
    return before !== undefined && before !== this.get(credential)?.reveal();
  }

  /** Forgets the listing's other keys. Returns the credentials whose key has changed. */
  retain(credentials: ReadonlySet<string>, listing: string): readonly string[] {
    const changed: string[] = [];
    for (const [credential, known] of this.#keys) {
      const before = this.get(credential)?.reveal();
      if (credentials.has(credential) || !known.delete(listing)) continue;
      this.#redactor.forget(`${credential} ${listing}`);
      if (known.size === 0) this.#keys.delete(credential);
      else if (this.get(credential)?.reveal() !== before) changed.push(credential);
    }
    return changed;
  }

  get(credential: string): Secret | undefined {
    return this.#keys.get(credential)?.values().next().value;
  }

  /** For tests: what must not grow while libraries come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { keys: this.#keys.size, redacted: this.#redactor.size };
  }

  /** Also removes keys that are no longer listed: answers that repeat one may still come. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }
}
