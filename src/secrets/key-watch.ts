/** Notices that a key has changed, where somebody waits for it; the next request reads the new one in any case. */
import type { Credentials } from './credentials.ts';

type WatchedKeys = Pick<Credentials, 'read' | 'version'>;

export class KeyWatch {
  readonly #onChanged: (name: string) => void;
  #keys: WatchedKeys | undefined;
  #names: readonly string[] = [];
  /** The versions last seen here; requests may have read newer ones since. */
  readonly #versions = new Map<string, number>();

  constructor(onChanged: (name: string) => void) {
    this.#onChanged = onChanged;
  }

  /** From now on the keys of another configuration are of interest. */
  follow(keys: WatchedKeys, names: readonly string[]): void {
    this.#keys = keys;
    this.#names = names;
    this.#versions.clear();
  }

  async look(): Promise<void> {
    const keys = this.#keys;
    for (const name of this.#names) {
      // What is wrong with a key shows in the polls that need it.
      await keys?.read(name).catch(() => undefined);
      if (!keys || keys !== this.#keys) return;
      const version = keys.version(name);
      const isNewer = version > (this.#versions.get(name) ?? version);
      this.#versions.set(name, version);
      if (isNewer) this.#onChanged(name);
    }
  }
}
