/** The clock that never jumps, and how a time of it becomes one of the wall clock, and back. */
import { uptime } from 'node:os';

/** The same moment by both clocks. */
export interface Moment {
  /** Unix time. */
  readonly nowMs: number;
  /** By a clock that never jumps. */
  readonly uptimeMs: number;
}

let uptimeAheadMs = 0;
let uptimeAskedMs = Number.NEGATIVE_INFINITY;

/**
 * The machine's uptime: it never jumps back, and goes on while the machine sleeps, as `performance.now()` does not. The machine is asked once
 * a second, because that takes 10 µs; in between, that counts.
 */
export function machineUptimeMs(): number {
  const nowMs = performance.now();
  if (nowMs - uptimeAskedMs > 1000) {
    uptimeAheadMs = uptime() * 1000 - nowMs;
    uptimeAskedMs = nowMs;
  }
  return nowMs + uptimeAheadMs;
}

/** When something was, by the clock that never jumps; now at the latest, since the other clock may be behind. ms: Unix time. */
export function uptimeOf(ms: number, { nowMs, uptimeMs }: Moment): number {
  return uptimeMs - Math.max(0, nowMs - ms);
}

/** When something was, as Unix time, by the wall clock as it is now. ms: by the clock that never jumps. */
export function unixOf(ms: number, { nowMs, uptimeMs }: Moment): number {
  return nowMs - (uptimeMs - ms);
}
