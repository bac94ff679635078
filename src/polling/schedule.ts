/** When a poll is due: offsets spread evenly over an interval. Reads no clock. */

/**
 * The n-th offset in [0, 1), by the van der Corput sequence. The first n are spread evenly for any n, so each poll keeps its
 * offset when others come and go.
 */
export function offsetOf(n: number): number {
  let offset = 0;
  let half = 0.5;
  for (let rest = n; rest > 0; rest = Math.floor(rest / 2)) {
    offset += (rest % 2) * half;
    half /= 2;
  }
  return offset;
}

/** How far the time between two polls may differ from the interval, as a share of it. */
const tolerance = 0.1;

/**
 * When to poll again: `backoffFactor` intervals after the last start, moved by at most a tenth of an interval towards the time
 * that the offset gives (counted from `anchorMs`). So a poll reaches its own time within a few rounds, and never waits much
 * longer than its interval.
 */
export function nextStart(
  anchorMs: number,
  intervalMs: number,
  offset: number,
  startedMs: number,
  backoffFactor: number,
): number {
  const idealMs = startedMs + backoffFactor * intervalMs;
  const ownMs = anchorMs + offset * intervalMs;
  const nearestMs = ownMs + Math.round((idealMs - ownMs) / intervalMs) * intervalMs;
  const slackMs = tolerance * intervalMs;
  return Math.min(Math.max(nearestMs, idealMs - slackMs), idealMs + slackMs);
}

/** Hands out places in an interval, the lowest free number first, so that offsets are used again. */
export class Places {
  #taken = 0;
  #next = 0;
  #freed: number[] = [];
  #isSorted = true;

  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  take(): number {
    if (!this.#isSorted) this.#freed.sort((a, b) => b - a);
    this.#isSorted = true;
    this.#taken++;
    return this.#freed.pop() ?? this.#next++;
  }

  free(place: number): void {
    this.#taken--;
    this.#freed.push(place);
    this.#isSorted = false;
  }
}
