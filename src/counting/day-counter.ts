/**
 * One counter: what the days of the API have gained since it began. What a day had before that is no gain: of the day on which the
 * counter began and of earlier ones, the first figure that any reading tells is taken as counted already. Of later days all counts.
 */
import { figuresIn, newerFirst, sumByDay } from '../resources/charts.ts';
import type { DayFigure } from '../resources/resource.ts';
import { daySeconds, startOfDay } from '../resources/times.ts';
import type { CountState } from './state-form.ts';

/** Days that may still grow; of older ones nothing is kept or counted, unless they are still to be read. */
const growingDays = 2;

/** When a counter began. */
export interface Begin {
  /** The start of the day on which it began, in seconds since 1970. */
  readonly daySeconds: number;
  /** The start of the first day that counts, in seconds since 1970. Default: the day before the newest that the first reading has. */
  readonly fromSeconds?: number | undefined;
}

export class DayCounter {
  value = 0;
  /**
   * The days that may still grow, the newest first, with the highest figures seen: the start of each, then its figure, since there are
   * very many counters, and objects take twice the memory. A day that is later than `#begunSeconds` and not here has 0.
   */
  #days: readonly number[] = [];
  /** Earlier days are not counted: they are too old. */
  #fromSeconds = 0;
  /** The start of the day on which it began. */
  #begunSeconds = 0;

  /** Takes what the first reading has as counted already. */
  constructor(days: readonly DayFigure[], begin: Begin) {
    this.#begin(days, begin);
  }

  get state(): CountState {
    const days = unpacked(this.#days).map(({ startSeconds, value }): [number, number] => [
      startSeconds,
      value,
    ]);
    const isYoung = this.#begunSeconds >= this.#fromSeconds;
    return {
      value: this.value,
      from: this.#fromSeconds,
      ...(isYoung && { begun: this.#begunSeconds }),
      days,
    };
  }

  /** Goes on with what was counted earlier. */
  restore({ value, from, begun = 0, days }: CountState): void {
    this.value = value;
    this.#fromSeconds = from;
    this.#begunSeconds = begun;
    this.#days = days.flat();
  }

  /** When it began, for a series that was part of it. */
  get begin(): Begin {
    return { daySeconds: this.#begunSeconds, fromSeconds: this.#fromSeconds };
  }

  /** The start of the newest day that has any figure, in seconds since 1970. */
  get newestSeconds(): number {
    for (let at = 0; at < this.#days.length; at += 2)
      if ((this.#days[at + 1] ?? 0) > 0) return this.#days[at] ?? Number.NEGATIVE_INFINITY;
    return Number.NEGATIVE_INFINITY;
  }

  /**
   * Counts what the days have gained. nowMs: Unix time, from a clock that may be wrong. pendingSeconds: the start of the first day that
   * is still to be read, in seconds since 1970.
   */
  add(days: readonly DayFigure[], nowMs: number, pendingSeconds?: number): void {
    const sent = newestFirst(days);
    const [newest] = sent;
    if (!newest) return;
    if (newest.startSeconds < this.#fromSeconds && this.newestSeconds === Number.NEGATIVE_INFINITY) {
      // The clock was ahead until now, so earlier days were skipped. These are the first figures.
      this.#begin(days, { daySeconds: startOfDay(nowMs / 1000) });
      return;
    }
    const highest = new Map(unpacked(this.#days).map(({ startSeconds, value }) => [startSeconds, value]));
    let lastSeconds = Math.max(nowMs / 1000, this.#days[0] ?? Number.POSITIVE_INFINITY);
    for (const { startSeconds, value } of sent.toReversed()) {
      if (startSeconds < this.#fromSeconds) continue;
      // Far ahead of the clock and the other days. It would keep the next days from being counted.
      if (startSeconds > lastSeconds + daySeconds) break;
      lastSeconds = Math.max(lastSeconds, startSeconds);
      const before = highest.get(startSeconds) ?? (startSeconds <= this.#begunSeconds ? value : 0);
      const after = Math.max(before, value);
      this.value += after - before;
      highest.set(startSeconds, after);
    }
    this.#keep(figuresIn(highest), pendingSeconds);
  }

  /** Gives away figures to a series of their own. */
  giveAway(days: readonly DayFigure[]): void {
    const away = new Map(sumByDay(days).map(({ startSeconds, value }) => [startSeconds, value]));
    this.#keep(
      unpacked(this.#days).map(({ startSeconds, value }) => ({
        startSeconds,
        value: Math.max(0, value - (away.get(startSeconds) ?? 0)),
      })),
      this.#fromSeconds,
    );
  }

  #begin(days: readonly DayFigure[], { daySeconds: begunSeconds, fromSeconds }: Begin): void {
    const sent = newestFirst(days);
    const newestSeconds = sent.find(({ value }) => value > 0)?.startSeconds ?? begunSeconds;
    this.#begunSeconds = Math.max(begunSeconds, newestSeconds);
    this.#fromSeconds = fromSeconds ?? newestSeconds - daySeconds;
    this.#keep(sent, this.#fromSeconds);
  }

  #keep(days: readonly DayFigure[], pendingSeconds = Number.POSITIVE_INFINITY): void {
    const known = newestFirst(days).filter(
      ({ startSeconds, value }) =>
        startSeconds >= this.#fromSeconds && (value > 0 || startSeconds <= this.#begunSeconds),
    );
    const oldest = known[growingDays - 1];
    if (oldest)
      this.#fromSeconds = Math.max(this.#fromSeconds, Math.min(oldest.startSeconds, pendingSeconds));
    const growing: number[] = [];
    for (const { startSeconds, value } of known)
      if (startSeconds >= this.#fromSeconds) growing.push(startSeconds, value);
    // A copy has no spare capacity.
    this.#days = growing.slice();
  }
}

/** Anything but a finite number counts as nothing. */
function newestFirst(days: readonly DayFigure[]): readonly DayFigure[] {
  return days.filter(isNumber).toSorted(newerFirst);
}

function isNumber({ value }: DayFigure): boolean {
  return Number.isFinite(value);
}

function unpacked(days: readonly number[]): readonly DayFigure[] {
  const figures: DayFigure[] = [];
  for (let at = 0; at < days.length; at += 2)
    figures.push({ startSeconds: days[at] ?? 0, value: days[at + 1] ?? 0 });
  return figures;
}
