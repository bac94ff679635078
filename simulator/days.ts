/**
 * Days, counted from the epoch, and the figures of a day: how they grow, the names that the API gives to days, and the
 * charts that have a point for each.
 */
import { type Entity, unit } from './entities.ts';
import type { Request } from './kind.ts';

export const dayMs = 86_400_000;
export const hourMs = 3_600_000;
export const minuteMs = 60_000;

/** Maps a day to its figure. */
export type DayFigure = (day: number) => number;

/** The day that holds this moment. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / dayMs);
}

export function monthStartMs(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
}

/** ISO 8601 without a fraction and without a zone. */
export function secondOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19);
}

/** The share of a day's final figures that it has at this time: 1 for a past day, a growing part for today. */
export function doneOf(day: number, nowMs: number): number {
  const part = (nowMs - day * dayMs) / dayMs;
  if (part >= 1) return 1;
  return part - (0.7 * Math.sin(2 * Math.PI * part)) / (2 * Math.PI);
}

/** Less on the two days of the weekend. */
export function weekdayShare(day: number): number {
  const weekday = (day + 4) % 7;
  return weekday === 0 || weekday === 6 ? 0.7 : 1;
}

/** A figure that varies from day to day, from `low` to `low + spread` of what is usual, and grows until midnight. */
export function daily(
  { seed }: Pick<Entity, 'seed'>,
  figure: number,
  usual: number,
  nowMs: number,
  low = 0.75,
  spread = 0.5,
): DayFigure {
  return (day) =>
    Math.floor(usual * weekdayShare(day) * (low + spread * unit(seed, day, figure)) * doneOf(day, nowMs));
}

/** The sum of these figures of a day. */
export function sumOf(...figures: readonly DayFigure[]): DayFigure {
  return (day) => figures.reduce((sum, figureOf) => sum + figureOf(day), 0);
}

/** The sum of the figures of these days. */
export function totalOf(days: readonly number[], figureOf: DayFigure): number {
  return days.reduce((total, day) => total + figureOf(day), 0);
}

/** The sum over the days of the calendar month up to now. */
export function monthSoFar(nowMs: number, figureOf: DayFigure): number {
  return totalOf(daysFrom(dayOf(monthStartMs(nowMs)), dayOf(nowMs)), figureOf);
}

/** The days from first to last, both included. */
export function daysFrom(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** The days that a query requests and that have begun; by default the last 30. A date means its whole day, a date-time a moment. */
export function queryDays({ query, nowMs }: Request, from = 'dateFrom', to = 'dateTo'): readonly number[] {
  const atOf = (name: string) => Date.parse(query.get(name) ?? '') / dayMs;
  const end = query.get(to)?.includes('T') ? atOf(to) : atOf(to) + 1;
  const last = Math.min(dayOf(nowMs), Math.ceil(end || Number.POSITIVE_INFINITY) - 1);
  return daysFrom(Math.floor(atOf(from) || last - 29), last);
}

/** How far back the statistics of pull zones go, and how many days they give at once. */
export const reachOfStatistics = { from: 'dateFrom', to: 'dateTo', days: 365, hourlyDays: 30, mostDays: 40 };

/** Maps each day to its figure; some charts write their instants without a zone. */
export function chartOf<Figure>(days: readonly number[], figureOf: (day: number) => Figure, isZoned = true) {
  return Object.fromEntries(
    days.map((day) => [`${secondOf(day * dayMs)}${isZoned ? 'Z' : ''}`, figureOf(day)]),
  );
}

/** Maps each hour of these days to its figure. Hours in the future have 0, as in the API. */
export function hourlyChartOf(
  days: readonly number[],
  nowMs: number,
  figureOf: (day: number, hour: number) => number,
  isZoned = true,
) {
  const hours = days.flatMap((day) => Array.from({ length: 24 }, (_, hour) => ({ day, hour })));
  return Object.fromEntries(
    hours.map(({ day, hour }) => {
      const startMs = day * dayMs + hour * hourMs;
      return [`${secondOf(startMs)}${isZoned ? 'Z' : ''}`, startMs > nowMs ? 0 : figureOf(day, hour)];
    }),
  );
}

/** What an hour contributes to the figure of its day. The hours of a day add up to its figure. */
export function hourOf(figureOf: DayFigure, nowMs: number) {
  return (day: number, hour: number) => {
    const doneAt = (atMs: number) => doneOf(day, Math.min(atMs, nowMs)) / doneOf(day, nowMs);
    const until = (end: number) => Math.floor(figureOf(day) * doneAt(day * dayMs + end * hourMs));
    return until(hour + 1) - until(hour);
  };
}

/** Days in the windows of the Shield metrics. */
const windowDays = 28;

/**
 * The figures of each day of the window, by its name `dd-MM-yyyy`, and their sums. Every third entity has its days in no
 * order; a new one has counted nothing yet.
 */
export function windowOf(
  { index }: Entity,
  nowMs: number,
  figures: Readonly<Record<string, DayFigure>>,
  isNew = false,
) {
  const on = (read: (figureOf: DayFigure) => number) =>
    Object.fromEntries(Object.entries(figures).map(([name, figureOf]) => [name, read(figureOf)]));
  if (isNew) return { totals: on(() => 0), days: null };
  const first = dayOf(nowMs) - windowDays + 1;
  const days = daysFrom(0, windowDays - 1).map(
    (turn) => first + (index % 3 === 1 ? (turn * 11) % windowDays : turn),
  );
  const nameOf = (day: number) =>
    secondOf(day * dayMs)
      .slice(0, 10)
      .split('-')
      .reverse()
      .join('-');
  return {
    totals: on((figureOf) => totalOf(days, figureOf)),
    days: Object.fromEntries(days.map((day) => [nameOf(day), on((figureOf) => figureOf(day))])),
  };
}
