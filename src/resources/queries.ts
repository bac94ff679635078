/**
 * Which requests a kind makes for a range of time, and the range of a poll: today, and the days that the last good poll left open,
 * so that each day ends with its final figures. An operation that gives the past 28 days anyway needs none of these.
 */
import type { Query, ReadContext } from './resource.ts';
import { daySeconds, hourSeconds, type Range, startOfDay } from './times.ts';

const dayMs = daySeconds * 1000;
/** How long after midnight yesterday is still requested: its last figures come late. */
const graceMs = 900_000;
/** The most days that a poll catches up on, today included. */
const maxDays = 28;

function midnightBefore(ms: number): number {
  return startOfDay(ms / 1000) * 1000;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * What a poll reads: up to now, from the day on that the last good poll left open because it may have grown since; today, if that
 * was the first poll, or the query needs no other day.
 */
export function openRange({ nowMs, lastBeganMs }: ReadContext, { graceMs }: Pick<Query, 'graceMs'>): Range {
  const today = midnightBefore(nowMs);
  const isToday = lastBeganMs === undefined || graceMs === undefined;
  const open = isToday ? today : midnightBefore(lastBeganMs - graceMs);
  return { fromMs: Math.min(today, Math.max(open, today - (maxDays - 1) * dayMs)), toMs: nowMs + 1 };
}

/** Up to the end of the last day of a range. */
function wholeDays({ fromMs, toMs }: Range): Range {
  return { fromMs, toMs: midnightBefore(toMs - 1) + dayMs };
}

function daysOf({ fromMs, toMs }: Range): readonly Range[] {
  return Array.from({ length: Math.ceil((toMs - fromMs) / dayMs) }, (_, at) => {
    const startMs = fromMs + at * dayMs;
    return { fromMs: startMs, toMs: Math.min(startMs + dayMs, toMs) };
  });
}

/** The query for whole days. */
type DaysQuery = (range: Range) => string;

const datesOf: DaysQuery = ({ fromMs, toMs }) => `dateFrom=${dateOf(fromMs)}&dateTo=${dateOf(toMs - 1)}`;

/** A date alone would mean its first moment and leave out today. */
function instantsOf(from: string, to: string): DaysQuery {
  return ({ fromMs, toMs }) => `${from}=${dateOf(fromMs)}T00:00:00Z&${to}=${dateOf(toMs - 1)}T23:59:59Z`;
}

function inOne(queryOf: DaysQuery): Query['requestsFor'] {
  return (range) => {
    const days = wholeDays(range);
    return [{ range: days, query: queryOf(days) }];
  };
}

function oneByOne(queryOf: DaysQuery): Query['requestsFor'] {
  return (range) => daysOf(wholeDays(range)).map((day) => ({ range: day, query: queryOf(day) }));
}

/** One request, for what is about no range of time. */
export const once: Query = { requestsFor: () => [{ query: '' }] };

/** All days in one request: charts have a point a day. */
export const openDays: Query = { graceMs, requestsFor: inOne(datesOf) };

/** The same, today only: without counters no earlier day matters. */
export const today: Query = { requestsFor: inOne(datesOf) };

/** One request for each day: for operations that sum over the days requested. Nearly always only today. */
export const eachDay: Query = { graceMs, requestsFor: oneByOne(datesOf) };

/**
 * Each day by hours. Yesterday is requested until its last hour has ended for two hours: for one of them it is the newest hour, and
 * until then its figures come late.
 */
export const eachDayByHours: Query = {
  graceMs: 2 * hourSeconds * 1000,
  isByHours: true,
  requestsFor: oneByOne((day) => `${instantsOf('dateFrom', 'dateTo')(day)}&hourly=true&exactRange=true`),
};

/** All days in one request, for an operation that takes date-times. more: the rest of the query. */
export function openInstants(from: string, to: string, more: string): Query {
  return { graceMs, requestsFor: inOne((days) => `${instantsOf(from, to)(days)}&${more}`) };
}

/** All days in one request, for an operation that takes date-times. It ends with the range, so no hour of it is in the future. */
export function openHours(from: string, to: string): Query {
  return {
    graceMs,
    isByHours: true,
    requestsFor: (range) => {
      const [first, last] = [range.fromMs, range.toMs - 1].map((ms) => new Date(ms).toISOString());
      return [{ range, query: `${from}=${first}&${to}=${last}` }];
    },
  };
}

/** Each day by itself and by hours, up to the end of the range, for an operation that takes instants and sums over the time between them. */
export function eachOpenDay(from: string, to: string, more: string): Query {
  return {
    graceMs,
    isByHours: true,
    requestsFor: (range) =>
      daysOf(range).map((day) => {
        const [first, last] = [day.fromMs, day.toMs - 1].map((ms) => new Date(ms).toISOString());
        return { range: day, query: `${from}=${first}&${to}=${last}&${more}` };
      }),
  };
}

/** Each day by itself, for an operation that has the day in its path. write: how, from the ISO 8601 date. */
export function eachDate(write: (date: string) => string, query = ''): Query {
  return {
    graceMs,
    requestsFor: (range) =>
      daysOf(wholeDays(range)).map((day) => ({ range: day, date: write(dateOf(day.fromMs)), query })),
  };
}
