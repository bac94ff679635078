/**
 * Days: which ones a kind asks the API for, and how those of an answer are read. What is counted by days and has no map of
 * 28 of them is asked for the day so far; and for the days before that a previous poll left open, so that they close exactly.
 */
import type { Entries } from './fields.ts';
import type { DayFigure, Diagnostics, ReadContext } from './resource.ts';
import { parseDay } from './times.ts';

const daySeconds = 86_400;
/** How long after midnight the day before is still asked for: its last figures come late. */
const graceSeconds = 900;
/** The most days that are caught up on, today included. */
const maxDays = 28;

export interface Day<Figures> {
  /** Its start in UTC, in seconds since 1970. */
  readonly startSeconds: number;
  readonly figures: Figures;
}

/** One day to ask for. */
export interface DayToRead {
  /** Its start in UTC, in seconds since 1970. */
  readonly startSeconds: number;
  /** The query that asks for this day alone: `dateFrom=2026-08-20&dateTo=2026-08-20`. */
  readonly query: string;
}

function startOfDay(seconds: number): number {
  return Math.floor(seconds / daySeconds) * daySeconds;
}

function queryOf(fromSeconds: number, toSeconds: number): string {
  const date = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
  return `dateFrom=${date(fromSeconds)}&dateTo=${date(toSeconds)}`;
}

/** The first day to ask for: today, or the day of the last good poll, which may have grown since. */
function firstDay({ nowMs, lastSuccessMs }: ReadContext): number {
  const today = startOfDay(nowMs / 1000);
  if (lastSuccessMs === undefined) return today;
  const open = startOfDay(lastSuccessMs / 1000 - graceSeconds);
  return Math.min(today, Math.max(open, today - (maxDays - 1) * daySeconds));
}

/** The query for the day so far and for the days that are still open, all in one answer; charts have a point a day. */
export function dayQuery(context: ReadContext): string {
  return queryOf(firstDay(context), startOfDay(context.nowMs / 1000));
}

/**
 * The same days, the oldest first, for one request each: for figures that the API sums up over all the days asked for.
 * Nearly always it is today alone.
 */
export function daysToRead(context: ReadContext): readonly DayToRead[] {
  const today = startOfDay(context.nowMs / 1000);
  const days: DayToRead[] = [];
  for (let day = firstDay(context); day <= today; day += daySeconds) {
    days.push({ startSeconds: day, query: queryOf(day, day) });
  }
  return days;
}

/**
 * The days of a 28-day map, the newest first; a key that is no day is noted and passed over. Undefined where there is no map,
 * or no key of it is a day: a map without a day would say that nothing was counted so far.
 */
export function mapDays<Figures>(
  map: Entries<Figures> | undefined,
  field: string,
  diagnostics: Diagnostics,
): readonly Day<Figures>[] | undefined {
  if (!map) return undefined;
  const days: Day<Figures>[] = [];
  for (const [key, figures] of map) {
    const startSeconds = parseDay(key);
    if (startSeconds === undefined) diagnostics.mismatch(field, 'a day as key', 'another text');
    else if (figures) days.push({ startSeconds, figures });
  }
  if (days.length === 0 && map.some(([, figures]) => figures)) return undefined;
  return days.toSorted((a, b) => b.startSeconds - a.startSeconds);
}

/** One figure of each of these days. Undefined where there are none, or the figure is missing on all of them. */
export function figureByDay<Figures>(
  days: readonly Day<Figures>[] | undefined,
  pick: (figures: Figures) => number | null | undefined,
): readonly DayFigure[] | undefined {
  const figures = days?.flatMap(({ startSeconds, figures }) => {
    const value = pick(figures);
    return typeof value === 'number' ? [{ startSeconds, value }] : [];
  });
  return days?.length && !figures?.length ? undefined : figures;
}

/** The start of the UTC day of a chart's key: a date, an ISO 8601 date-time or Unix time in seconds. US-style dates are ambiguous. */
function dayOfKey(key: string): number | undefined {
  return /^\d{9,11}$/.test(key) ? startOfDay(Number(key)) : parseDay(key);
}

/**
 * The days of a chart of counts, the oldest first; the points of one day are added up. A key that is no day is noted and passed over,
 * a point without a number is passed over. Undefined where the API gave no chart, or no key of it is a day: a chart without a
 * day would say that nothing was counted so far.
 */
export function chartDays(
  chart: Entries<number> | undefined,
  field: string,
  diagnostics: Diagnostics,
): readonly DayFigure[] | undefined {
  if (!chart) return undefined;
  const days = new Map<number, number>();
  for (const [key, value] of chart) {
    const startSeconds = dayOfKey(key);
    if (startSeconds === undefined) diagnostics.mismatch(field, 'a day as key', 'another text');
    else if (typeof value === 'number') days.set(startSeconds, (days.get(startSeconds) ?? 0) + value);
  }
  const hasPoint = chart.some(([, value]) => typeof value === 'number');
  if (days.size === 0 && hasPoint) return undefined;
  return [...days]
    .map(([startSeconds, value]) => ({ startSeconds, value }))
    .toSorted((a, b) => a.startSeconds - b.startSeconds);
}

/** The last point of the newest day of a chart of averages, which cannot be added up; otherwise as `chartDays`. */
export function newestPoint(
  chart: Entries<number> | undefined,
  field: string,
  diagnostics: Diagnostics,
): DayFigure | undefined {
  let newest: DayFigure | undefined;
  for (const [key, value] of chart ?? []) {
    const startSeconds = dayOfKey(key);
    if (startSeconds === undefined) diagnostics.mismatch(field);
    else if (typeof value === 'number' && startSeconds >= (newest?.startSeconds ?? startSeconds)) {
      newest = { startSeconds, value };
    }
  }
  return newest;
}
