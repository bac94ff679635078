/**
 * Days and the figures of a day: the names that the API gives them, how a day's figures grow, and the charts that have a
 * point for each.
 */
import type { Request } from './kind.ts';

export const dayMs = 86_400_000;
export const hourMs = 3_600_000;
export const minuteMs = 60_000;
/** Days in the windows of the Shield metrics. */
const windowDays = 28;

/** The day that holds this moment, counted from the epoch. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / dayMs);
}

/** Midnight UTC; some charts write it without a zone. */
export function instantOf(day: number, isZoned = true): string {
  return `${new Date(day * dayMs).toISOString().slice(0, 19)}${isZoned ? 'Z' : ''}`;
}

/** `dd-MM-yyyy` */
function dayMonthYear(day: number): string {
  return instantOf(day).slice(0, 10).split('-').reverse().join('-');
}

/** The figures of each day of the window by its name, and their sums. Every third entity has its days in no order. */
export function windowOf<Figures extends Record<string, number>>(
  { index }: { readonly index: number },
  nowMs: number,
  none: Figures,
  figuresOf: (day: number) => Figures,
): { readonly totals: Figures; readonly days: Readonly<Record<string, Figures>> } {
  const today = dayOf(nowMs);
  const totals: Record<string, number> = { ...none };
  const days: Record<string, Figures> = {};
  for (let turn = 0; turn < windowDays; turn += 1) {
    const slot = index % 3 === 1 ? (turn * 11) % windowDays : turn;
    const day = today - (windowDays - 1 - slot);
    const figures = figuresOf(day);
    days[dayMonthYear(day)] = figures;
    for (const [name, figure] of Object.entries(figures)) totals[name] = (totals[name] ?? 0) + figure;
  }
  return { totals: totals as Figures, days };
}

/** The share of a day's figures that there is at this time: all of a past day, a growing part of today. */
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

/** The sum over the days of the calendar month up to now. */
export function monthSoFar(nowMs: number, figureOf: (day: number) => number): number {
  const now = new Date(nowMs);
  const first = dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  let sum = 0;
  for (let day = first; day <= dayOf(nowMs); day += 1) sum += figureOf(day);
  return sum;
}

const defaultDays = 30;
/** More are never sent. */
const maxDays = 400;

/** The days from `dateFrom` to `dateTo` that have begun, counted from the epoch; without these, the last 30. */
export function daysAsked({ query, nowMs }: Pick<Request, 'query' | 'nowMs'>): readonly number[] {
  const parameters = new URLSearchParams(query);
  const today = dayOf(nowMs);
  const last = Math.min(today, dayNamed(parameters.get('dateTo')) ?? today);
  const first = Math.max(last - maxDays, dayNamed(parameters.get('dateFrom')) ?? last - defaultDays + 1);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** The days that have begun and have a moment between two date-times, in the query under these names. */
export function daysBetween(
  { query, nowMs }: Pick<Request, 'query' | 'nowMs'>,
  from: string,
  to: string,
): readonly number[] {
  const parameters = new URLSearchParams(query);
  // A clock that is ahead is answered with the newest day.
  const startMs = Math.min(nowMs, Date.parse(parameters.get(from) ?? '') || nowMs);
  const endMs = Math.min(nowMs + 1, Date.parse(parameters.get(to) ?? '') || nowMs + 1);
  const length = Math.max(0, Math.ceil(endMs / dayMs) - dayOf(startMs));
  return Array.from({ length: Math.min(maxDays, length) }, (_, index) => dayOf(startMs) + index);
}

function dayNamed(date: string | null): number | undefined {
  const atMs = Date.parse(date ?? '');
  return Number.isNaN(atMs) ? undefined : dayOf(atMs);
}

/** Maps each day to its figure; some charts write their instants without a zone. */
export function chartOf(days: readonly number[], figureOf: (day: number) => number, isZoned = true) {
  return Object.fromEntries(days.map((day) => [instantOf(day, isZoned), figureOf(day)]));
}

/** The sum of the figures of the days. */
export function totalOf(days: readonly number[], figureOf: (day: number) => number): number {
  return days.reduce((total, day) => total + figureOf(day), 0);
}
