/** Logs refused clients at most every ten seconds, so that strangers cannot fill the log. */
import type { WebLog } from './route.ts';

export type RefusalLog = (client: string | undefined, reason: string) => void;

const logIntervalMs = 10_000;

export function createRefusalLog(log: WebLog): RefusalLog {
  let lastMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (client, reason) => {
    if (performance.now() - lastMs < logIntervalMs) {
      unlogged += 1;
      return;
    }
    log.warn({ client, reason, unlogged }, 'a client was refused');
    lastMs = performance.now();
    unlogged = 0;
  };
}
