/**
 * Days: which ones a kind asks the API for, and how those of an answer are read. What is counted by days and has no map of
 * 28 of them is asked for the day so far; and for the days before that a previous poll left open, so that they close exactly.
 */
import {
  type Entries,
  entriesOf,
  type FieldType,
  mapped,
  type Notes,
  number,
  type ObjectType,
  readFields,
} from './fields.ts';
import type { DayFigure, Ids, ReadContext, ReadResource } from './resource.ts';
import { parseChartKey, parseDay } from './times.ts';

const daySeconds = 86_400;
/** How long after midnight the day before is still asked for: its last figures come late. */
const graceSeconds = 900;
/** The most days that are caught up on, today included. */
const maxDays = 28;

/** One day to ask for. */
interface DayToRead {
  /** Its start in UTC, in seconds since 1970. */
  readonly startSeconds: number;
  /** The query that asks for this day alone: `dateFrom=2026-08-20&dateTo=2026-08-20`. */
  readonly query: string;
}

function startOfDay(seconds: number): number {
  return Math.floor(seconds / daySeconds) * daySeconds;
}

function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function queryOf(fromSeconds: number, toSeconds: number): string {
  return `dateFrom=${dateOf(fromSeconds)}&dateTo=${dateOf(toSeconds)}`;
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
 * The same days for an operation that takes date-times: from the first moment of the first day to the last of today. A date
 * alone would be the first moment of that day, which leaves nothing of today.
 */
export function instantQuery(context: ReadContext, from: string, to: string): string {
  const [first, last] = [firstDay(context), context.nowMs / 1000].map(dateOf);
  return `${from}=${first}T00:00:00Z&${to}=${last}T23:59:59Z`;
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
 * How a kind is read that is asked for one day after the other, all that are still open. A list has the days of all answers;
 * any other field is today's.
 */
export function readDays<Reading>(
  type: ObjectType<Reading>,
  pathOf: (ids: Ids, query: string) => string,
): ReadResource<Reading>['read'] {
  return async (get, ids, diagnostics, context) => {
    const answers: Reading[] = [];
    for (const { startSeconds, query } of daysToRead(context)) {
      answers.push(readFields(type, await get(pathOf(ids, query)), diagnostics, startSeconds));
    }
    const joined = type.names.map((name): [string, unknown] => {
      const values: readonly unknown[] = answers.map((answer) => answer[name as keyof Reading]);
      return [name, values.some(Array.isArray) ? values.flatMap((value) => value ?? []) : values.at(-1)];
    });
    return Object.fromEntries(joined) as Reading;
  };
}

/** The start of the UTC day of a chart's key: a date, an ISO 8601 date-time or Unix time in seconds. US-style dates are ambiguous. */
function dayOfKey(key: string): number | undefined {
  return /^\d{9,11}$/.test(key) ? startOfDay(Number(key)) : parseDay(key);
}

/** What there is of each day. A key that is no day is noted and passed over. Undefined where no key is a day. */
function byDay<Value>(entries: Entries<Value>, notes: Notes): readonly [number, Value][] | undefined {
  const given = entries.filter((entry): entry is [string, Value] => entry[1] !== undefined);
  const days: [number, Value][] = [];
  for (const [key, value] of given) {
    const startSeconds = dayOfKey(key);
    if (startSeconds === undefined) notes.badKey('a day');
    else days.push([startSeconds, value]);
  }
  return days.length === 0 && given.length > 0 ? undefined : days;
}

/**
 * A chart of counts, as its days, the oldest first. The points of one day are added up. Of a chart without a day there is
 * nothing: that does not say that nothing was counted so far.
 */
export const counts: FieldType<readonly DayFigure[]> = mapped(entriesOf(number), (entries, notes) => {
  const sums = new Map<number, number>();
  const days = byDay(entries, notes);
  for (const [start, value] of days ?? []) sums.set(start, (sums.get(start) ?? 0) + value);
  const sorted = [...sums].toSorted(([a], [b]) => a - b);
  return days?.length ? sorted.map(([startSeconds, value]) => ({ startSeconds, value })) : undefined;
});

/** A chart of what cannot be added up, as its newest point. */
export const newestPoint = mapped(entriesOf(number), (entries, notes) => {
  let newest = { atSeconds: Number.NEGATIVE_INFINITY, value: undefined as number | undefined };
  for (const [key, value] of entries) {
    const atSeconds = parseChartKey(key) ?? parseDay(key);
    if (atSeconds === undefined) notes.badKey('a day');
    else if (value !== undefined && atSeconds >= newest.atSeconds) newest = { atSeconds, value };
  }
  return newest.value;
});

/** What was counted of one thing on one day. */
export interface Tallied extends DayFigure {
  readonly key: string;
}

/** A map from what is counted apart to its count on the day that was asked for. An empty one tells nothing. */
export const tallied: FieldType<readonly Tallied[]> = mapped(
  entriesOf(number),
  (entries, { daySeconds: day = 0 }) =>
    entries.length === 0
      ? undefined
      : entries.flatMap(([key, value]) => (value === undefined ? [] : [{ key, startSeconds: day, value }])),
);

/** One day of a map of days. */
export interface Day<Figures> {
  /** Its start in UTC, in seconds since 1970. */
  readonly startSeconds: number;
  readonly figures: Figures;
}

/** A map from days to figures, the newest first. Where no key is a day there is nothing, as of a chart. */
export function mapOfDays<Figures>(type: FieldType<Figures>): FieldType<readonly Day<Figures>[]> {
  return mapped(entriesOf(type), (entries, notes) =>
    byDay(entries, notes)
      ?.map(([startSeconds, figures]) => ({ startSeconds, figures }))
      .toSorted((a, b) => b.startSeconds - a.startSeconds),
  );
}
