/**
 * Figures by day: which days a kind requests, how they are read, and what they become on the page: the newest day so far, and
 * a counter of what the days have gained. An operation that does not give the past 28 days is requested for today, and for
 * the days that the previous poll left open, so that each day ends with its final figures.
 */
import { type FamilyOf, highestOf, nested, partsOf, shown } from './families.ts';
import {
  type Answer,
  type Diagnostics,
  type Entries,
  entriesOf,
  type FieldType,
  integer,
  mapped,
  type Notes,
  number,
  type ObjectType,
} from './fields.ts';
import type { CounterSample, Day, DayFigure, Labels, ReadContext, TargetContext } from './resource.ts';
import { parseChartKey, parseDay } from './times.ts';

const daySeconds = 86_400;
const hourSeconds = 3600;
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

function startOfDay(seconds: number): number {
  return Math.floor(seconds / daySeconds) * daySeconds;
}

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
function firstDay({ nowMs, lastSuccessMs }: ReadContext, grace = graceSeconds): number {
  const today = startOfDay(nowMs / 1000);
  if (lastSuccessMs === undefined) return today;
  const open = startOfDay(lastSuccessMs / 1000 - grace);
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

/** The start of the UTC day of a chart's key: a date, an ISO 8601 date-time or Unix time in seconds. US-style dates are ambiguous. */
function dayOfKey(key: string): number | undefined {
  return /^\d{9,11}$/.test(key) ? startOfDay(Number(key)) : parseDay(key);
}

/** The entries by day. A key that is no day is noted and skipped. Undefined if no key is a day. */
function byDay<Value>(entries: Entries<Value>, notes: Notes): readonly Day<Value>[] | undefined {
  const given = entries.filter((entry): entry is [string, Value] => entry[1] !== undefined);
  const days = given.flatMap(([key, value]) => {
    const startSeconds = dayOfKey(key);
    if (startSeconds === undefined) notes.badKey('a day');
    return startSeconds === undefined ? [] : [{ startSeconds, value }];
  });
  return days.length === 0 && given.length > 0 ? undefined : days;
}

/**
 * A chart of counts as days, oldest first; the points of one day are added up. A chart without a day is absent: it does not
 * mean that nothing was counted.
 */
export function countsOf(chart: FieldType<Entries<number>>): FieldType<readonly DayFigure[]> {
  return mapped(chart, (entries, notes) => {
    const days = byDay(entries, notes);
    return days?.length ? sumByDay(days).toSorted((a, b) => a.startSeconds - b.startSeconds) : undefined;
  });
}

/** The same of an object whose keys are days. */
export const counts = countsOf(entriesOf(number));

/** A figure of one hour, on its day. */
export interface Hour extends DayFigure {
  /** The start of the hour, in seconds since 1970. */
  readonly atSeconds: number;
  readonly hasEnded: boolean;
}

/** A chart by hours. Hours to come are in the answer with 0, and skipped. Absent without an hour, as above. */
export const hours: FieldType<readonly Hour[]> = mapped(entriesOf(number), (entries, notes) => {
  const { nowSeconds = Number.POSITIVE_INFINITY } = notes;
  const all = entries.flatMap(([key, value]) => {
    const atSeconds = parseChartKey(key);
    if (atSeconds === undefined) notes.badKey('an hour');
    if (atSeconds === undefined || value === undefined || atSeconds > nowSeconds) return [];
    const hasEnded = atSeconds + hourSeconds <= nowSeconds;
    return [{ startSeconds: startOfDay(atSeconds), atSeconds, value, hasEnded }];
  });
  return all.length > 0 ? all : undefined;
});

/** The newest point of a chart whose points cannot be added up. */
export const newestPoint = mapped(entriesOf(number), (entries, notes) => {
  let newest = { atSeconds: Number.NEGATIVE_INFINITY, value: undefined as number | undefined };
  for (const [key, value] of entries) {
    const atSeconds = parseChartKey(key) ?? parseDay(key);
    if (atSeconds === undefined) notes.badKey('a day');
    else if (value !== undefined && atSeconds >= newest.atSeconds) newest = { atSeconds, value };
  }
  return newest.value;
});

/** The points of the newest hour that has one above 0: the API writes 0 for an hour in which nothing happened. */
export function ofNewestHour<Point extends { readonly atSeconds: number; readonly value: number }>(
  points: readonly Point[],
): readonly Point[] {
  const above = points.filter(({ value }) => value > 0);
  const newest = above.reduce(
    (latest, { atSeconds }) => Math.max(latest, atSeconds),
    Number.NEGATIVE_INFINITY,
  );
  return above.filter(({ atSeconds }) => atSeconds === newest);
}

/** A map from days, newest first. Absent if no key is a day. */
export function mapOfDays<Value>(type: FieldType<Value>): FieldType<readonly Day<Value>[]> {
  return mapped(entriesOf(type), (entries, notes) =>
    byDay(entries, notes)?.toSorted((a, b) => b.startSeconds - a.startSeconds),
  );
}

/**
 * Counts by day and by name. Their map is one of maps, and which level has the days is not documented: the keys say so.
 * Where neither has, that is noted. A day without counts is one of the days.
 */
export const countsByDay: FieldType<readonly Day<Entries<number>>[]> = mapped(
  entriesOf(entriesOf(integer)),
  (outer, notes) => {
    if (outer.some(([key]) => dayOfKey(key) !== undefined)) return byDay(outer, notes);
    const turned = outer.flatMap(([name, inner = []]) =>
      inner.map(([key, count]) => [key, [[name, count]]] as const),
    );
    return byDay(turned, notes);
  },
);

/** One figure for each day: the sum of all that are given for it. */
export function sumByDay(days: readonly DayFigure[]): readonly DayFigure[] {
  const sums = new Map<number, number>();
  for (const { startSeconds, value } of days) sums.set(startSeconds, (sums.get(startSeconds) ?? 0) + value);
  return Array.from(sums, ([startSeconds, value]) => ({ startSeconds, value }));
}

export function newestOf(days: readonly Pick<DayFigure, 'startSeconds'>[]): number | undefined {
  return highestOf(days.map(({ startSeconds }) => startSeconds));
}

/**
 * The newest day of a figure, and a counter.
 *
 * @param words how the HELP begins
 * @param since what was first read, in the HELP of the counter
 * @param place where in the HELP the fields stand
 */
export function newestAndTotal<Value>(
  name: string,
  words: string,
  family: Omit<FamilyOf<Value>, 'name' | 'words'>,
  { since = 'them', place = '(%s)' } = {},
): readonly [newest: FamilyOf<Value>, total: FamilyOf<Value>] {
  const newest = `${words} so far in the newest UTC day; resets at midnight ${place}`;
  const total = `${words} since the exporter first read ${since}, summed by UTC day ${place}`;
  return [
    { ...family, name: `${name}_latest_day`, words: newest },
    { ...family, name: `${name}_total`, words: total },
  ];
}

interface ChartType extends FieldType<readonly DayFigure[]> {
  readonly isChart: true;
}

/** A chart of counts of which the page has only a counter. */
export function counted(
  name: string,
  words: string,
  type: FieldType<readonly DayFigure[]>,
): FieldType<readonly DayFigure[]> {
  return shown(type, newestAndTotal<readonly DayFigure[]>(name, words, { series: (days) => [{ days }] })[1]);
}

interface ChartOptions {
  readonly type?: FieldType<readonly DayFigure[]>;
  readonly since?: string;
  readonly place?: string;
  readonly of?: Labels;
}

/** A chart of counts: its newest day, and a counter. Options: as of `newestAndTotal` and `FamilyOf`. */
export function daily(name: string, words: string, options: ChartOptions = {}): ChartType {
  const { type = counts, of, ...help } = options;
  const series = (days: readonly DayFigure[]) => [{ days }];
  return Object.assign(shown(type, ...newestAndTotal(name, words, { of, series }, help)), {
    isChart: true as const,
  });
}

/** The same of a chart by hours. */
export function dailyByHours(
  name: string,
  words: string,
  of?: Labels,
): FieldType<readonly Hour[]> & Pick<ChartType, 'isChart'> {
  const series = (all: readonly Hour[]) => [{ days: sumByDay(all) }];
  return Object.assign(shown(hours, ...newestAndTotal(name, words, { of, series })), {
    isChart: true as const,
  });
}

/** When the newest day of these fields began. Default: the charts of the answer. */
export function newestDay<Values>(
  { shape }: Answer<Values>,
  given?: readonly (keyof Values & string)[],
): FamilyOf<Values> {
  const fields = given ?? Object.keys(shape).filter((name) => 'isChart' in (shape[name] ?? {}));
  const place = fields.length > 2 ? `API field ${fields[0]} and the other charts` : '%s';
  return {
    name: 'latest_day_timestamp_seconds',
    words: `Start of the newest UTC day, as Unix time (newest key of the ${place})`,
    fields,
    series: (values) =>
      newestOf(fields.flatMap((field) => (values[field as keyof Values] ?? []) as readonly DayFigure[])),
  };
}

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
const tallyEntries: FieldType<readonly TallyEntry[]> = mapped(
  entriesOf(number),
  (entries, { daySeconds: startSeconds = 0 }) =>
    entries.length === 0
      ? undefined
      : entries.flatMap(([key, value]) => (value === undefined ? [] : [{ key, startSeconds, value }])),
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

/**
 * The reading of one day without what can be of other days. A figure without days of its own is of all days that the answer is
 * about: it is left out, and noted, if a chart beside it has counted something on another day. A tally is also left out if it
 * sums to more than its chart has on the day that was requested.
 *
 * @param startSeconds start of the UTC day that was requested
 */
export function ofOneDay<Reading>(
  { shape }: Pick<Answer, 'shape'>,
  reading: Reading,
  startSeconds: number,
  diagnostics: Diagnostics,
): Reading {
  const read = reading as Readonly<Record<string, unknown>>;
  const types: readonly [string, Partial<ChartType & TallyType>][] = Object.entries(shape);
  const chartOf = (name: string) => read[name] as readonly DayFigure[] | undefined;
  const hasOtherDays = types.some(
    ([name, { isChart }]) =>
      isChart && chartOf(name)?.some((day) => day.startSeconds !== startSeconds && day.value !== 0),
  );
  const isOfThatDay = (name: string, { isChart, partOf, documented }: Partial<ChartType & TallyType>) => {
    // Any other map has days of its own.
    if (isChart || read[name] === undefined || (partOf === undefined && documented?.values)) return true;
    if (hasOtherDays) {
      diagnostics.mismatch(name, 'figures of the day that was requested', 'those of other days');
      return false;
    }
    const chart = partOf === undefined ? undefined : chartOf(partOf);
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

export const past28Days = 'in the past 28 days, a rolling window that can fall: no rate() or increase()';

/** The families of an object whose figures are of the past 28 days. */
export function familiesOf28Days<Figures>(figures: ObjectType<Figures>): readonly FamilyOf<Figures>[] {
  return partsOf<Figures>(figures).map((figure) => ({
    ...figure,
    name: `${figure.name}_28d`,
    words: `${figure.words} ${past28Days} (%s)`,
  }));
}

/** The families of a map from days to such an object: of each figure the newest day, and a counter. since: as above. */
export function familiesByDay<Figures>(figures: ObjectType<Figures>, since: string) {
  return partsOf<Figures>(figures).map(({ name, words, series, ...figure }) => {
    const daysOf = (all: readonly Day<Figures>[], target: TargetContext) =>
      sumByDay(
        all.flatMap(({ startSeconds, value: given }) => {
          const value = series(given, target);
          return typeof value === 'number' ? [{ startSeconds, value }] : [];
        }),
      );
    const [newest, total] = newestAndTotal<readonly Day<Figures>[]>(
      name,
      words,
      {
        ...figure,
        series(all, target) {
          const days = daysOf(all, target);
          // A figure that all days lack has no series. Without any day, nothing was counted.
          return days.length === 0 && all.length > 0 ? undefined : [{ days }];
        },
      },
      { since },
    );
    const ofNewest: FamilyOf<readonly Day<Figures>[]> = {
      ...newest,
      series: (all, target) =>
        daysOf(all, target).find(({ startSeconds }) => startSeconds === all[0]?.startSeconds)?.value,
    };
    return { newest: ofNewest, total };
  });
}

/** An object whose figures are of the past 28 days. */
export function window28Days<Figures>(figures: ObjectType<Figures>): FieldType<Figures> {
  return shown(figures, ...familiesOf28Days(figures).map(nested));
}

/** A map from days to such an object. since: as above. */
export function figuresByDay<Figures>(
  figures: ObjectType<Figures>,
  since: string,
): FieldType<readonly Day<Figures>[]> {
  const families = familiesByDay(figures, since);
  return shown<readonly Day<Figures>[]>(
    mapOfDays(figures),
    ...families.map(({ newest }) => nested(newest)),
    ...families.map(({ total }) => nested(total)),
    {
      name: 'latest_day_timestamp_seconds',
      words: 'Start of the newest UTC day, as Unix time (newest key of the %s)',
      series: newestOf,
    },
  );
}
