/**
 * Notices that a key has changed; a request reads the new one in any case, but what was refused or listed with the old one
 * waits.
 */
import { createHash } from 'node:crypto';
import type { Credentials } from './credentials.ts';

type Keys = Pick<Credentials, 'read'>;

export class KeyWatch {
  readonly #onChanged: (name: string) => void;
  #keys: Keys | undefined;
  /** By credential: an id of its key, never shown. Empty while there was none to read. */
  #ids: ReadonlyMap<string, string> = new Map();

  constructor(onChanged: (name: string) => void) {
    this.#onChanged = onChanged;
  }

  /** A text that changes with the key. A key that cannot be read any more counts as unchanged. */
  idOf(name: string): string {
    return this.#ids.get(name) ?? '';
  }

  /** Watches the keys of another configuration from now on; resolves when they have been read. */
  async follow(keys: Keys, names: readonly string[]): Promise<void> {
    this.#keys = keys;
    const ids = await this.#readIds(keys, names);
    if (keys === this.#keys) this.#ids = ids;
  }

  async look(): Promise<void> {
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
      // What is wrong with a key shows in the polls that need it.
      const key = await keys.read(name).catch(() => undefined);
      const id = key && createHash('sha256').update(key.reveal()).digest('base64');
      ids.set(name, id ?? this.idOf(name));
    }
    return ids;
  }
}
