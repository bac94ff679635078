/**
 * Statistics that are counted by days: asked for one day after the other, so that what has no chart is known by days, too, and
 * shown as the figure of the newest day and as a counter.
 */

import { familiesOf } from './by-hand.ts';
import { chartDays, daysToRead } from './days.ts';
import { entriesOf, number, type ObjectType, readFields, type ValueOf } from './fields.ts';
import type { CounterSample, DayFigure, Diagnostics, Family, Get, ReadContext, Sample } from './resource.ts';

/** A map from an instant, or from what is counted apart, to a number. */
export const chart = entriesOf(number);
type Chart = ValueOf<typeof chart>;

/** Most series of one target that are told apart by what the API calls them; the others are summed up. */
const maxKeys = 50;
/** The label of what is not told apart. What the API itself calls so is part of it. */
const other = 'other';

/** What was answered for one day. */
export interface DayAnswer<Answer> {
  /** Start of the UTC day, in seconds since 1970. */
  readonly startSeconds: number;
  readonly answer: Answer;
}

/** The answers for every day that is still open, the oldest first; the last is that for today. */
export async function readDays<Schema extends ObjectType>(
  schema: Schema,
  pathOf: (query: string) => string,
  get: Get,
  diagnostics: Diagnostics,
  context: ReadContext,
): Promise<readonly DayAnswer<ValueOf<Schema>>[]> {
  const answers: DayAnswer<ValueOf<Schema>>[] = [];
  for (const { startSeconds, query } of daysToRead(context)) {
    const answer = readFields(schema, await get(pathOf(query)), diagnostics);
    answers.push({ startSeconds, answer });
  }
  return answers;
}

/** The days of each of these charts; nothing for one that no answer has. */
export function readCharts<Field extends string>(
  fields: readonly Field[],
  answers: readonly DayAnswer<Readonly<Partial<Record<Field, Chart | undefined>>>>[],
  diagnostics: Diagnostics,
): Readonly<Record<Field, readonly DayFigure[] | undefined>> {
  const read = fields.map((field) => {
    const days = answers.map(({ answer }) => chartDays(answer[field], field, diagnostics));
    return [field, days.every((one) => one === undefined) ? undefined : days.flatMap((one) => one ?? [])];
  });
  return Object.fromEntries(read) as Record<Field, readonly DayFigure[] | undefined>;
}

/** What is counted apart by a name: the days of each. */
export type Tally = ReadonlyMap<string, readonly DayFigure[]>;

/** The days of what is counted apart; nothing where no answer has the field. */
export function readTally<Field extends string>(
  field: Field,
  answers: readonly DayAnswer<Readonly<Partial<Record<Field, Chart | undefined>>>>[],
): Tally | undefined {
  if (answers.every(({ answer }) => answer[field] === undefined)) return undefined;
  const all = new Map<string, DayFigure[]>();
  for (const { startSeconds, answer } of answers) {
    for (const [key, value] of answer[field] ?? []) {
      if (typeof value === 'number') all.set(key, [...(all.get(key) ?? []), { startSeconds, value }]);
    }
  }
  return all;
}

/** The largest over all days, at most 50, by name; what is left is summed up as `other`. */
function largestOf(tally: Tally): Tally {
  const ranked = [...tally]
    .filter(([key]) => key !== other)
    .toSorted(([a, ofA], [b, ofB]) => sum(ofB) - sum(ofA) || (a < b ? -1 : 1));
  const largest = ranked.slice(0, maxKeys).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rest = sumByDay([...ranked.slice(maxKeys).flatMap(([, days]) => days), ...(tally.get(other) ?? [])]);
  return new Map(rest.length > 0 ? [...largest, [other, rest]] : largest);
}

function sumByDay(days: readonly DayFigure[]): readonly DayFigure[] {
  const starts = [...new Set(days.map(({ startSeconds }) => startSeconds))];
  return starts.map((startSeconds) => ({
    startSeconds,
    value: sum(days.filter((day) => day.startSeconds === startSeconds)),
  }));
}

