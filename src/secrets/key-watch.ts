/**
 * Notices that a key has changed; a request reads the new one in any case, but what was refused or listed with the old one
 * waits.
 */
import { createHash } from 'node:crypto';

/** The keys of one configuration. */
export interface WatchedKeys {
  read(name: string): Promise<{ reveal(): string }>;
}

export class KeyWatch {
  readonly #onChanged: (name: string) => void;
  #keys: WatchedKeys | undefined;
  /** By credential: an id of its key, never shown. Undefined while the key cannot be read. */
  #ids = new Map<string, string | undefined>();

  constructor(onChanged: (name: string) => void) {
    this.#onChanged = onChanged;
  }

  /** A number that changes with the key. A key that cannot be read any more counts as unchanged. */
  idOf(name: string): string {
    return this.#ids.get(name) ?? '';
  }

  /** Watches the keys of another configuration from now on; resolves when they have been read. */
  async follow(keys: WatchedKeys, names: readonly string[]): Promise<void> {
    this.#keys = keys;
    const ids = new Map<string, string | undefined>();
    for (const name of names) ids.set(name, (await idOf(keys, name)) ?? this.#ids.get(name));
    if (keys === this.#keys) this.#ids = ids;
  }

  async look(): Promise<void> {
    const keys = this.#keys;
    for (const [name, before] of this.#ids) {
      const now = keys && (await idOf(keys, name));
      if (keys !== this.#keys) return;
      if (now === undefined || now === before) continue;
      this.#ids.set(name, now);
      this.#onChanged(name);
    }
  }
}

async function idOf(keys: WatchedKeys, name: string): Promise<string | undefined> {
  try {
    return createHash('sha256')
      .update((await keys.read(name)).reveal())
      .digest('base64');
  } catch {
    // What is wrong with a key shows in the polls that need it.
    return undefined;
  }
}
