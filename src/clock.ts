/** The clock that never jumps, and how a time of it becomes one of the wall clock, and back. */
import { uptime } from 'node:os';

/** The same moment by both clocks. */
export interface Moment {
  /** Unix time. */
  readonly nowMs: number;
  /** By a clock that never jumps. */
  readonly uptimeMs: number;
}

/**
 * A clock that never jumps back, and goes on while the machine sleeps, as `performance.now()` does not. The machine is asked once a second,
 * because that takes 10 µs; in between, that counts. It answers in steps of 10 ms, so it may be later than what it says, but not earlier.
 *
 * @param uptimeSeconds what the machine answers
 */
export function uptimeClock(uptimeSeconds: () => number): () => number {
  let aheadMs = Number.NEGATIVE_INFINITY;
  let askedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (nowMs - askedMs > 1000) {
      aheadMs = Math.max(aheadMs, uptimeSeconds() * 1000 - nowMs);
      askedMs = nowMs;
    }
    return nowMs + aheadMs;
  };
}

/** The machine's uptime. */
export const machineUptimeMs = uptimeClock(() => uptime());

/** When something was, by the clock that never jumps; now at the latest, since the other clock may be behind. ms: Unix time. */
export function uptimeOf(ms: number, { nowMs, uptimeMs }: Moment): number {
  return uptimeMs - Math.max(0, nowMs - ms);
}

/** When something was, as Unix time, by the wall clock as it is now. ms: by the clock that never jumps. */
export function unixOf(ms: number, { nowMs, uptimeMs }: Moment): number {
  return nowMs - (uptimeMs - ms);
}