function sum(days: readonly DayFigure[]): number {
  return days.reduce((total, { value }) => total + value, 0);
}

/** The figure of the newest day that any of them has. */
export function newestFigures(series: readonly CounterSample[]): readonly Sample[] {
  const newest = newestStart(series.flatMap(({ days }) => days));
  return series.flatMap(({ labels, days }) => {
    const value = days.findLast(({ startSeconds }) => startSeconds === newest)?.value;
    return value === undefined ? [] : [labels === undefined ? { value } : { labels, value }];
  });
}

/** The start of the newest day, in seconds since 1970. */
export function newestStart(days: readonly DayFigure[]): number | undefined {
  return days.length === 0 ? undefined : Math.max(...days.map(({ startSeconds }) => startSeconds));
}

/** Declares figures that are counted by days. In each, words are as a HELP begins; from: the field, as a HELP names it. */
export function dailyFamiliesOf<Reading>(prefix: string) {
  const { gauge, counter } = familiesOf<Reading>(prefix);
  type Source = (reading: Reading) => readonly CounterSample[] | undefined;

  function newestDay(name: string, help: string, series: Source, labels: readonly string[]) {
    return gauge(`${name}_latest_day`, help, (reading) => newestFigures(series(reading) ?? []), labels);
  }

  /** The newest day and the counter of one figure. */
  function daily(
    name: string,
    words: string,
    from: string,
    daysOf: (reading: Reading) => readonly DayFigure[] | undefined,
  ): readonly Family<Reading>[] {
    const series: Source = (reading) => {
      const days = daysOf(reading);
      return days && [{ days }];
    };
    return [
      newestDay(name, latestDayHelp(words, from), series, []),
      counter(`${name}_total`, totalHelp(words, from), series),
    ];
  }
  /** The same of a figure with a label whose values we know. */
  function dailyParts(
    label: string,
    name: string,
    words: string,
    from: string,
    partsOf: (reading: Reading) => Readonly<Record<string, readonly DayFigure[] | undefined>>,
  ): readonly Family<Reading>[] {
    const series: Source = (reading) =>
      Object.entries(partsOf(reading)).flatMap(([part, days]) =>
        days ? [{ labels: { [label]: part }, days }] : [],
      );
    return [
      newestDay(name, latestDayHelp(words, from), series, [label]),
      counter(`${name}_total`, totalHelp(words, from), series, [label]),
    ];
  }
  /** The same of a figure with a label whose values the API invents. */
  function dailyTally(
    label: string,
    name: string,
    words: string,
    from: string,
    tallyOf: (reading: Reading) => Tally | undefined,
  ): readonly Family<Reading>[] {
    const labelled = (tally: Tally): readonly CounterSample[] =>
      Array.from(tally, ([key, days]) => ({ labels: { [label]: key }, days }));
    const largest: Source = (reading) => {
      const tally = tallyOf(reading);
      return tally && labelled(largestOf(tally));
    };
    const all: Source = (reading) => {
      const tally = tallyOf(reading);
      return tally && labelled(new Map([[other, []], ...tally]));
    };
    const apart = `Told apart are at most ${maxKeys}, the largest;`;
    return [
      newestDay(name, `${latestDayHelp(words, from)} ${apart} the rest is \`other\`.`, largest, [label]),
      counter(
        `${name}_total`,
        `${totalHelp(words, from)} ${apart} what the others gain counts as \`other\`.`,
        all,
        [label],
        { most: maxKeys, rest: { [label]: other } },
      ),
    ];
  }
  return { daily, dailyParts, dailyTally };
}

function latestDayHelp(words: string, from: string): string {
  return `${words} so far in the newest UTC day; falls back at midnight (${apiFields(from)}).`;
}

function totalHelp(words: string, from: string): string {
  return `${words} since the exporter first read them, added up by UTC days (${apiFields(from)}).`;
}

function apiFields(from: string): string {
  return `API ${from.includes(',') ? 'fields' : 'field'} ${from}`;
}
