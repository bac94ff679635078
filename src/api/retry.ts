/** When to ask again: pure functions of what is known. */

const backoffBaseMs = 500;
const backoffCapMs = 30_000;
const pauseBaseMs = 1_000;
const pauseCapMs = 60_000;

/** The longest `Retry-After` that is honoured; one beyond it counts as this. */
export const retryAfterCapMs = 600_000;

/** Exponential growth with full jitter: anything from 0 to the doubled bound, so that many do not come back at once. */
function jittered(baseMs: number, capMs: number, doublings: number, random: () => number): number {
  return random() * Math.min(capMs, baseMs * 2 ** doublings);
}

/** The wait before another try. attempt: 0 after the first failure. */
export function retryDelayMs(
  attempt: number,
  retryAfterMs: number | undefined,
  random = Math.random,
): number {
  return Math.max(retryAfterMs ?? 0, jittered(backoffBaseMs, backoffCapMs, attempt, random));
}

/** How long an API rests after a 429. refusals: how many came before it without a success between. */
export function pauseMs(refusals: number, retryAfterMs: number | undefined, random = Math.random): number {
  const floorMs = Math.min(pauseCapMs, pauseBaseMs * 2 ** refusals);
  // A `Retry-After` of 0, or of a time gone by on a clock that is not ours, is no leave to go on as before.
  return retryAfterMs || floorMs + jittered(floorMs, pauseCapMs, 0, random) / 2;
}

/** `Retry-After` in seconds or as an HTTP date; undefined where it is neither, capped, never negative. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  // Date.parse alone finds a date in nearly any text with a digit.
  const untilMs = /^\w{3,9}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : untilMs - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), retryAfterCapMs);
}
