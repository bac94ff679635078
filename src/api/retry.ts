/** How long to wait before a retry, and how long a 429 pauses what got it. Pure functions. */

/** A longer `Retry-After` is cut to this. */
const retryAfterCapMs = 600_000;

/** Exponential backoff with full jitter, up to 30 s. attempt: 0 after the first failure. */
export function retryDelayMs(attempt: number, retryAfterMs = 0, random = Math.random): number {
  return Math.max(retryAfterMs, random() * Math.min(30_000, 500 * 2 ** attempt));
}

/** How long a 429 pauses what got it. refusals: pauses in a row before. */
export function pauseForMs(refusals: number, retryAfterMs: number | undefined, random = Math.random): number {
  const floorMs = Math.min(60_000, 1000 * 2 ** refusals);
  // `||`: 0, or a date in the past by our clock, does not mean that we may go on at once.
  return retryAfterMs || floorMs * (1 + random() / 2);
}

/** From seconds or an HTTP date: capped and never negative, undefined if it is neither. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  // Date.parse accepts nearly any text with a digit.
  const untilMs = /^\w{3,9}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : untilMs - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), retryAfterCapMs);
}
