/** The keys that come with a listing: kept in memory alone, for as long as what they open is listed. */
import { Secret } from './credentials.ts';
import { Redactor } from './redactor.ts';

export class FoundKeys {
  readonly #keys = new Map<string, Secret>();
  readonly #redactor = new Redactor();

  /** Returns whether the credential had another key before. */
  learn(credential: string, key: string): boolean {
    const known = this.#keys.get(credential)?.reveal();
    if (known === key) return false;
    this.#keys.set(credential, new Secret(key));
    this.#redactor.learn(credential, key);
    return known !== undefined;
  }

  forget(credential: string): void {
    this.#keys.delete(credential);
    this.#redactor.forget(credential);
  }

  get(credential: string): Secret | undefined {
    return this.#keys.get(credential);
  }

  /** The text without the keys found here, those no longer listed among them: answers that repeat one may still come. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }
}
