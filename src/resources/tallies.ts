/**
 * Counts by a name: those that a day has of each, and which of them are of the day that was requested, for the API does not say
 * it. What the names are is up to the API, so only the largest have a series of their own.
 */
import { newestAndTotal, sumByDay } from './charts.ts';
import { shown } from './families.ts';
import { type Answer, type Diagnostics, entriesOf, type FieldType, mapped, number } from './fields.ts';
import type { RequestedRange } from './requested.ts';
import type { CounterSample, DayFigure, Labels } from './resource.ts';

/** One series for each set of labels, with the sum of its days. */
function byLabels(all: readonly CounterSample[]): readonly CounterSample[] {
  const days = new Map<string, DayFigure[]>();
  for (const { labels, days: more } of all) {
    const key = JSON.stringify(labels);
    const held = days.get(key);
    if (held) held.push(...more);
    else days.set(key, [...more]);
  }
  return Array.from(days, ([key, of]) => ({ labels: JSON.parse(key) as Labels, days: sumByDay(of) }));
}

/** Puts the days of each series together. The rest is always one, so that what begins later is counted in it at first. */
export function together(rest: Labels, all: readonly CounterSample[]): readonly CounterSample[] {
  return byLabels([{ labels: rest, days: [] }, ...all]);
}

/** How often each of these labels came on a day. */
export function tallyOf(all: readonly Labels[], startSeconds: number): readonly CounterSample[] {
  return byLabels(all.map((labels) => ({ labels, days: [{ startSeconds, value: 1 }] })));
}

/** How many series of one target have a label of their own: the largest. The others are summed up. */
const maxKeys = 50;
/** The label of that sum. What the API itself calls so is added to it. */
const other = 'other';

interface TallyEntry extends DayFigure {
  readonly key: string;
}

/** Counts by name, on the day that was requested. An empty map says nothing. */
const tallyEntries: FieldType<readonly TallyEntry[]> = mapped(entriesOf(number), (entries, { requested }) =>
  entries.length === 0
    ? undefined
    : entries.flatMap(([key, value]) =>
        value === undefined ? [] : [{ key, startSeconds: requested?.startSeconds ?? 0, value }],
      ),
);

interface TallyType extends FieldType<readonly TallyEntry[]> {
  /** The chart that has the sum of its day. */
  readonly partOf: string;
}

/**
 * Counts by names that the API invents, of a day that the API does not name.
 *
 * @param partOf the chart that has the sum of each day
 * @param labels each label with its value for a name; names with the same labels are one series
 */
export function dailyTally(
  name: string,
  words: string,
  partOf: string,
  labels: Readonly<Record<string, (key: string) => string>>,
): TallyType {
  const labelled = (textOf: (of: (key: string) => string) => string) =>
    Object.fromEntries(Object.entries(labels).map(([label, of]) => [label, textOf(of)]));
  const rest = labelled(() => other);
  const labelsOf = (key: string) => (key.toLowerCase() === other ? rest : labelled((of) => of(key)));
  const series = (all: readonly TallyEntry[]) =>
    together(
      rest,
      all.map((one) => ({ labels: labelsOf(one.key), days: [one] })),
    );
  const family = { labels: Object.keys(labels), series };
  const [newest, total] = newestAndTotal(name, words, family);
  const type = shown(
    tallyEntries,
    {
      ...newest,
      words: `${newest.words}. At most ${maxKeys} label values, the largest; the rest is \`${other}\``,
      bound: { most: maxKeys, rest },
      series(all) {
        const [others, ...named] = series(all);
        return [...named.toSorted(inOrderOfLabels), ...(others ? [others] : [])];
      },
    },
    {
      ...total,
      words: `${total.words}. At most ${maxKeys} label values; the gains of all others count as \`${other}\``,
      bound: { most: maxKeys, rest },
    },
  );
  return Object.assign(type, { partOf });
}

/** A figure of the whole range that was requested: the answer does not say of which days it is. */
interface RangeFigure {
  readonly isOfRange: true;
}

/** Marks a type whose fields are figures of the whole range. Numbers and tallies need no mark. */
export function ofRange<Value>(type: FieldType<Value>): FieldType<Value> & RangeFigure {
  return Object.assign(type, { isOfRange: true as const });
}

/**
 * The reading of one day without what can be of other days. A figure without days of its own is of all days that the answer is
 * about: it is left out, and noted, if a chart beside it has counted something on another day, or has no day that can be read. A
 * tally is also left out if it sums to more than its chart has on the day that was requested.
 */
export function ofOneDay<Reading>(
  { shape }: Pick<Answer, 'shape'>,
  reading: Reading,
  { startSeconds, doubt }: RequestedRange,
  diagnostics: Diagnostics,
): Reading {
  const read = reading as Readonly<Record<string, unknown>>;
  const types: readonly [string, FieldType & Partial<TallyType & RangeFigure>][] = Object.entries(shape);
  const isOfThatDay = (name: string, { partOf, isOfRange, documented = {} }: (typeof types)[number][1]) => {
    if (read[name] === undefined) return true;
    const { fields, values, elements } = documented;
    const isNumber = !fields && !values && !elements;
    if (partOf === undefined && !isOfRange && !isNumber) return true;
    if (doubt !== undefined) {
      diagnostics.mismatch(name, 'figures of the day that was requested', doubt);
      return false;
    }
    const chart = partOf === undefined ? undefined : (read[partOf] as readonly DayFigure[] | undefined);
    if (!chart) return true;
    const all = sumByDay(chart).find((day) => day.startSeconds === startSeconds)?.value ?? 0;
    // A negative count would make room for others. The sum of doubles is inexact.
    const sum = (read[name] as readonly TallyEntry[]).reduce((of, { value }) => of + Math.max(0, value), 0);
    return sum <= all * (1 + 1e-9);
  };
  const left = types.filter(([name, type]) => !isOfThatDay(name, type)).map(([name]) => [name, undefined]);
  return left.length === 0 ? reading : ({ ...reading, ...Object.fromEntries(left) } as Reading);
}

function inOrderOfLabels(a: CounterSample, b: CounterSample): number {
  const [one, two] = [a, b].map(({ labels }) => Object.values(labels ?? {}).join());
  return String(one) < String(two) ? -1 : 1;
}
