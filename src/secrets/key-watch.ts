/** Tells when a key has changed, so that what failed with the old one is polled at once. Requests read the new key anyway. */
import type { Credentials } from './credentials.ts';

type WatchedKeys = Pick<Credentials, 'read' | 'version'>;

export class KeyWatch {
  readonly #onChanged: (name: string) => void;
  #keys: WatchedKeys | undefined;
  #names: readonly string[] = [];
  /** The versions seen at the last look. Requests may have read newer ones since. */
  readonly #versions = new Map<string, number>();

  constructor(onChanged: (name: string) => void) {
    this.#onChanged = onChanged;
  }

  /** Watches the keys of another configuration from now on. */
  follow(keys: WatchedKeys, names: readonly string[]): void {
    this.#keys = keys;
    this.#names = names;
    this.#versions.clear();
  }

  async look(): Promise<void> {
    const keys = this.#keys;
    for (const name of this.#names) {
      // Problems with a key show up in the polls that need it.
      await keys?.read(name).catch(() => undefined);
      if (!keys || keys !== this.#keys) return;
      const version = keys.version(name);
      const isNewer = version > (this.#versions.get(name) ?? version);
      this.#versions.set(name, version);
      if (isNewer) this.#onChanged(name);
    }
  }
}
