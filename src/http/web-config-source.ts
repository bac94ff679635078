/**
 * The web configuration in use. Each use checks whether the file, or a certificate that it names, has changed, so that the
 * next handshake and request see it. A file that is not valid leaves the previous one in use.
 */
import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { WebLog } from './route.ts';
import { readWebConfig, type WebConfig } from './web-config.ts';

/** Changes whenever the file does, also by a swapped symbolic link, as Kubernetes mounts secrets. */
function fingerprintOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

const missing = 'missing';

function fingerprintNow(file: string): string {
  try {
    return fingerprintOf(statSync(file, { bigint: true }));
  } catch {
    return missing;
  }
}

export class WebConfigSource {
  readonly #file: string | undefined;
  readonly #log: WebLog;
  /** The fingerprint of each file at the last attempt to read it, taken just before. */
  readonly #fingerprints = new Map<string, string>();
  #config: WebConfig;

  /** Without a file: plain HTTP without a password. Throws a `ConfigError` if the file is not valid. */
  constructor(file: string | undefined, log: WebLog) {
    this.#file = file;
    this.#log = log;
    this.#config = this.#read();
  }

  /** As `current`, for a request: the process does other things while a slow disk is asked whether a file has changed. */
  async fresh(): Promise<WebConfig> {
    const asked = Array.from(this.#fingerprints, async ([file, fingerprint]) => {
      const now = await stat(file, { bigint: true }).then(fingerprintOf, () => missing);
      return now === fingerprint;
    });
    return (await Promise.all(asked)).every(Boolean) ? this.#config : this.current();
  }

  /** The last valid configuration: the same object while nothing changes. TLS is never turned on or off. */
  current(): WebConfig {
    if ([...this.#fingerprints].every(([file, fingerprint]) => fingerprintNow(file) === fingerprint))
      return this.#config;
    const file = this.#file;
    try {
      this.reload();
      this.#log.info({ file }, 'the web configuration was reloaded');
    } catch (error) {
      const problems = (error as Error).message.split('\n');
      this.#log.error(
        { file, problems },
        'keeping the previous web configuration: the changed one is not valid',
      );
    }
    return this.#config;
  }

  /** Reads the file, changed or not. Throws a `ConfigError`, and keeps the previous configuration, if it is not valid. */
  reload(): void {
    this.#fingerprints.clear();
    this.#config = this.#read(this.#config);
  }

  #read(before?: WebConfig): WebConfig {
    if (this.#file === undefined) return { settings: {}, headers: [], users: new Map() };
    const readText = (file: string) => {
      // Before reading, so that the next use sees a change in the meantime.
      this.#fingerprints.set(file, fingerprintNow(file));
      return readFileSync(file, 'utf8');
    };
    const config = readWebConfig(this.#file, readText, before);
    if (config.warning !== undefined && config.warning !== before?.warning)
      this.#log.warn({ file: this.#file }, config.warning);
    return config;
  }
}
