/**
 * What an answer says of the range that was requested: whether its figures without days can be those of that day, and which charts are
 * empty because nothing was counted. A chart that is empty or missing says nothing itself.
 */
import { type Answer, type Diagnostics, type FieldType, number } from './fields.ts';
import type { RequestedRange } from './requested.ts';
import type { DayFigure, ToldBy } from './resource.ts';
import type { TallyEntry, TallyType } from './tallies.ts';
import { startOfDay } from './times.ts';

/** What the types in the table of a kind can say of their field. */
interface Marks extends Partial<Pick<TallyType, 'isTally'>> {
  /** The field is of the whole range that was requested, though it is no number. */
  readonly isOfRange?: true;
  /** The field is not shown: it only says what charts have. */
  readonly isSum?: true;
  readonly toldBy?: ToldBy;
}
type Types = readonly (readonly [field: string, type: FieldType & Marks])[];
type Read = Readonly<Record<string, unknown>>;

/** Marks a type whose parts are figures of the whole range that was requested. Numbers and tallies need no mark. */
export function ofRange<Value>(type: FieldType<Value>): FieldType<Value> & Marks {
  return { ...type, isOfRange: true };
}

/** The sum of a chart over the range that was requested. */
export const sum: FieldType<number> & Marks = { ...number, isSum: true };

/** The reading without what is not of the range that was requested, and with an empty list for each chart in which nothing was counted. */
export function answerOfRange<Reading>(
  { shape }: Pick<Answer, 'shape'>,
  reading: Reading,
  requested: RequestedRange,
  diagnostics: Diagnostics,
): Reading {
  const types: Types = Object.entries(shape);
  const read = reading as Read;
  const ofDay = requested.isOneDay ? ofOneDay(types, read, requested, diagnostics) : read;
  return withNones(types, ofDay) as Reading;
}

/**
 * A figure without days of its own is of all days that the answer is about: it is left out, and noted, if a chart beside it has
 * counted something on another day, or has no day that can be read. A tally is also left out, and noted, if it sums to more than its
 * chart has on the day that was requested.
 */
function ofOneDay(
  types: Types,
  read: Read,
  { startSeconds, doubt, ofOtherDays }: RequestedRange,
  diagnostics: Diagnostics,
): Read {
  const isOfThatDay = ([name, type]: Types[number]) => {
    const { isTally, toldBy, isSum, isOfRange, documented = {} } = type;
    if (read[name] === undefined) return true;
    const { fields, values, elements } = documented;
    const isNumber = !fields && !values && !elements;
    if (!isTally && !isOfRange && !isNumber) return true;
    if (doubt !== undefined) {
      if (!isSum) diagnostics.mismatch(name, 'figures of the day that was requested', doubt);
      return false;
    }
    const by = isTally ? toldBy?.sum : undefined;
    const chart = by !== undefined && ofOtherDays.has(by) ? [] : (read[by ?? ''] as Days);
    if (!chart) return true;
    const all = chart.reduce(
      (of, day) => of + (startOfDay(day.startSeconds) === startSeconds ? day.value : 0),
      0,
    );
    // A negative count would make room for others.
    const entries = read[name] as readonly TallyEntry[];
    const ofTally = entries.reduce((sum, { value }) => sum + Math.max(0, value), 0);
    if (ofTally <= all * (1 + believedShare)) return true;
    diagnostics.mismatch(name, `counts that add up to no more than ${toldBy?.sum}`, 'more than that');
    return false;
  };
  return without(
    read,
    types.filter((one) => !isOfThatDay(one)).map(([name]) => name),
  );
}

type Days = readonly DayFigure[] | undefined;

function without(read: Read, fields: readonly string[]): Read {
  return fields.length === 0
    ? read
    : { ...read, ...Object.fromEntries(fields.map((name) => [name, undefined])) };
}

/** The share by which the counts of a tally may exceed their chart, since the API rounds. */
const believedShare = 0.01;

/** Whether a sum is at most a limit, though sums of doubles are inexact. */
function isAtMost(value: number, limit: number): boolean {
  return value <= limit * (1 + 1e-9);
}

/** An empty list for each chart that lacks its days because a sum beside it is 0, or because the other charts are the whole. */
function withNones(types: Types, read: Read): Read {
  const told: Record<string, unknown> = { ...read };
  // In the order of the table: a chart that is told to be empty tells the tally after it.
  for (const [name, { toldBy }] of types) {
    if (told[name] !== undefined || !toldBy) continue;
    const { sum: by, whole } = toldBy;
    if ((by !== undefined && isNone(told[by])) || (whole !== undefined && isWhole(whole, types, told)))
      told[name] = [];
  }
  return told;
}

/** Whether a sum, or all that a chart has, is 0. */
function isNone(value: unknown): boolean {
  return Array.isArray(value) ? (value as DayFigure[]).every((day) => day.value === 0) : value === 0;
}

/** Whether the charts that are there add up to this one. */
function isWhole(whole: string, types: Types, read: Read): boolean {
  const sumOf = (names: readonly string[]) =>
    names.flatMap((name) => (read[name] as Days) ?? []).reduce((all, { value }) => all + value, 0);
  if (!read[whole]) return false;
  const parts = sumOf(types.filter(([, { toldBy }]) => toldBy?.whole === whole).map(([name]) => name));
  const all = sumOf([whole]);
  return isAtMost(parts, all) && isAtMost(all, parts);
}
