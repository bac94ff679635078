/** The range of time that an answer was requested for, and whether its charts keep to it. */
import {
  type ChartTime,
  daySeconds,
  hourMs,
  hourSeconds,
  parseChartKey,
  type Range,
  startOfDay,
} from './times.ts';

/** How far after its end an answer may run on without a sign that it is about other days. */
const overrunMs = 2 * hourMs;

export class RequestedRange {
  readonly range: Range;
  /** When the answer is read, in seconds since 1970. Charts by hours go on to the end of the day. */
  readonly nowSeconds: number;
  /** Why figures without days of their own are not those of the range: what they are instead. */
  doubt: 'those of other days' | 'those of days that cannot be told' | undefined;
  /** The fields whose charts have days, but none of the range: nothing was counted in it, as far as they tell. */
  readonly ofOtherDays = new Set<string>();
  /** By key: all charts of an answer have the same keys. */
  readonly #times = new Map<string, ChartTime | undefined>();
  readonly #keepsHours: boolean;
  #hasPoints = false;

  /** keepsHours: whether the figures of charts by hours stay those of hours. Default: they are put on their days. */
  constructor(range: Range, nowMs: number, { keepsHours = false } = {}) {
    this.range = range;
    this.nowSeconds = nowMs / 1000;
    this.#keepsHours = keepsHours;
  }

  /** The start of its first UTC day, in seconds since 1970. */
  get startSeconds(): number {
    return startOfDay(this.range.fromMs / 1000);
  }

  get isOneDay(): boolean {
    return startOfDay((this.range.toMs - 1) / 1000) === this.startSeconds;
  }

  /** Why the answer is not one to what was requested: none of its figures can be told to be of the range. */
  get isOther(): typeof this.doubt {
    return this.isOneDay || !this.#hasPoints ? this.doubt : undefined;
  }

  /** The time of a chart's key; undefined for a key that is none. */
  timeOf(key: string): ChartTime | undefined {
    if (this.#times.has(key)) return this.#times.get(key);
    const parsed = parseChartKey(key);
    const time = parsed && this.#keepsHours && !parsed.isDay ? onItsHour(parsed) : parsed;
    this.#times.set(key, time);
    return time;
  }

  /** Whether a point is within the range. One that is not, and has counted something, is a sign of other days. */
  includes({ atSeconds, startSeconds, isDay }: ChartTime, value: unknown): boolean {
    const { fromMs, toMs } = this.range;
    const atMs = atSeconds * 1000;
    if (atMs < toMs && (isDay ? startSeconds >= this.startSeconds : atMs >= fromMs)) {
      this.#hasPoints = true;
      return true;
    }
    const isOverrun = atMs >= toMs && atMs < toMs + overrunMs;
    if (!isOverrun && typeof value === 'number' && value > 0) this.doubt = 'those of other days';
    return false;
  }
}

/** The same, with the start of its hour instead of that of its day. */
function onItsHour(time: ChartTime): ChartTime {
  const hour = Math.floor((time.atSeconds - time.startSeconds) / hourSeconds);
  // A double rounds seven digits before midnight up to the next day.
  const startSeconds = time.startSeconds + Math.min(hour * hourSeconds, daySeconds - hourSeconds);
  return { ...time, startSeconds, isHour: true };
}
