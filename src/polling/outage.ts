/** Whether an API answers nothing at all, and how often it is tried meanwhile. Knows no tasks. */

/** So many that fail one after another are no coincidence. */
const enough = 5;

/** In the same moment some things may fail and others not: that is no silence. */
const silenceMs = 2000;

/** The least retries a second that may begin while an API answers nothing. */
const leastPerSecond = 0.1;

/** Times are by the machine's uptime. */
export class Outage {
  /** When the next retry may begin while it lasts. */
  nextRetryMs = Number.NEGATIVE_INFINITY;
  /** When the API answered last; minus infinity before the first answer. */
  #lastSuccessMs = Number.NEGATIVE_INFINITY;
  /** When something failed on the way first since then; infinite before that. */
  #firstFailureMs = Number.POSITIVE_INFINITY;
  /** How many began to fail since then. */
  #failing = 0;
  #tasks = 0;
  #plannedPerSecond = 0;

  /** tasks: how many poll the API; perSecond: the requests a second that they need at their intervals. */
  follow(tasks: number, perSecond: number): void {
    this.#tasks = tasks;
    this.#plannedPerSecond = perSecond;
  }

  /** True while nothing is answered and several began to fail, or all there are. */
  isOn(nowMs: number): boolean {
    return this.#isSilent(nowMs) && this.#failing >= Math.min(enough, this.#tasks);
  }

  /** Something failed on the way. isFirst: whether its poll before had another outcome. */
  failed(nowMs: number, isFirst: boolean): void {
    this.#firstFailureMs = Math.min(this.#firstFailureMs, nowMs);
    if (isFirst) this.#failing++;
  }

  /** Returns since when nothing was answered, if this ends a silence. */
  succeeded(nowMs: number): number | undefined {
    const sinceMs = this.#isSilent(nowMs) ? this.#lastSuccessMs : undefined;
    this.#lastSuccessMs = nowMs;
    this.#firstFailureMs = Number.POSITIVE_INFINITY;
    this.#failing = 0;
    this.nextRetryMs = Number.NEGATIVE_INFINITY;
    return sinceMs;
  }

  /** Takes the right to retry once, if there is one now. */
  takeRetry(nowMs: number): boolean {
    if (nowMs < this.nextRetryMs) return false;
    this.nextRetryMs = nowMs + 1000 / Math.max(this.#plannedPerSecond, leastPerSecond);
    return true;
  }

  #isSilent(nowMs: number): boolean {
    return nowMs - this.#firstFailureMs >= silenceMs;
  }
}
