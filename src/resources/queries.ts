/**
 * Which requests a kind makes for a range of time, and the range of a poll: today, and the days that may have grown since, so
 * that each day ends with its final figures. An operation that gives the past 28 days anyway needs none of these.
 */
import type { Query, ReadContext } from './resource.ts';
import { dayMs, hourMs, type Range, startOfDay } from './times.ts';

/** The most days that a poll catches up on, today included. */
const maxDays = 28;
/** How many days, today included, the API gives of its statistics; by hours it refuses those before the last 30. */
const yearDays = 365;
const hourlyDays = 30;

/** How long after midnight figures of yesterday still come. */
export const lateMs = 3 * hourMs;
/** Between two requests for yesterday in that time, where each is one more. */
const betweenMs = hourMs / 2;
/** After midnight: when yesterday is requested for the last time. */
const lastMs = 12 * hourMs;
/** How long an hour of yesterday may be the newest: until the first of today has ended, and its figures are there. */
const newestHourMs = 2 * hourMs;
/** How long an hour of yesterday may be the newest as long as today has no figures. */
const emptyDayMs = lateMs + hourMs;

function midnightBefore(ms: number): number {
  return startOfDay(ms / 1000) * 1000;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** What a poll asks for. */
interface Asked {
  /** Up to now, from the start of a UTC day on. */
  readonly range: Range;
  /** The days that are shown begin here; earlier ones are only counted. Unix time. */
  readonly shownFromMs: number;
  /** Whether that has every day that may have grown. */
  readonly isCaughtUp: boolean;
}

/** What a poll asks for: today, and what may have grown since the last poll that had every such day. */
export function askedFor(
  { nowMs, caughtUpMs, newestDayMs = Number.NEGATIVE_INFINITY }: Omit<ReadContext, 'past'>,
  { yesterday }: Pick<Query, 'yesterday'>,
): Asked {
  const todayMs = midnightBefore(nowMs);
  const toMs = nowMs + 1;
  if (yesterday === undefined)
    return { range: { fromMs: todayMs, toMs }, shownFromMs: todayMs, isCaughtUp: true };
  const yesterdayMs = todayMs - dayMs;
  // A clock that was ahead until now says nothing.
  const beforeMs = caughtUpMs !== undefined && caughtUpMs <= nowMs ? caughtUpMs : Number.NEGATIVE_INFINITY;
  const grownMs = Number.isFinite(beforeMs) ? growingAfter(beforeMs) : firstGrowing(yesterdayMs, newestDayMs);
  const growingFromMs = Math.min(todayMs, Math.max(grownMs, todayMs - (maxDays - 1) * dayMs));
  const isDue =
    beforeMs < todayMs ||
    nowMs >= todayMs + lastMs ||
    (nowMs < todayMs + lateMs && Math.floor(nowMs / betweenMs) !== Math.floor(beforeMs / betweenMs));
  const nightMs = newestDayMs < todayMs ? emptyDayMs : newestHourMs;
  const isShown = yesterday === 'always' || (yesterday === 'newest_hour' && nowMs < todayMs + nightMs);
  const wantedMs = isDue ? growingFromMs : todayMs;
  const fromMs = isShown ? Math.min(growingFromMs, yesterdayMs) : wantedMs;
  return {
    range: { fromMs, toMs },
    shownFromMs: isShown ? yesterdayMs : todayMs,
    isCaughtUp: fromMs <= growingFromMs,
  };
}

/** From which day on days may have grown, where nothing says when they were last read. */
function firstGrowing(yesterdayMs: number, newestDayMs: number): number {
  return Number.isFinite(newestDayMs) ? Math.min(yesterdayMs, newestDayMs) : yesterdayMs;
}

/** From which day on days may grow after a poll that had every such day: the one before its own, until noon. */
function growingAfter(ms: number): number {
  const midnightMs = midnightBefore(ms);
  return ms - midnightMs >= lastMs ? midnightMs : midnightMs - dayMs;
}

/** The start of the first of so many days, today included. Unix time. */
export function firstOfDays(days: number, nowMs: number): number {
  return midnightBefore(nowMs) - (days - 1) * dayMs;
}

/** The query for a range of the past, which begins with a UTC day. */
export function queryOfPast(query: Query, { fromMs }: Range, nowMs: number): Query {
  return query.older && fromMs < firstOfDays(hourlyDays, nowMs) ? query.older : query;
}

/** A range up to the end of its last day. */
function wholeDays({ fromMs, toMs }: Range): Range {
  return { fromMs, toMs: midnightBefore(toMs - 1) + dayMs };
}

/** The days of a range that begins with a UTC day; the last one ends with the range. */
export function daysIn({ fromMs, toMs }: Range): readonly Range[] {
  return Array.from({ length: Math.max(0, Math.ceil((toMs - fromMs) / dayMs)) }, (_, at) => {
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
  return (range) => daysIn(wholeDays(range)).map((day) => ({ range: day, query: queryOf(day) }));
}

/** One request, for what is about no range of time. */
export const once: Query = { requestsFor: () => [{ query: '' }] };

/** All days in one request: charts have a point a day. */
export const daysInOne: Query = { yesterday: 'always', requestsFor: inOne(datesOf) };

/** Today alone, in one request: without counters no earlier day matters. */
export const today: Query = { requestsFor: inOne(datesOf) };

/** One request for each day: for operations that sum over the days requested. Mostly only today. */
export const eachDay: Query = { yesterday: 'late', requestsFor: oneByOne(datesOf) };

/** One request for each day, for statistics that the API has for a year. */
export const eachDayOfYear: Query = { ...eachDay, reachDays: yearDays };

/** Each day without its hours, for an operation that takes date-times. */
const eachDayOfInstants: Query['requestsFor'] = oneByOne(instantsOf('dateFrom', 'dateTo'));

/** Each day by hours. */
export const eachDayByHours: Query = {
  yesterday: 'newest_hour',
  isByHours: true,
  requestsFor: oneByOne((day) => `${instantsOf('dateFrom', 'dateTo')(day)}&hourly=true&exactRange=true`),
  reachDays: yearDays,
  older: { requestsFor: eachDayOfInstants },
};

/** All days in one request, for an operation that takes date-times. more: the rest of the query. */
export function instantsInOne(from: string, to: string, more: string): Query {
  return { yesterday: 'always', requestsFor: inOne((days) => `${instantsOf(from, to)(days)}&${more}`) };
}

/**
 * Each day by itself and by hours, up to the end of the range, for an operation that takes instants and sums over the time between them.
 *
 * @param byHours the rest of the query, where hours are wanted
 * @param reachDays see `Query`
 */
export function eachDayUntilNow(from: string, to: string, byHours: string, reachDays: number): Query {
  const requestsFor =
    (more: string): Query['requestsFor'] =>
    (range) =>
      daysIn(range).map((day) => {
        const [first, last] = [day.fromMs, day.toMs - 1].map((ms) => new Date(ms).toISOString());
        return { range: day, query: `${from}=${first}&${to}=${last}${more}` };
      });
  return {
    yesterday: 'newest_hour',
    isByHours: true,
    requestsFor: requestsFor(`&${byHours}`),
    reachDays,
    older: { requestsFor: requestsFor('') },
  };
}

/** Each day by itself, for an operation that has the day in its path. write: how, from the ISO 8601 date. */
export function eachDate(write: (date: string) => string, query = ''): Query {
  return {
    yesterday: 'late',
    requestsFor: (range) =>
      daysIn(wholeDays(range)).map((day) => ({ range: day, date: write(dateOf(day.fromMs)), query })),
  };
}
