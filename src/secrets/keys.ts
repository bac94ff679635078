/**
 * The one owner of keys: those of the configuration and those that come with listings. Requests take them from memory. Key files
 * are read again when somebody asks for a check: every ten seconds, and after a key was refused.
 */
import { CredentialError, type Credentials, type KeyOrProblem, Secret } from './credentials.ts';
import { FoundKeys } from './found-keys.ts';
import type { Redactor } from './redactor.ts';
import { type SameKey, sameKeys } from './same-keys.ts';

type Source = Pick<Credentials, 'readAll' | 'describe'>;

export interface KeysOptions {
  /** These credentials of the configuration have other keys, which are in use from now on. What changes at once is told at once. */
  readonly onChanged: (credentials: readonly string[]) => void;
  /** Learns every key. */
  readonly redactor: Redactor;
  /** Called with why a key can no longer be read (the last readable one stays in use), and without when it can again. */
  readonly onProblem: (credential: string, problem: string | undefined) => void;
}

export class Keys {
  readonly found: FoundKeys;
  readonly #options: KeysOptions;
  #credentials: Source | undefined;
  /** By credential: the last readable key, or why there never was one. */
  #keys = new Map<string, KeyOrProblem>();
  /** Why the last readable key is still in use, by credential. */
  readonly #problems = new Map<string, string>();
  #lastCheck: Promise<void> = Promise.resolve();
  /** The check that has not begun yet. */
  #nextCheck: Promise<void> | undefined;

  constructor(options: KeysOptions) {
    this.#options = options;
    this.found = new FoundKeys(options.redactor);
  }

  /** Switches to the credentials of another configuration, with the keys that were read for it. */
  use(credentials: Source, keys: ReadonlyMap<string, KeyOrProblem>): void {
    this.#credentials = credentials;
    for (const name of this.#keys.keys())
      if (!(keys.get(name) instanceof Secret)) this.#options.redactor.forget(name);
    this.#keys = new Map();
    this.#problems.clear();
    for (const [name, key] of keys) this.#keep(name, key);
  }

  /** The key of a credential of the configuration. Throws a `CredentialError` if there never was one. */
  get(credential: string): Secret {
    const key =
      this.#keys.get(credential) ?? new CredentialError(`the credential ${credential} is not defined`);
    if (key instanceof CredentialError) throw key;
    return key;
  }

  /** Differs for different keys, and does not reveal them. Empty if there is none. */
  idOf(credential: string): string {
    const found = this.found.idOf(credential);
    if (found !== undefined) return found;
    const key = this.#keys.get(credential);
    return key instanceof Secret ? key.id : '';
  }

  /** Which of these accounts have the key of another one of them. */
  sameKeys(accounts: readonly string[]): readonly SameKey[] {
    return sameKeys(accounts, (account) => this.#keys.get(account));
  }

  /** The credentials whose key can no longer be read, and why. */
  get problems(): readonly { readonly credential: string; readonly problem: string }[] {
    return Array.from(this.#problems, ([credential, problem]) => ({ credential, problem }));
  }

  /** Where a key comes from, for messages. */
  describe(credential: string): string {
    if (this.found.has(credential)) return 'found with its library';
    return this.#credentials?.describe(credential) ?? 'not defined';
  }

  /** Reads the keys again. One check after another, so that a key read earlier never replaces one read later. Never rejects. */
  check(): Promise<void> {
    this.#nextCheck ??= this.#lastCheck.then(() => {
      this.#nextCheck = undefined;
      return this.#check();
    });
    this.#lastCheck = this.#nextCheck;
    return this.#lastCheck;
  }

  async #check(): Promise<void> {
    const credentials = this.#credentials;
    const keys = await credentials?.readAll();
    // Another configuration has keys of its own.
    if (!keys || credentials !== this.#credentials) return;
    const changed = [...keys].filter(([name, key]) => this.#renew(name, key)).map(([name]) => name);
    if (changed.length > 0) this.#options.onChanged(changed);
  }

  /** Returns whether another key is in use now. */
  #renew(name: string, key: KeyOrProblem): boolean {
    const before = this.#keys.get(name);
    if (key instanceof CredentialError) {
      if (before instanceof Secret) this.#tell(name, key.message);
      else this.#keys.set(name, key);
      return false;
    }
    this.#tell(name, undefined);
    if (before instanceof Secret && before.isSameAs(key)) return false;
    this.#keep(name, key);
    return true;
  }

  /** Tells each problem once, and once that it is over. */
  #tell(name: string, problem: string | undefined): void {
    if (problem === this.#problems.get(name)) return;
    if (problem === undefined) this.#problems.delete(name);
    else this.#problems.set(name, problem);
    this.#options.onProblem(name, problem);
  }

  #keep(name: string, key: KeyOrProblem): void {
    this.#keys.set(name, key);
    if (key instanceof Secret) this.#options.redactor.learn(name, key.reveal());
  }
}
