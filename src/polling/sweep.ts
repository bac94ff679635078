/** Looks after what no poll and no scrape looks after, now and then. An idle process should sleep, so it seldom does. */

/** How long until the next sweep: short while something waits for it. */
const intervalMs = { calm: 60_000, busy: 10_000 } as const;

export class Sweep {
  readonly #sweep: () => void;
  readonly #isBusy: () => boolean;
  #next: { readonly isBusy: boolean; readonly timer: NodeJS.Timeout } | undefined;
  #isStopped = false;

  constructor(sweep: () => void, isBusy: () => boolean) {
    this.#sweep = sweep;
    this.#isBusy = isBusy;
  }

  /** Sets the time of the next sweep. Call it again when something came that cannot wait for a calm one. */
  plan(): void {
    const isBusy = this.#isBusy();
    if (this.#isStopped || (this.#next && (this.#next.isBusy || !isBusy))) return;
    clearTimeout(this.#next?.timer);
    const run = () => {
      this.#next = undefined;
      this.#sweep();
      this.plan();
    };
    this.#next = { isBusy, timer: setTimeout(run, intervalMs[isBusy ? 'busy' : 'calm']).unref() };
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#next?.timer);
  }
}
