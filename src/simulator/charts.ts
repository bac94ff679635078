/** Charts of the core API: a point for each day that a query asks for. */
import { dayMs, dayOf } from './days.ts';
import type { Request } from './request.ts';

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

function dayNamed(date: string | null): number | undefined {
  const atMs = Date.parse(date ?? '');
  return Number.isNaN(atMs) ? undefined : dayOf(atMs);
}

/** Maps each day to its figure; some charts write their instants without a zone. */
export function chartOf(days: readonly number[], figureOf: (day: number) => number, isZoned = true) {
  const suffix = isZoned ? 'Z' : '';
  return Object.fromEntries(
    days.map((day) => [`${new Date(day * dayMs).toISOString().slice(0, 19)}${suffix}`, figureOf(day)]),
  );
}

/** The sum of the figures of the days. */
export function totalOf(days: readonly number[], figureOf: (day: number) => number): number {
  return days.reduce((total, day) => total + figureOf(day), 0);
}
