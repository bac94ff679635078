/**
 * Figures by day or hour: how charts are read, and what they become on the page: the newest day so far, and a counter of what the
 * days have gained. `queries.ts` says which days are requested.
 */
import { type FamilyOf, highestOf, nested, partsOf, shown } from './families.ts';
import {
  type Answer,
  type Entries,
  entriesOf,
  type FieldType,
  mapped,
  type Notes,
  number,
  type ObjectType,
} from './fields.ts';
import type { Day, DayFigure, Labels, TargetContext, ToldBy, WithoutDays } from './resource.ts';
import { type ChartTime, hourSeconds, parseChartKey } from './times.ts';

/** A point of a chart. */
interface Point<Value> extends ChartTime {
  readonly value: Value;
}

/**
 * The points of a chart that are within the range requested, of any time where none was. Every chart is read so: a key that is no
 * time is noted and skipped. Undefined if no key is a time, or none is within the range: what was counted there is not told.
 */
function pointsOf<Value>(entries: Entries<Value>, notes: Notes): readonly Point<Value>[] | undefined {
  const { requested } = notes;
  let given = 0;
  let known = 0;
  const points: Point<Value>[] = [];
  for (const [key, value] of entries) {
    if (value === undefined) continue;
    given++;
    const time = requested ? requested.timeOf(key) : parseChartKey(key);
    if (!time) notes.badKey('a day or an instant');
    else {
      known++;
      if (requested?.includes(time, value) ?? true) points.push({ ...time, value });
    }
  }
  if (points.length > 0 || given === 0) return points;
  if (known > 0) {
    requested?.ofOtherDays.add(notes.path[0] ?? '');
    return undefined;
  }
  if (requested) requested.doubt ??= 'those of days that cannot be told';
  return undefined;
}

/** The points of a chart by day. */
export function byDay<Value>(entries: Entries<Value>, notes: Notes): readonly Day<Value>[] | undefined {
  return pointsOf(entries, notes)?.map(dayOf);
}

/** A point by its day. Most points are of days, which need no third property. */
function dayOf<Value>({ startSeconds, value, isHour }: Day<Value>): Day<Value> {
  return isHour ? { startSeconds, value, isHour } : { startSeconds, value };
}

/** Whether a chart has any point: an empty one does not mean that nothing was counted. */
function isTold(entries: Entries<unknown>): boolean {
  return entries.some(([, value]) => value !== undefined);
}

/** A chart of counts as days, oldest first; the points of one day are added up. An empty chart is absent. */
export function countsOf(chart: FieldType<Entries<number>>): FieldType<readonly DayFigure[]> {
  return mapped(chart, (entries, notes) => {
    const days = isTold(entries) ? byDay(entries, notes) : undefined;
    return days && sumByDay(days).toSorted((a, b) => a.startSeconds - b.startSeconds);
  });
}

/** A chart of counts that is an object whose keys are days. */
export const counts = countsOf(entriesOf(number));

/** A figure of one hour, on its day. */
export interface Hour extends DayFigure {
  /** The start of the hour, in seconds since 1970. Undefined where the key is a date: then it is a figure of the day. */
  readonly atSeconds: number | undefined;
  readonly hasEnded: boolean;
}

/** A chart by hours. Hours to come are in the answer with 0, and skipped. An empty chart is absent. */
export const hours: FieldType<readonly Hour[]> = mapped(entriesOf(number), (entries, notes) => {
  const nowSeconds = notes.requested?.nowSeconds ?? Number.POSITIVE_INFINITY;
  const points = isTold(entries) ? pointsOf(entries, notes) : undefined;
  if (!points) return undefined;
  const past: Hour[] = [];
  for (const { atSeconds, isDay, ...point } of points) {
    if (atSeconds > nowSeconds) continue;
    const hasEnded = !isDay && atSeconds + hourSeconds <= nowSeconds;
    past.push({ ...dayOf(point), atSeconds: isDay ? undefined : atSeconds, hasEnded });
  }
  return past;
});

/** A level at an instant. */
interface Level {
  /** The time of the level, in seconds since 1970. */
  readonly atSeconds: number;
  readonly value: number;
}

/** A chart of levels by hours, which cannot be added up. One of a whole day is left out. */
export function levelsOf(chart: FieldType<Entries<number>>): FieldType<readonly Level[]> {
  return mapped(chart, (entries, notes) => pointsOf(entries, notes)?.filter(({ isDay }) => !isDay));
}

