/**
 * What figures by days become on the page: the newest day so far, and a counter of what the days have gained. A rolling window
 * of 28 days is a gauge beside them.
 */
import { counts, type Day, mapOfDays, type Tallied, tallied } from './days.ts';
import { type CounterSample, type DayFigure, nested, partsOf, type Shown, shown } from './families.ts';
import type { FieldType, ObjectType } from './fields.ts';

/** Most series of one target that are told apart by what the API calls them; the others are summed up. */
const maxKeys = 50;
/** The label of what is not told apart. What the API itself calls so is part of it. */
const other = 'other';

function newestWords(words: string): string {
  return `${words} so far in the newest UTC day; falls back at midnight`;
}

/** since: what was first read. */
function totalWords(words: string, since: string): string {
  return `${words} since the exporter first read ${since}, added up by UTC days`;
}

/** The newest day of a figure, and a counter. words: how the HELP begins; place: where in it the fields stand. */
export function newestAndTotal<Value>(
  name: string,
  words: string,
  family: Omit<Shown<Value>, 'name' | 'words'>,
  { since = 'them', place = '(%s)' } = {},
): readonly [newest: Shown<Value>, total: Shown<Value>] {
  return [
    { ...family, name: `${name}_latest_day`, words: `${newestWords(words)} ${place}` },
    { ...family, name: `${name}_total`, words: `${totalWords(words, since)} ${place}` },
  ];
}

interface DailyOptions {
  readonly type?: FieldType<readonly DayFigure[]>;
  /** What was first read, in the HELP of the counter. */
  readonly since?: string;
  /** Where in the HELP the field stands. */
  readonly place?: string;
  /** For a family of several fields: the label that tells this one from the others. */
  readonly of?: Readonly<Record<string, string>>;
}

/** A chart of counts: its newest day, and a counter. words: how the HELP begins. */
export function daily(
  name: string,
  words: string,
  { type = counts, of, ...help }: DailyOptions = {},
): FieldType<readonly DayFigure[]> {
  const family = { ...(of && { of }), series: (days: readonly DayFigure[]) => [{ days }] };
  return shown(type, ...newestAndTotal(name, words, family, help));
}

/**
 * A map from what is counted apart, by names that the API invents.
 *
 * @param labels each label with its value of a key; keys of the same labels are one series
 */
export function dailyTally(
  name: string,
  words: string,
  labels: Readonly<Record<string, (key: string) => string>>,
): FieldType<readonly Tallied[]> {
  const names = Object.keys(labels);
  const rest = Object.fromEntries(names.map((label) => [label, other]));
  const labelsOf = (key: string) =>
    Object.fromEntries(Object.entries(labels).map(([label, textOf]) => [label, textOf(key)]));
  const seriesOf = (all: readonly Tallied[]): readonly CounterSample[] => {
    const series = new Map([[JSON.stringify(rest), { labels: rest, days: [] as DayFigure[] }]]);
    for (const { key, startSeconds, value } of all) {
      const own = key.toLowerCase() === other ? rest : labelsOf(key);
      const text = JSON.stringify(own);
      const known = series.get(text) ?? { labels: own, days: [] };
      known.days.push({ startSeconds, value });
      series.set(text, known);
    }
    return Array.from(series.values(), (one) => ({ ...one, days: sumByDay(one.days) }));
  };
  const apart = `Told apart are at most ${maxKeys}, the largest;`;
  return shown(
    tallied,
    {
      name: `${name}_latest_day`,
      words: `${newestWords(words)} (%s). ${apart} the rest is \`${other}\``,
      labels: names,
      series: (all) => largestOf(seriesOf(all)),
    },
    {
      name: `${name}_total`,
      words: `${totalWords(words, 'them')} (%s). ${apart} what the others gain counts as \`${other}\``,
      labels: names,
      bound: { most: maxKeys, rest },
      series: seriesOf,
    },
  );
}

