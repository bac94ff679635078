/**
 * The web configuration in force. It looks for changes of the file, and of the certificates that it names, whenever it is
 * asked, so that the next handshake and the next request see them; what is broken leaves the last good one in force.
 */
import { stat } from 'node:fs/promises';
import { formatProblem } from '../config/problems.ts';
import type { WebLog } from './route.ts';
import { loadWebConfig, type WebConfig, WebConfigError } from './web-config.ts';

/** Changes whenever one of the files does, also by a swapped symbolic link, as Kubernetes mounts secrets. */
async function fingerprintOf(files: readonly string[]): Promise<string> {
  const marks = files.map(async (file) => {
    const found = await stat(file, { bigint: true }).catch(() => undefined);
    return found ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':') : 'missing';
  });
  return (await Promise.all(marks)).join(' ');
}

export interface WebConfigSource {
  /** The last one that was good. Never rejects. */
  current(): Promise<WebConfig>;
  /** Reads it again, changed or not; rejects with a {@link WebConfigError} and keeps the last good one where it is broken. */
  reload(): Promise<void>;
}

/** Rejects with a {@link WebConfigError} where there is nothing good to begin with. */
export async function openWebConfig(file: string, log: WebLog): Promise<WebConfigSource> {
  let good = await loadWebConfig(file);
  for (const warning of good.warnings) log.warn({ file }, warning);
  let watched = good.files;
  let seen = await fingerprintOf(watched);
  let looking: Promise<void> | undefined;

  async function load(): Promise<void> {
    try {
      const next = await loadWebConfig(file);
      if ((next.tls === undefined) !== (good.tls === undefined)) {
        const change = next.tls ? 'cannot be turned on' : 'cannot be turned off';
        const message = `TLS ${change} while running; restart`;
        const place = { file, line: undefined, column: undefined, path: 'tls_server_config' };
        throw new WebConfigError([{ ...place, message }], next.files);
      }
      for (const warning of next.warnings) if (!good.warnings.includes(warning)) log.warn({ file }, warning);
      good = next;
      watched = next.files;
    } catch (error) {
      if (!(error instanceof WebConfigError)) throw error;
      // A broken file may name fewer: those of the good one stay of interest.
      watched = [...new Set([...good.files, ...error.files])];
      throw error;
    }
  }

  async function look(): Promise<void> {
    const now = await fingerprintOf(watched);
    if (now === seen) return;
    try {
      await load();
      log.info({ file }, 'The web configuration changed; it is in force from now on');
    } catch (error) {
      const problems = error instanceof WebConfigError ? error.problems.map(formatProblem) : [String(error)];
      log.error(
        { file, problems },
        'The changed web configuration is not valid; the last good one stays in force',
      );
    }
    // Taken over what is watched now. A change between the two looks is not lost: `now` then differs the next time.
    seen = await fingerprintOf(watched);
  }

  return {
    async current() {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      await looking;
      return good;
    },

    async reload() {
      await looking;
      try {
        await load();
      } finally {
        seen = await fingerprintOf(watched);
      }
    },
  };
}
