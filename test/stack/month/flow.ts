/** What happens so many times a minute: more by day than by night, half of it at weekends, and from some time on at another rate. */
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** How much more there is at noon, and less at midnight, than on average. */
const swing = 0.4;
const ofWeekend = 0.5;

const isWeekend = (day: number) => (day + 3) % 7 >= 5;

export class Flow {
  readonly usual: number;
  /** The newest first. */
  #rates: readonly { readonly fromMs: number; readonly perMinute: number }[];

  constructor(usual: number) {
    this.usual = usual;
    this.#rates = [{ fromMs: -Infinity, perMinute: usual }];
  }

  /** Times are set in their order. */
  set(fromMs: number, perMinute: number): void {
    this.#rates = [{ fromMs, perMinute }, ...this.#rates];
  }

  /** How many there were from one time to the other. */
  between(fromMs: number, toMs: number): number {
    let sum = 0;
    let endMs = toMs;
    for (const rate of this.#rates) {
      const startMs = Math.max(rate.fromMs, fromMs);
      if (endMs > startMs) sum += rate.perMinute * usualMinutes(startMs, endMs);
      endMs = Math.min(endMs, startMs);
    }
    return Math.floor(sum);
  }
}

/** The minutes between two times, as far as they are busy. */
function usualMinutes(fromMs: number, toMs: number): number {
  let minutes = 0;
  for (let startMs = fromMs; startMs < toMs; ) {
    const day = Math.floor(startMs / dayMs);
    const endMs = Math.min((day + 1) * dayMs, toMs);
    const phase = (atMs: number) => Math.cos(2 * Math.PI * (atMs / dayMs - 0.25));
    const swung = (swing * dayMs * (phase(startMs) - phase(endMs))) / (2 * Math.PI);
    minutes += ((endMs - startMs + swung) / minuteMs) * (isWeekend(day) ? ofWeekend : 1);
    startMs = endMs;
  }
  return minutes;
}
