/**
 * Notices when a key has changed. Requests always use the current key, but listings, and polls that were refused, would wait
 * for their next poll.
 */
import type { Credentials } from './credentials.ts';

type Keys = Pick<Credentials, 'read'>;

export class KeyWatch {
  readonly #onChanged: (name: string) => void;
  #keys: Keys | undefined;
  /** By credential: a hash of its key, never shown. Empty if the key was never readable. */
  #ids: ReadonlyMap<string, string> = new Map();
  #lastCheck: Promise<void> = Promise.resolve();

  constructor(onChanged: (name: string) => void) {
    this.#onChanged = onChanged;
  }

  /** Differs for different keys. A key that can no longer be read counts as unchanged. */
  idOf(name: string): string {
    return this.#ids.get(name) ?? '';
  }

  /** Switches to the keys of another configuration; resolves when they have been read. */
  async follow(keys: Keys, names: readonly string[]): Promise<void> {
    this.#keys = keys;
    const ids = await this.#readIds(keys, names);
    if (keys === this.#keys) this.#ids = ids;
  }

  /** Reads the keys again. One check after another, so that a key read earlier never replaces one read later. */
  check(): Promise<void> {
    this.#lastCheck = this.#lastCheck.then(() => this.#check());
    return this.#lastCheck;
  }

  async #check(): Promise<void> {
    const keys = this.#keys;
    if (keys === undefined) return;
    const ids = await this.#readIds(keys, [...this.#ids.keys()]);
    if (keys !== this.#keys) return;
    const changed = [...ids].filter(([name, id]) => id !== this.idOf(name));
    this.#ids = ids;
    for (const [name] of changed) this.#onChanged(name);
  }

  async #readIds(keys: Keys, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const ids = new Map<string, string>();
    for (const name of names) {
      // The polls that need a key report what is wrong with it.
      const key = await keys.read(name).catch(() => undefined);
      ids.set(name, key?.id ?? this.idOf(name));
    }
    return ids;
  }
}
