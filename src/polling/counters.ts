/**
 * The counters of a target: what the API has counted since this process first read it. They add up what each day gained
 * between two readings, so that windows that roll and days that begin anew become figures that only grow.
 */
import { catalogue, firstFamilyOf } from '../resources/catalogue.ts';
import type { CounterSample, DayFigure, Sample, TargetContext } from '../resources/resource.ts';

const daySeconds = 86_400;
/** For how long readings may lack a series before it is forgotten: a country may have no views for hours. */
const keptSeconds = 2 * daySeconds;
/** Days of a series that may still grow; of older ones nothing is kept or counted. */
const openDays = 2;

/** The rows of one counter, by its index in the catalogue. */
interface CounterRows {
  readonly family: number;
  readonly samples: readonly Sample[];
}

interface Series {
  readonly labels?: Readonly<Record<string, string>>;
  readonly createdSeconds: number;
  value: number;
  /** The highest figure seen of each of the newest days, the newest first. */
  days: readonly DayFigure[];
  /** A day before this one was counted before this process read it, or is too old to count. */
  fromSeconds: number;
  /** Since when readings lack it, as Unix time. */
  missingSinceSeconds: number | undefined;
}

const countersOfKinds = new Map<string, readonly number[]>();

/** The indexes of a kind's counters in the catalogue. */
function countersOf(kind: string): readonly number[] {
  const known = countersOfKinds.get(kind);
  if (known) return known;
  const counters: number[] = [];
  for (let family = firstFamilyOf(kind); catalogue[family]?.kind === kind; family++) {
    if (catalogue[family]?.type === 'counter') counters.push(family);
  }
  countersOfKinds.set(kind, counters);
  return counters;
}

export class Counters {
  /** By family, then by the values of the labels. */
  readonly #series: ReadonlyMap<number, Map<string, Series>>;

  private constructor(families: readonly number[]) {
    this.#series = new Map(families.map((family) => [family, new Map()]));
  }

  /** The counters of a target of this kind; undefined where the kind has none. */
  static of(kind: string): Counters | undefined {
    const families = countersOf(kind);
    return families.length > 0 ? new Counters(families) : undefined;
  }

  /** Counts a good reading. Throws, and changes nothing, where a family cannot use the reading. atMs: Unix time. */
  add(target: TargetContext, reading: unknown, atMs: number): void {
    const given = Array.from(
      this.#series,
      ([family, series]) => [series, catalogue[family]?.days?.(reading, target) ?? []] as const,
    );
    for (const [series, samples] of given) count(series, samples, atMs / 1000);
  }

  get rows(): readonly CounterRows[] {
    return Array.from(this.#series, ([family, series]) => ({ family, samples: [...series.values()] }));
  }
}

function count(known: Map<string, Series>, samples: readonly CounterSample[], atSeconds: number): void {
  // Of two samples with the same labels the later one is used, as on the page.
  const given = new Map(
    samples.map((sample) => [JSON.stringify(Object.values(sample.labels ?? {})), sample]),
  );
  for (const [key, { labels, days }] of given) {
    const series = known.get(key);
    if (series) grow(series, days, atSeconds);
    else known.set(key, begin(labels, days, atSeconds));
  }
  for (const [key, series] of known) {
    series.missingSinceSeconds = given.has(key) ? undefined : (series.missingSinceSeconds ?? atSeconds);
    if (atSeconds - (series.missingSinceSeconds ?? atSeconds) > keptSeconds) known.delete(key);
  }
}

/** The first reading of a series: its days are known from here on, and nothing is counted yet. */
function begin(labels: CounterSample['labels'], days: readonly DayFigure[], atSeconds: number): Series {
  const series: Series = {
    ...(labels && { labels: detached(labels) }),
    createdSeconds: atSeconds,
    value: 0,
    days: [],
    fromSeconds: Number.NEGATIVE_INFINITY,
    missingSinceSeconds: undefined,
  };
  grow(series, days, atSeconds);
  series.value = 0;
  // Where there is no day yet, that of the reading begins later, with its first figure.
  series.fromSeconds = series.days.at(-1)?.startSeconds ?? Math.floor(atSeconds / daySeconds) * daySeconds;
  return series;
}

function grow(series: Series, days: readonly DayFigure[], atSeconds: number): void {
  const highest = new Map(series.days.map(({ startSeconds, value }) => [startSeconds, value]));
  for (const { startSeconds, value } of days) {
    // A day of the far future is none: as one of the newest it would stand in the way of those to come.
    if (startSeconds < series.fromSeconds || startSeconds > atSeconds + daySeconds) continue;
    const before = highest.get(startSeconds) ?? 0;
    const after = Math.max(before, value);
    if (!Number.isFinite(after)) continue;
    series.value += after - before;
    highest.set(startSeconds, after);
  }
  series.days = [...highest]
    .toSorted(([a], [b]) => b - a)
    .slice(0, openDays)
    .map(([startSeconds, value]) => ({ startSeconds, value }));
  const oldest = series.days[openDays - 1];
  if (oldest) series.fromSeconds = oldest.startSeconds;
}

/** A copy of labels: slices of an answer would keep all of it in memory. */
function detached(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name, Buffer.from(value).toString()]),
  );
}
