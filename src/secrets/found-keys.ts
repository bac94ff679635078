/** Keys from listings, kept in memory only, and only as long as a listing has them. */
import { CredentialError, parseKey, type Secret } from './credentials.ts';
import type { Redactor } from './redactor.ts';

/** A key that can be used, or why it cannot. */
type KeyOrProblem = Secret | CredentialError;

function parseFound(key: string): KeyOrProblem {
  try {
    return parseKey(key, 'in the listing');
  } catch (error) {
    if (error instanceof CredentialError) return error;
    throw error;
  }
}

function isSame(a: KeyOrProblem | undefined, b: KeyOrProblem | undefined): boolean {
  const textOf = (one: KeyOrProblem | undefined) =>
    one instanceof CredentialError ? one.message : one?.reveal();
  return textOf(a) === textOf(b);
}

export class FoundKeys {
  /** By credential and listing: two accounts may have different keys for the same thing. */
  readonly #keys = new Map<string, Map<string, KeyOrProblem>>();
  readonly #redactor: Redactor;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /**
   * Keeps the key that a listing has for a credential; it must be valid as in a key file. If several listings have one, the first
   * is in use. Returns whether the key in use has changed.
   */
  learn(credential: string, key: string, listing: string): boolean {
    const known = this.#keys.get(credential) ?? new Map<string, KeyOrProblem>();
    const before = this.#inUse(credential);
    const found = parseFound(key);
    known.set(listing, found);
    this.#keys.set(credential, known);
    const name = `${credential} ${listing}`;
    if (found instanceof CredentialError) this.#redactor.forget(name);
    else this.#redactor.learn(name, found.reveal());
    return before !== undefined && !isSame(before, this.#inUse(credential));
  }

  /** Forgets what the listing had for all other credentials. Returns the credentials for which another listing's key is now used. */
  retain(credentials: ReadonlySet<string>, listing: string): readonly string[] {
    const changed: string[] = [];
    for (const [credential, known] of this.#keys) {
      const before = this.#inUse(credential);
      if (credentials.has(credential) || !known.delete(listing)) continue;
      this.#redactor.forget(`${credential} ${listing}`);
      if (known.size === 0) this.#keys.delete(credential);
      else if (!isSame(before, this.#inUse(credential))) changed.push(credential);
    }
    return changed;
  }

  /** The key in use; undefined if no listing has one. Throws a `CredentialError` if it is not valid. */
  get(credential: string): Secret | undefined {
    const found = this.#inUse(credential);
    if (found instanceof CredentialError) throw found;
    return found;
  }

  /** The id of the key in use: empty if it is not valid, undefined if no listing has one. */
  idOf(credential: string): string | undefined {
    const found = this.#inUse(credential);
    return found instanceof CredentialError ? '' : found?.id;
  }

  has(credential: string): boolean {
    return this.#keys.has(credential);
  }

  #inUse(credential: string): KeyOrProblem | undefined {
    return this.#keys.get(credential)?.values().next().value;
  }
}
