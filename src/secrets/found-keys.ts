/** The keys that come with listings. They are kept in memory alone, as long as a listing has what they open. */
import { Secret } from './credentials.ts';
import { Redactor } from './redactor.ts';

export class FoundKeys {
  /** By credential, the key from each listing that has it: two accounts may have different keys for the same thing. */
  readonly #keys = new Map<string, Map<string, Secret>>();
  readonly #redactor = new Redactor();

  /** A listing has this key. Returns whether the key in use has changed. The key from the listing that had it first is used. */
  learn(credential: string, key: string, listing: string): boolean {
    const known = this.#keys.get(credential) ?? new Map<string, Secret>();
    const before = this.get(credential)?.reveal();
    if (known.get(listing)?.reveal() !== key) known.set(listing, new Secret(key));
    this.#keys.set(credential, known);
    this.#redactor.learn(`${credential} ${listing}`, key);
    return before !== undefined && before !== this.get(credential)?.reveal();
  }

  /** These are all the keys that a listing has now. Returns the credentials whose key has changed. */
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

  /** Sizes by name: what must not grow while libraries come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { keys: this.#keys.size, redacted: this.#redactor.size };
  }

  /** The text without the keys found here, those no longer listed among them: answers that repeat one may still come. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }
}
