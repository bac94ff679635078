/** Keys from listings, kept in memory only, and only as long as a listing has them, or until it was read at its new address. */
import { CredentialError, type KeyOrProblem, parseKey, Secret } from './credentials.ts';
import type { Redactor } from './redactor.ts';

/** The key that a listing has for one thing. */
export interface FoundKey {
  /** Undefined where it has none that would do. */
  readonly key: (() => string) | undefined;
  /** Whether it only has one that reads. */
  readonly isReadOnly: boolean;
}

/** A listing has no key that would do. */
export class NoKeyError extends CredentialError {
  readonly reason: 'no_key' | 'read_only_key';

  constructor({ isReadOnly }: FoundKey) {
    super(isReadOnly ? 'it was listed with a read-only key alone' : 'it was listed without a key');
    this.reason = isReadOnly ? 'read_only_key' : 'no_key';
  }
}

function parseFound(listed: FoundKey): KeyOrProblem {
  if (!listed.key) return new NoKeyError(listed);
  try {
    return parseKey(listed.key(), 'in the listing');
  } catch (error) {
    if (error instanceof CredentialError) return error;
    throw error;
  }
}

/** Whether a key is in use in place of another one. */
function isReplaced(before: KeyOrProblem | undefined, after: KeyOrProblem | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const textOf = (one: KeyOrProblem) => (one instanceof CredentialError ? one.message : one.reveal());
  return textOf(before) !== textOf(after);
}

export class FoundKeys {
  /** By credential and listing: two accounts may have different keys for the same thing. */
  readonly #keys = new Map<string, Map<string, KeyOrProblem>>();
  /** By listing: the credentials that it has a key for. */
  readonly #credentials = new Map<string, Set<string>>();
  readonly #redactor: Redactor;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /**
   * Keeps the keys that a listing has now, by credential, and forgets those that only it had before. Each must be valid as in a
   * key file. If several listings have one for a credential, the first is in use, until another of them that had the same has a newer one, or it fails. Returns the credentials whose key in use has
   * changed.
   *
   * @param isWhole false if the listing may have more keys than these: then none is forgotten
   * @param isFailing whether a listing fails, so that its keys may be old
   */
  learn(
    listing: string,
    keys: ReadonlyMap<string, FoundKey>,
    isWhole = true,
    isFailing: (listing: string) => boolean = () => false,
  ): readonly string[] {
    const changed: string[] = [];
    const had = this.#credentials.get(listing) ?? [];
    for (const credential of isWhole ? new Set([...had, ...keys.keys()]) : keys.keys()) {
      const listed = keys.get(credential);
      const known = this.#keys.get(credential)?.get(listing);
      const isSame = known instanceof Secret && known.reveal() === listed?.key?.();
      if (isSame && !isFailing(this.#firstOf(credential) ?? listing)) continue;
      const before = this.#inUse(credential);
      if (listed === undefined) this.#forget(credential, listing);
      else this.#keep(credential, listing, listed, isFailing);
      if (isReplaced(before, this.#inUse(credential))) changed.push(credential);
    }
    return changed;
  }

  /**
   * Forgets what all other listings had. Returns the credentials whose key in use has changed.
   *
   * @param mayStay whether a listing may keep a key where no listing that is wanted has one; the first such listing does
   */
  retain(isWanted: (listing: string) => boolean, mayStay: (listing: string) => boolean): readonly string[] {
    const changed: string[] = [];
    for (const [credential, found] of this.#keys) {
      const listings = [...found.keys()];
      const staying = listings.some(isWanted) ? undefined : listings.find(mayStay);
      const before = this.#inUse(credential);
      for (const listing of listings)
        if (!isWanted(listing) && listing !== staying) this.#forget(credential, listing);
      if (isReplaced(before, this.#inUse(credential))) changed.push(credential);
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

  /** Why the listings have no key for a credential; undefined where they have one. */
  noKeyReason(credential: string): NoKeyError['reason'] | undefined {
    const found = this.#inUse(credential);
    return found instanceof NoKeyError ? found.reason : undefined;
  }

  #keep(credential: string, listing: string, key: FoundKey, isFailing: (listing: string) => boolean): void {
    const known = this.#keys.get(credential) ?? new Map<string, KeyOrProblem>();
    const found = parseFound(key);
    const [before, first, inUse] = [known.get(listing), this.#firstOf(credential), this.#inUse(credential)];
    // Where several listings had the same key, and one has another now, those of the others are older.
    const hadSame = before instanceof Secret && inUse instanceof Secret && before.isSameAs(inUse);
    const isOld = first !== undefined && isFailing(first) && !key.isReadOnly;
    const isNewest = found instanceof Secret && (hadSame || isOld);
    known.set(listing, found);
    this.#keys.set(credential, isNewest ? new Map([[listing, found], ...known]) : known);
    this.#credentials.set(listing, (this.#credentials.get(listing) ?? new Set()).add(credential));
    const name = `${credential} ${listing}`;
    if (found instanceof CredentialError) this.#redactor.forget(name);
    else this.#redactor.learn(name, found.reveal());
  }

  #forget(credential: string, listing: string): void {
    const known = this.#keys.get(credential);
    if (!known?.delete(listing)) return;
    this.#redactor.forget(`${credential} ${listing}`);
    if (known.size === 0) this.#keys.delete(credential);
    const credentials = this.#credentials.get(listing);
    credentials?.delete(credential);
    if (credentials?.size === 0) this.#credentials.delete(listing);
  }

  /** The listing whose key is in use: the first that has one. */
  #firstOf(credential: string): string | undefined {
    let first: string | undefined;
    for (const [listing, found] of this.#keys.get(credential) ?? []) {
      if (found instanceof Secret) return listing;
      first ??= listing;
    }
    return first;
  }

  #inUse(credential: string): KeyOrProblem | undefined {
    return this.#keys.get(credential)?.get(this.#firstOf(credential) ?? '');
  }
}
