/** The keys that listings return. They are kept in memory only, and only while a listing still has them. */
import { Secret } from './credentials.ts';
import { Redactor } from './redactor.ts';

interface Known {
  readonly secret: Secret;
  /** The listings that have it: several accounts may see the same thing. */
  readonly listings: Set<string>;
}

export class FoundKeys {
  readonly #keys = new Map<string, Known>();
  readonly #redactor = new Redactor();

  /** Adds a key from a listing. Returns whether the credential had a different key before. */
  learn(credential: string, key: string, listing: string): boolean {
    const known = this.#keys.get(credential);
    known?.listings.add(listing);
    if (known?.secret.reveal() === key) return false;
    const listings = known?.listings ?? new Set([listing]);
    this.#keys.set(credential, { secret: new Secret(key), listings });
    this.#redactor.learn(credential, key);
    return known !== undefined;
  }

  /** Forgets the key once no listing has it any more. */
  forget(credential: string, listing: string): void {
    const known = this.#keys.get(credential);
    known?.listings.delete(listing);
    if (!known || known.listings.size > 0) return;
    this.#keys.delete(credential);
    this.#redactor.forget(credential);
  }

  get(credential: string): Secret | undefined {
    return this.#keys.get(credential)?.secret;
  }

  /** For tests: nothing here may grow while libraries come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { keys: this.#keys.size, redacted: this.#redactor.size };
  }

  /** Removes these keys from a text, including those no longer listed, as answers that repeat one may still arrive. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }
}
