/** Makes samples of figures by hour and day: they grow evenly within each, and are exact at its end. Pure. */
import { dayMs, hourMs, type Range } from '../resources/times.ts';
import { floor } from './ranges.ts';

/** What was counted in a range of time. */
export interface Figure extends Range {
  readonly value: number;
}

/** Figures in the order of time, of which none overlaps another: the start, the end and the value of each, because there are very many. */
export type Figures = readonly number[];

/** Receives each sample in the order of time. atMs: Unix time. */
export type Emit = (atMs: number, value: number) => void;

export interface Grid {
  /** Between two samples. It divides an hour. */
  readonly stepMs: number;
  /** Where the history ends: its last sample is a millisecond before. */
  readonly untilMs: number;
}

/** The value of a counter after all figures. */
export function sumOf(figures: Figures): number {
  let sum = 0;
  for (let at = 2; at < figures.length; at += 3) sum = added(sum, figures[at] ?? 0);
  return sum;
}

/** The sum of figures up to a time, which never goes back. */
class Sum {
  readonly #figures: Figures;
  #at = 0;
  /** Of the figures that have ended. */
  #ended = 0;

  constructor(figures: Figures) {
    this.#figures = figures;
  }

  /** Begins anew with what comes after a time. */
  begin(atMs: number): void {
    this.upTo(atMs);
    this.#ended = 0;
  }

  upTo(atMs: number): number {
    const figures = this.#figures;
    while (this.#at < figures.length && (figures[this.#at + 1] ?? 0) <= atMs) {
      this.#ended = added(this.#ended, figures[this.#at + 2] ?? 0);
      this.#at += 3;
    }
    const fromMs = figures[this.#at] ?? Number.POSITIVE_INFINITY;
    const toMs = figures[this.#at + 1] ?? 0;
    const value = figures[this.#at + 2] ?? 0;
    return fromMs < atMs ? grown(this.#ended, value, (atMs - fromMs) / (toMs - fromMs)) : this.#ended;
  }
}

/** A sum that stays finite: infinity is no count, and an infinity less another is no number. */
export function added(a: number, b: number): number {
  return Math.min(Number.MAX_VALUE, a + b);
}

/** Beyond it a double has no three decimals. */
const mostWithDecimals = Number.MAX_SAFE_INTEGER / 1000;

/** What is counted after a share of the time. Whole numbers stay whole; others have three decimals at most until the end. */
function grown(before: number, value: number, share: number): number {
  const so = added(before, value * share);
  if ((Number.isInteger(before) && Number.isInteger(value)) || so > mostWithDecimals)
    return added(before, Math.floor(value * share));
  return Math.min(added(before, value), Math.max(before, Math.floor(so * 1000) / 1000));
}

/** The time of the sample that has all of a range. */
function endOf(toMs: number, { untilMs }: Grid): number {
  return toMs === untilMs ? toMs - 1 : toMs;
}

/** 1 at each step of the ranges, and at their ends. */
export function always(ranges: readonly Range[], grid: Grid, emit: Emit): void {
  total([], ranges, grid, (atMs) => emit(atMs, 1));
}

/** A counter: from 0 at the start of the first range. ranges: of which there are figures; none touches another. */
export function total(figures: Figures, ranges: readonly Range[], grid: Grid, emit: Emit): void {
  const sum = new Sum(figures);
  for (const { fromMs, toMs } of ranges) {
    for (let atMs = fromMs; atMs < toMs; atMs += grid.stepMs) emit(atMs, sum.upTo(atMs));
    emit(endOf(toMs, grid), sum.upTo(toMs));
  }
}

/** Calls back for each UTC day of the ranges of which the beginning is known. */
function eachDay(ranges: readonly Range[], handle: (day: Range) => void): void {
  for (const { fromMs, toMs } of ranges)
    for (let startMs = Math.ceil(fromMs / dayMs) * dayMs; startMs < toMs; startMs += dayMs)
      handle({ fromMs: startMs, toMs: Math.min(startMs + dayMs, toMs) });
}

/** The times of a day's samples: once an hour, and the last one a step before midnight. */
function timesOfDay({ fromMs, toMs }: Range, grid: Grid): readonly number[] {
  const lastMs = toMs === floor(toMs, dayMs) ? toMs - grid.stepMs : endOf(toMs, grid);
  const hours: number[] = [];
  for (let atMs = fromMs; atMs < lastMs; atMs += hourMs) hours.push(atMs);
  return [...hours, lastMs];
}

/** What the day has so far: 0 at midnight, and all of it in its last sample. ranges: as for `total`. */
export function latestDay(figures: Figures, ranges: readonly Range[], grid: Grid, emit: Emit): void {
  const sum = new Sum(figures);
  eachDay(ranges, (day) => {
    sum.begin(day.fromMs);
    const times = timesOfDay(day, grid);
    for (const [at, atMs] of times.entries()) emit(atMs, sum.upTo(at === times.length - 1 ? day.toMs : atMs));
  });
}

/** The start of that day, with each of its samples. In seconds since 1970. */
export function latestDayStamp(ranges: readonly Range[], grid: Grid, emit: Emit): void {
  eachDay(ranges, (day) => {
    for (const atMs of timesOfDay(day, grid)) emit(atMs, day.fromMs / 1000);
  });
}