/** A chart of levels that is an object whose keys are times. */
export const levels = levelsOf(entriesOf(number));

/** The newest point of a chart whose points cannot be added up. */
export const newestPoint = mapped(entriesOf(number), (entries, notes) => {
  const points = pointsOf(entries, notes) ?? [];
  const newest = highestOf(points.map(({ atSeconds }) => atSeconds));
  return points.findLast(({ atSeconds }) => atSeconds === newest)?.value;
});

/** The points of the newest hour that has one above 0: the API writes 0 for an hour in which nothing happened. */
export function ofNewestHour<Point extends Level>(points: readonly Point[]): readonly Point[] {
  const above = points.filter(({ value }) => value > 0);
  const newest = above.reduce(
    (latest, { atSeconds }) => Math.max(latest, atSeconds),
    Number.NEGATIVE_INFINITY,
  );
  return above.filter(({ atSeconds }) => atSeconds === newest);
}

/** A map from days, newest first. Absent if no key is a day. */
export function mapOfDays<Value>(type: FieldType<Value>): FieldType<readonly Day<Value>[]> {
  return mapped(entriesOf(type), (entries, notes) => byDay(entries, notes)?.toSorted(newerFirst));
}

/** For sorting. */
export function newerFirst(a: Pick<DayFigure, 'startSeconds'>, b: Pick<DayFigure, 'startSeconds'>): number {
  return b.startSeconds - a.startSeconds;
}

function startOf({ startSeconds }: Pick<DayFigure, 'startSeconds'>): number {
  return startSeconds;
}

/** One figure for each day, or for each hour: the sum of all that are given for it. */
export function sumByDay(days: readonly DayFigure[]): readonly DayFigure[] {
  if (!days.some(({ isHour }) => isHour)) return sumsOf(days);
  const ofHours = sumsOf(days.filter(({ isHour }) => isHour)).map(
    (one) => ({ ...one, isHour: true }) as const,
  );
  return [...sumsOf(days.filter(({ isHour }) => !isHour)), ...ofHours];
}

function sumsOf(days: readonly DayFigure[]): readonly DayFigure[] {
  const sums = new Map<number, number>();
  for (const { startSeconds, value } of days) sums.set(startSeconds, (sums.get(startSeconds) ?? 0) + value);
  return figuresIn(sums);
}

/** What a map has by the starts of days. */
export function figuresIn(sums: ReadonlyMap<number, number>): readonly DayFigure[] {
  const days: DayFigure[] = [];
  for (const [startSeconds, value] of sums) days.push({ startSeconds, value });
  return days;
}

export function newestOf(days: readonly Pick<DayFigure, 'startSeconds'>[]): number | undefined {
  return highestOf(days.map(startOf));
}

/**
 * The newest day of a figure, and a counter.
 *
 * @param words how the HELP begins
 * @param withoutDays what an answer says that has no day of it: where nothing was counted the counter begins at 0
 * @param since what was first read, in the HELP of the counter
 * @param place where in the HELP the fields stand
 */
export function newestAndTotal<Value>(
  name: string,
  words: string,
  family: Omit<FamilyOf<Value>, 'name' | 'words'>,
  withoutDays: WithoutDays,
  { since = 'them', place = '(%s)' } = {},
): readonly [newest: FamilyOf<Value>, total: FamilyOf<Value>] {
  const newest = `${words} so far in the newest UTC day; resets at midnight ${place}`;
  const total = `${words} since the exporter first read ${since}, summed by UTC day ${place}`;
  return [
    { ...family, name: `${name}_latest_day`, words: newest },
    { ...family, withoutDays: [withoutDays], name: `${name}_total`, words: total },
  ];
}

interface ChartType<Figure extends DayFigure = DayFigure> extends FieldType<readonly Figure[]> {
  readonly isChart: true;
  readonly toldBy: ToldBy;
}

/** A chart of counts of which the page has only a counter. One that is empty says nothing. */
export function counted(
  name: string,
  words: string,
  type: FieldType<readonly DayFigure[]>,
): FieldType<readonly DayFigure[]> {
  const series = (days: readonly DayFigure[]) => [{ days }];
  return shown(type, newestAndTotal<readonly DayFigure[]>(name, words, { series }, 'unknown')[1]);
}

