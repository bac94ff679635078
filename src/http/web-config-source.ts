/**
 * The web configuration in use. Whenever it is asked, it looks whether the file or a certificate that it names changed, so
 * that the next handshake and the next request see the change; a file that is not valid leaves the previous one in use.
 */
import { statSync } from 'node:fs';
import { formatProblem } from '../config/problems.ts';
import type { WebLog } from './route.ts';
import { readWebConfig, type WebConfig, WebConfigError, warningsOf } from './web-config.ts';

export interface WebConfigSource {
  /** The last valid one; the same object while nothing changes. Never throws. TLS is never turned on or off while running. */
  readonly current: () => WebConfig;
  /** Reads it again, changed or not; rejects with a {@link WebConfigError}, keeping the previous one, where it is not valid. */
  reload(): Promise<void>;
}

/** Changes whenever the file does, also by a swapped symbolic link, as Kubernetes mounts secrets. */
function markOf(file: string): string {
  try {
    // The files are few and local, so this takes microseconds.
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return 'missing';
  }
}

type Marks = ReadonlyMap<string, string>;

/** The marks of the files as they are now, or as they were `before`. */
function marksOf(files: readonly string[], before: Marks = new Map()): Marks {
  return new Map(files.map((file) => [file, before.get(file) ?? markOf(file)]));
}

/** Without a file: plain HTTP without a password. Rejects with a {@link WebConfigError} if the file is not valid. */
export async function openWebConfig(file: string | undefined, log: WebLog): Promise<WebConfigSource> {
  if (file === undefined) {
    const config: WebConfig = { headers: new Map(), users: new Map(), files: [] };
    return { current: () => config, reload: () => Promise.resolve() };
  }
  let config = readWebConfig(file);
  let marks = marksOf(config.files);
  let warned: readonly string[] = [];
  const warn = async () => {
    const warnings = await warningsOf(config);
    for (const warning of warnings) if (!warned.includes(warning)) log.warn({ file }, warning);
    warned = warnings;
  };
  await warn();

  const load = () => {
    // Taken before the files are read, so that a change in the meantime is seen at the next look.
    const before = marksOf([...marks.keys()]);
    try {
      config = readWebConfig(file, config);
      marks = marksOf(config.files, before);
      void warn();
    } catch (error) {
      // It may name fewer files: those of the previous one are still watched.
      if (error instanceof WebConfigError) marks = marksOf([...config.files, ...error.files], before);
      throw error;
    }
  };

  return {
    current() {
      if ([...marks].every(([watched, mark]) => markOf(watched) === mark)) return config;
      try {
        load();
        log.info({ file }, 'The web configuration was reloaded');
      } catch (error) {
        const problems =
          error instanceof WebConfigError ? error.problems.map(formatProblem) : [String(error)];
        log.error({ file, problems }, 'Keeping the previous web configuration: the changed one is not valid');
      }
      return config;
    },

    reload: () => new Promise((resolve) => resolve(load())),
  };
}
