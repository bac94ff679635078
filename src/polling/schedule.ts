/** When a poll is due. Reads no clock. */
/** How far the time between two polls may differ from the interval, as a share of it. */
const tolerance = 0.1;

/**
 * When to poll again: `backoffFactor` intervals after the last start, moved by at most a tenth of an interval towards the time
 * that the offset gives. So a poll reaches its own time within a few rounds, and never waits much longer than its interval.
 */
export function nextStart(
  intervalMs: number,
  offset: number,
  startedMs: number,
  backoffFactor: number,
): number {
  const idealMs = startedMs + backoffFactor * intervalMs;
  const ownMs = offset * intervalMs;
  const nearestMs = ownMs + Math.round((idealMs - ownMs) / intervalMs) * intervalMs;
  const slackMs = tolerance * intervalMs;
  return Math.min(Math.max(nearestMs, idealMs - slackMs), idealMs + slackMs);
}

/** For so long a key that is refused may be too new. The API refuses that of a new library for some seconds. */
export const newKeyMs = 120_000;

const firstRetryMs = 10_000;
const firstCostlyRetryMs = 60_000;

/** How long to wait after so many failures in a row: some 10 s (costly: a minute) and twice as long each time, spread by the offset. */
export function retryInMs(failures: number, offset: number, isCostly: boolean): number {
  return (isCostly ? firstCostlyRetryMs : firstRetryMs) * 2 ** (failures - 1) * (0.8 + 0.4 * offset);
}