interface ChartOptions extends ToldBy {
  readonly type?: FieldType<readonly DayFigure[]>;
  readonly since?: string;
  readonly place?: string;
  readonly fixed?: Labels;
}

/**
 * A chart of counts: its newest day, and a counter. Options: as of `newestAndTotal`, `FamilyOf` and `ToldBy`. Without the latter a
 * chart that is empty says nothing.
 */
export function daily(name: string, words: string, options: ChartOptions = {}): ChartType {
  return chart(name, words, options.type ?? counts, options);
}

/** A chart of counts by hours: the newest day, and a counter. */
export function dailyByHours(
  name: string,
  words: string,
  options: Omit<ChartOptions, 'type'> = {},
): ChartType<Hour> {
  return chart(name, words, hours, options);
}

function chart<Figure extends DayFigure>(
  name: string,
  words: string,
  type: FieldType<readonly Figure[]>,
  { fixed, sum, whole, since, place }: ChartOptions,
): ChartType<Figure> {
  const toldBy = { ...(sum !== undefined && { sum }), ...(whole !== undefined && { whole }) };
  const withoutDays = Object.keys(toldBy).length > 0 ? toldBy : 'unknown';
  const series = (all: readonly Figure[]) => [{ days: sumByDay(all) }];
  const families = newestAndTotal(name, words, { fixed, series }, withoutDays, {
    ...(since !== undefined && { since }),
    ...(place !== undefined && { place }),
  });
  return { ...shown(type, ...families), isChart: true, toldBy };
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

export const past28Days = 'in the past 28 days, a rolling window that can fall: no rate() or increase()';

/** The families of an object whose figures are of the past 28 days. */
export function familiesOf28Days<Figures>(figures: ObjectType<Figures>): readonly FamilyOf<Figures>[] {
  return partsOf<Figures>(figures).map((figure) => ({
    ...figure,
    name: `${figure.name}_28d`,
    words: `${figure.words} ${past28Days} (%s)`,
  }));
}

/** The families of a map from days to objects: of each figure the newest day, and a counter. since: as of `newestAndTotal`. */
export function familiesByDay<Figures>(figures: ObjectType<Figures>, since: string) {
  return partsOf<Figures>(figures).map(({ name, words, series, ...figure }) => {
    const daysOf = (all: readonly Day<Figures>[], target: TargetContext) => {
      const days: DayFigure[] = [];
      for (const { startSeconds, value: given } of all) {
        const value = series(given, target);
        if (typeof value === 'number') days.push({ startSeconds, value });
      }
      return sumByDay(days);
    };
    const [newest, total] = newestAndTotal<readonly Day<Figures>[]>(
      name,
      words,
      {
        ...figure,
        series(all, target) {
          const days = daysOf(all, target);
          // A figure that all days lack has no series.
          return days.length === 0 && all.length > 0 ? undefined : [{ days }];
        },
      },
      'none',
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

/** Whether all figures are 0 that a number, or an object of numbers, has; false where it has none. */
function isZero(value: unknown): boolean {
  const figures = typeof value === 'object' && value !== null ? Object.values(value) : [value];
  const numbers = figures.filter((figure) => typeof figure === 'number');
  return numbers.length > 0 && numbers.every((figure) => figure === 0);
}

/**
 * The same object, with an empty list in place of a map of days that is missing while the totals beside it are 0: nothing was counted
 * on any day. days: each such field, with the fields that have its totals.
 */
export function withoutCounts<Values>(
  type: ObjectType<Values>,
  days: readonly (readonly [days: keyof Values, ...totals: (keyof Values)[]])[],
): ObjectType<Values> {
  const completed = (values: Values): Values => {
    const empty = days.filter(([field, ...totals]) => {
      const known = totals.filter((name) => values[name] !== undefined);
      return values[field] === undefined && known.length > 0 && known.every((name) => isZero(values[name]));
    });
    return empty.length === 0
      ? values
      : { ...values, ...Object.fromEntries(empty.map(([field]) => [field, []])) };
  };
  return {
    ...type,
    read(value, notes) {
      const values = type.read(value, notes);
      return values === undefined ? undefined : completed(values);
    },
    from: (...given) => completed(type.from(...given)),
  };
}

/** A map from days to objects, with the families of their figures. since: as of `newestAndTotal`. */
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
