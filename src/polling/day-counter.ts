/** One counter: what the days of the API have gained since the first reading. */
import { sumByDay } from '../resources/charts.ts';
import type { DayFigure } from '../resources/resource.ts';
import { daySeconds, startOfDay } from '../resources/times.ts';
import type { CountState } from '../state/form.ts';

/** Days that may still grow; of older ones nothing is kept or counted, unless they are still to be read. */
const openDays = 2;

/** What is known of the time before the first reading of a series. */
export interface Before {
  /** When the reading before was, which lacked it; undefined if there was none. Unix time. */
  readonly lackedMs?: number | undefined;
  /** The start of the first day that counts although the reading lacks it, in seconds since 1970: others have that day. */
  readonly fromSeconds?: number;
}

export class DayCounter {
  value = 0;
  /**
   * The days that may still grow, the newest first, with the highest figures seen: the start of each, then its figure, since
   * there are very many counters, and objects take twice the memory. None is 0.
   */
  #days: readonly number[] = [];
  /** Earlier days are not counted: nobody knows what they had at the first reading, or they are too old. */
  #fromSeconds = 0;

  /**
   * Takes the days of the first reading as already counted, except those that began after an earlier reading without this series.
   * Days before the first that the reading has never count: nobody knows what they had.
   */
  constructor(days: readonly DayFigure[], nowMs: number, { lackedMs, fromSeconds }: Before = {}) {
    if (lackedMs === undefined) {
      this.#begin(days, nowMs);
      this.#fromSeconds = Math.min(this.#fromSeconds, fromSeconds ?? this.#fromSeconds);
    } else {
      const dayAfter = startOfDay(lackedMs / 1000) + daySeconds;
      this.#begin(
        days.filter(({ startSeconds }) => startSeconds < dayAfter),
        lackedMs,
      );
      this.add(days, nowMs);
    }
  }

  get state(): CountState {
    const days = unpacked(this.#days).map(({ startSeconds, value }): [number, number] => [
      startSeconds,
      value,
    ]);
    return { value: this.value, from: this.#fromSeconds, days };
  }

  /** Goes on with what was counted earlier. */
  restore({ value, from, days }: CountState): void {
    this.value = value;
    this.#fromSeconds = from;
    this.#days = days.flat();
  }

  /** The start of the first day that counts, in seconds since 1970. */
  get fromSeconds(): number {
    return this.#fromSeconds;
  }

  /** The start of the newest day that has any figure, in seconds since 1970. */
  get newestSeconds(): number {
    return this.#days[0] ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * Counts what the days have gained. nowMs: Unix time, from a clock that may be wrong. pendingSeconds: the start of the first day that
   * is still to be read, in seconds since 1970.
   */
  add(days: readonly DayFigure[], nowMs: number, pendingSeconds?: number): void {
    const sent = newestFirst(days);
    const [newest] = sent;
    if (!newest) return;
    if (this.#days.length === 0 && newest.startSeconds < this.#fromSeconds) {
      // The clock was ahead until now, so earlier days were skipped. These are the first figures.
      this.#begin(days, nowMs);
      return;
    }
    const highest = new Map(unpacked(this.#days).map(({ startSeconds, value }) => [startSeconds, value]));
    let lastSeconds = Math.max(nowMs / 1000, this.#days[0] ?? Number.POSITIVE_INFINITY);
    for (const { startSeconds, value } of sent.toReversed()) {
      if (startSeconds < this.#fromSeconds) continue;
      // Far ahead of the clock and the other days. It would keep the next days from being counted.
      if (startSeconds > lastSeconds + daySeconds) break;
      lastSeconds = Math.max(lastSeconds, startSeconds);
      const before = highest.get(startSeconds) ?? 0;
      const after = Math.max(before, value);
      this.value += after - before;
      highest.set(startSeconds, after);
    }
    this.#keep(
      Array.from(highest, ([startSeconds, value]) => ({ startSeconds, value })),
      pendingSeconds,
    );
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

  #begin(days: readonly DayFigure[], nowMs: number): void {
    const open = newestFirst(days).slice(0, openDays);
    this.#fromSeconds = open.at(-1)?.startSeconds ?? startOfDay(nowMs / 1000);
    this.#keep(open);
  }

  #keep(days: readonly DayFigure[], pendingSeconds = Number.POSITIVE_INFINITY): void {
    const counted = newestFirst(days).filter(
      ({ startSeconds, value }) => value > 0 && startSeconds >= this.#fromSeconds,
    );
    const oldest = counted[openDays - 1];
    if (oldest)
      this.#fromSeconds = Math.max(this.#fromSeconds, Math.min(oldest.startSeconds, pendingSeconds));
    const open = counted.filter(({ startSeconds }) => startSeconds >= this.#fromSeconds);
    this.#days = open.flatMap(({ startSeconds, value }) => [startSeconds, value]).slice();
  }
}

/** Anything but a finite number counts as nothing. */
function newestFirst(days: readonly DayFigure[]): readonly DayFigure[] {
  return days
    .filter(({ value }) => Number.isFinite(value))
    .toSorted((a, b) => b.startSeconds - a.startSeconds);
}

function unpacked(days: readonly number[]): readonly DayFigure[] {
  return days.flatMap((startSeconds, at) =>
    at % 2 === 0 ? [{ startSeconds, value: days[at + 1] ?? 0 }] : [],
  );
}
