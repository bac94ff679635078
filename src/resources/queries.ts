/**
 * Which days a kind requests: today, and the days that the previous poll left open, so that each day ends with its final figures.
 * An operation that gives the past 28 days anyway needs none of these.
 */
import type { ReadContext } from './resource.ts';
import { daySeconds, hourSeconds, startOfDay } from './times.ts';

/** How long after midnight yesterday is still requested: its last figures come late. */
const graceSeconds = 900;
/** The most days that are caught up on, today included. */
const maxDays = 28;

/** The requests of one read, one after the other. */
export type Query = (context: ReadContext) => readonly {
  /** `dateFrom=2026-08-20&dateTo=2026-08-20`. */
  readonly query: string;
  /** Start of the UTC day that it is for, in seconds since 1970, where that is one day. */
  readonly startSeconds?: number;
  /** That day as the path has it, after the ids. */
  readonly date?: string;
}[];

function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** A query for the days from one to another, both whole. */
type DaysQuery = (fromSeconds: number, toSeconds: number) => string;

const datesOf: DaysQuery = (fromSeconds, toSeconds) =>
  `dateFrom=${dateOf(fromSeconds)}&dateTo=${dateOf(toSeconds)}`;

/** A date alone would mean its first moment and leave out today. */
function instantsOf(from: string, to: string): DaysQuery {
  return (fromSeconds, toSeconds) =>
    `${from}=${dateOf(fromSeconds)}T00:00:00Z&${to}=${dateOf(toSeconds)}T23:59:59Z`;
}

/** The first day to request: today, or the day of the last good poll, which may have grown since. */
function firstDay({ nowMs, lastBeganMs }: ReadContext, grace = graceSeconds): number {
  const today = startOfDay(nowMs / 1000);
  if (lastBeganMs === undefined) return today;
  const open = startOfDay(lastBeganMs / 1000 - grace);
  return Math.min(today, Math.max(open, today - (maxDays - 1) * daySeconds));
}

/** Today and the days that are still open, in one request: charts have a point a day. */
export const openDays: Query = (context) => [
  { query: datesOf(firstDay(context), startOfDay(context.nowMs / 1000)) },
];

/** Today only: without counters no earlier day matters. */
export const today: Query = ({ nowMs }) => openDays({ nowMs });

function eachDayAs(queryOf: DaysQuery, grace?: number): Query {
  return (context) => {
    const first = firstDay(context, grace);
    const days = (startOfDay(context.nowMs / 1000) - first) / daySeconds + 1;
    return Array.from({ length: days }, (_, day) => {
      const startSeconds = first + day * daySeconds;
      return { startSeconds, query: queryOf(startSeconds, startSeconds) };
    });
  };
}

/** The same days, oldest first, one request each: for operations that sum over the days requested. Nearly always only today. */
export const eachDay = eachDayAs(datesOf);

const dayByHours: DaysQuery = (...day) =>
  `${instantsOf('dateFrom', 'dateTo')(...day)}&hourly=true&exactRange=true`;

/**
 * The same days by hours. Yesterday is requested until its last hour has ended for two hours: for one of them it is the newest
 * hour, and until then its figures come late.
 */
export const eachDayByHours = eachDayAs(dayByHours, 2 * hourSeconds);

/** The same days for an operation that takes date-times, in one request. more: the rest of the query. */
export function openInstants(from: string, to: string, more: string): Query {
  return (context) => [{ query: `${instantsOf(from, to)(firstDay(context), context.nowMs / 1000)}&${more}` }];
}

/** The same days in one request, for an operation that takes date-times. It ends now, so no hour of it is in the future. */
export function openHours(from: string, to: string): Query {
  return (context) => [
    {
      query: `${from}=${dateOf(firstDay(context))}T00:00:00.000Z&${to}=${new Date(context.nowMs).toISOString()}`,
    },
  ];
}

/** Each of these days by itself, up to now, for an operation that takes instants and sums over the time between them. */
export function eachOpenDay(from: string, to: string, more: string): Query {
  return (context) =>
    eachDay(context).map(({ startSeconds = 0 }) => {
      const endMs = Math.min(context.nowMs, (startSeconds + daySeconds) * 1000 - 1);
      const [first, last] = [startSeconds * 1000, endMs].map((ms) => new Date(ms).toISOString());
      return { startSeconds, query: `${from}=${first}&${to}=${last}&${more}` };
    });
}

/** Each of these days by itself, for an operation that has the day in its path. write: how, from the ISO 8601 date. */
export function eachDate(write: (date: string) => string, query = ''): Query {
  return (context) =>
    eachDay(context).map(({ startSeconds = 0 }) => ({
      startSeconds,
      date: write(dateOf(startSeconds)),
      query,
    }));
}
