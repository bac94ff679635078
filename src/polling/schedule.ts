/** When a poll is due: offsets spread evenly over an interval. Pure of clocks. */

/**
 * The n-th offset in [0, 1): the van der Corput sequence. Any first n of them are spread evenly, so that each poll keeps
 * its offset when others come and go.
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

/** How far the time between two polls may be from the interval, as a share of it. */
const tolerance = 0.1;

/**
 * When to poll again: `backoffFactor` intervals after the start of the last poll, moved by at most a tenth of an interval
 * towards the time that the offset gives it (counted from `anchorMs`). So a poll reaches its own time within a few rounds,
 * and never waits much longer than its interval on the way.
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

/** A place in the interval of all that have it. */
export interface Place {
  readonly number: number;
  /** In [0, 1). */
  readonly offset: number;
}

/** Hands out the free place of the smallest number, so that offsets are used again. */
export class Places {
  #next = 0;
  #freed: Place[] = [];
  #isSorted = true;

  take(): Place {
    if (!this.#isSorted) this.#freed.sort((a, b) => b.number - a.number);
    this.#isSorted = true;
    const number = this.#next;
    return this.#freed.pop() ?? { number: this.#next++, offset: offsetOf(number) };
  }

  free(place: Place): void {
    this.#freed.push(place);
    this.#isSorted = false;
  }
}
