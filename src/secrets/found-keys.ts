/** The keys that come with a listing: kept in memory alone, for as long as a listing has what they open. */
import { Secret } from './credentials.ts';
import { Redactor } from './redactor.ts';

interface Known {
  readonly secret: Secret;
  /** The listings that have it: more than one account may see the same thing. */
  readonly listings: Set<string>;
}

export class FoundKeys {
  readonly #keys = new Map<string, Known>();
  readonly #redactor = new Redactor();

  /** A listing has this key. Returns whether the credential had another key before. */
  learn(credential: string, key: string, listing: string): boolean {
    const known = this.#keys.get(credential);
    known?.listings.add(listing);
    if (known?.secret.reveal() === key) return false;
    const listings = known?.listings ?? new Set([listing]);
    this.#keys.set(credential, { secret: new Secret(key), listings });
    this.#redactor.learn(credential, key);
    return known !== undefined;
  }

  /** A listing no longer has it; it is forgotten with the last one. */
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

  /** How much it holds: what must not grow while libraries come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { keys: this.#keys.size, redacted: this.#redactor.size };
  }

  /** The text without the keys found here, those no longer listed among them: answers that repeat one may still come. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }
}