/** The largest over all days, at most 50, by name; what is left is summed up in the rest, which is the first. */
function largestOf([rest, ...all]: readonly CounterSample[]): readonly CounterSample[] {
  const nameOf = ({ labels }: CounterSample) => Object.values(labels ?? {}).join();
  const byName = (a: CounterSample, b: CounterSample) => (nameOf(a) < nameOf(b) ? -1 : 1);
  const ranked = all.toSorted((a, b) => sum(b.days) - sum(a.days) || byName(a, b));
  const days = sumByDay([...(rest?.days ?? []), ...ranked.slice(maxKeys).flatMap((one) => one.days)]);
  const largest = ranked.slice(0, maxKeys).toSorted(byName);
  return rest && days.length > 0 ? [...largest, { ...rest, days }] : largest;
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

/** When the newest day began that any of these fields has. from: the fields, as the HELP names them. */
export function newestDay<Field extends string>(
  fields: readonly Field[],
  from: string,
): Shown<Readonly<Partial<Record<Field, readonly DayFigure[] | undefined>>>> {
  return {
    name: 'latest_day_timestamp_seconds',
    words: `Start of the newest UTC day, as Unix time (newest key of the ${from})`,
    fields,
    series(values) {
      const starts = fields.flatMap((field) => values[field] ?? []).map(({ startSeconds }) => startSeconds);
      return starts.length > 0 ? Math.max(...starts) : undefined;
    },
  };
}

/** How the words of a rolling window end. */
export const past28Days = 'in the past 28 days, a rolling window that can fall: no rate() or increase()';

/** The families of an object whose figures are of the past 28 days. */
export function familiesOf28Days<Figures>(figures: ObjectType<Figures>): readonly Shown<Figures>[] {
  return partsOf(figures).map((figure) => ({
    ...figure,
    name: `${figure.name}_28d`,
    words: `${figure.words} ${past28Days}`,
  }));
}

interface ByDay<Figures> {
  readonly newest: Shown<readonly Day<Figures>[]>;
  readonly total: Shown<readonly Day<Figures>[]>;
}

/** The families of a map from days to such an object: of each figure the newest day, and a counter. */
export function familiesByDay<Figures>(
  figures: ObjectType<Figures>,
  since: string,
): readonly ByDay<Figures>[] {
  return partsOf(figures).map(({ name, words, series, ...figure }) => ({
    newest: {
      ...figure,
      name: `${name}_latest_day`,
      words: newestWords(words),
      series: ([day], target) => day && series(day.figures, target),
    },
    total: {
      ...figure,
      name: `${name}_total`,
      words: totalWords(words, since),
      series(all, target) {
        const days = all.flatMap(({ startSeconds, figures: given }) => {
          const value = series(given, target);
          return typeof value === 'number' ? [{ startSeconds, value }] : [];
        });
        // Where it is missing on all days it is not told; where there are no days, nothing was counted.
        return days.length === 0 && all.length > 0 ? undefined : [{ days }];
      },
    },
  }));
}

/** An object whose figures are of the past 28 days. */
export function window28Days<Figures>(figures: ObjectType<Figures>): FieldType<Figures> {
  return shown(figures, ...familiesOf28Days(figures).map(nested));
}

/** A map from days to such an object. since: what was first read, in the HELP of the counters. */
export function figuresByDay<Figures>(
  figures: ObjectType<Figures>,
  since: string,
): FieldType<readonly Day<Figures>[]> {
  const families = familiesByDay(figures, since);
  return shown<readonly Day<Figures>[]>(
    mapOfDays(figures),
    ...families.map(({ newest }) => nested(newest)),
    ...families.map(({ total }) => nested(total)),
    newestDayOfMap,
  );
}

/** When the newest day of a map began. */
export const newestDayOfMap: Shown<readonly Pick<DayFigure, 'startSeconds'>[]> = {
  name: 'latest_day_timestamp_seconds',
  words: 'Start of the newest UTC day, as Unix time (newest key of the %s)',
  series: ([day]) => day?.startSeconds,
};
