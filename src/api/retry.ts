/** When to retry and how long to pause, as pure functions. */

const backoffBaseMs = 500;
const backoffCapMs = 30_000;
const pauseBaseMs = 1_000;
const pauseCapMs = 60_000;

/** The longest `Retry-After` that is honoured; a longer one is cut to this. */
export const retryAfterCapMs = 600_000;

/** Exponential backoff with full jitter: anything from 0 to the doubled bound, so that retries spread out. */
function jittered(baseMs: number, capMs: number, doublings: number, random: () => number): number {
  return random() * Math.min(capMs, baseMs * 2 ** doublings);
}

/** How long to wait before a retry. attempt: 0 after the first failure. */
export function retryDelayMs(
  attempt: number,
  retryAfterMs: number | undefined,
  random = Math.random,
): number {
  return Math.max(retryAfterMs ?? 0, jittered(backoffBaseMs, backoffCapMs, attempt, random));
}

/** How long to pause an API after a 429. refusals: how many pauses came before it since the last success. */
export function pauseMs(refusals: number, retryAfterMs: number | undefined, random = Math.random): number {
  const floorMs = Math.min(pauseCapMs, pauseBaseMs * 2 ** refusals);
  // A `Retry-After` of 0, or a date that has passed by our clock, does not mean that going on is fine.
  return retryAfterMs || floorMs + jittered(floorMs, pauseCapMs, 0, random) / 2;
}

/** Reads `Retry-After` in seconds or as an HTTP date; undefined if it is neither, capped, never negative. */
export function parseRetryAfter(header: string, nowMs: number): number | undefined {
  const text = header.trim();
  // Date.parse alone accepts nearly any text with a digit.
  const untilMs = /^\w{3,9}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : untilMs - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), retryAfterCapMs);
}
