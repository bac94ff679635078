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

type Labels = CounterSample['labels'];

/** Which series an array of numbers is about: by the counter's index in the catalogue, and its labels. */
interface Series {
  readonly family: number;
  readonly labels: Labels;
}

interface Given extends Series {
  readonly days: readonly DayFigure[];
}

/**
 * The numbers of a series, one after the other: an object for each would take seven times the memory, which is much where
 * there are 100,000. Times are Unix times in seconds; what is not there is NaN.
 */
const place = {
  value: 0,
  created: 1,
  /** A day before this one was counted before this process read it, or is too old to count. */
  from: 2,
  /** Since when readings lack the series. */
  missingSince: 3,
  /** The start of each of the newest days and the highest figure seen of it, the newest day first. */
  days: 4,
} as const;
const numbersOfSeries = place.days + 2 * openDays;

/** What the counters of a kind share. */
interface KindCounters {
  /** Their indexes in the catalogue. */
  readonly families: readonly number[];
  /** The series of the target that changed last: most targets have the same ones. */
  latest: readonly Series[];
}

const kinds = new Map<string, KindCounters>();

function countersOf(kind: string): KindCounters {
  const known = kinds.get(kind);
  if (known) return known;
  const families: number[] = [];
  for (let family = firstFamilyOf(kind); catalogue[family]?.kind === kind; family++) {
    if (catalogue[family]?.type === 'counter') families.push(family);
  }
  const counters = { families, latest: [] };
  kinds.set(kind, counters);
  return counters;
}

export class Counters {
  readonly #kind: KindCounters;
  /** Those of a family stand together. */
  #series: readonly Series[] = [];
  /** As many for each series as `place` says. */
  #numbers: number[] = [];

  private constructor(kind: KindCounters) {
    this.#kind = kind;
  }

  /** The counters of a target of this kind; undefined where the kind has none. */
  static of(kind: string): Counters | undefined {
    const counters = countersOf(kind);
    return counters.families.length > 0 ? new Counters(counters) : undefined;
  }

  /** Counts a good reading. Throws, and changes nothing, where a family cannot use the reading. atMs: Unix time. */
  add(target: TargetContext, reading: unknown, atMs: number): void {
    const given: Given[] = [];
    for (const family of this.#kind.families) {
      for (const { labels, days } of catalogue[family]?.days?.(reading, target) ?? [])
        given.push({ family, labels, days });
    }
    const atSeconds = atMs / 1000;
    if (!isSame(this.#series, given)) this.#place(given, atSeconds);
    else {
      for (const [at, { days }] of given.entries()) {
        const first = at * numbersOfSeries;
        this.#numbers[first + place.missingSince] = Number.NaN;
        grow(this.#numbers, first, days, atSeconds);
      }
    }
  }

  get rows(): readonly CounterRows[] {
    const rows = new Map(this.#kind.families.map((family): [number, Sample[]] => [family, []]));
    for (const [at, { family, labels }] of this.#series.entries()) {
      const first = at * numbersOfSeries;
      rows.get(family)?.push({
        ...(labels && { labels }),
        value: this.#numbers[first + place.value] ?? Number.NaN,
        createdSeconds: this.#numbers[first + place.created] ?? Number.NaN,
      });
    }
    return Array.from(rows, ([family, samples]) => ({ family, samples }));
  }

  /** Counts a reading whose series are not those that are known, or not in their order. */
  #place(given: readonly Given[], atSeconds: number): void {
    // Of two samples with the same labels the later one is used, as on the page.
    const left = new Map(given.map((one) => [keyOf(one), one]));
    const placed: { readonly series: Series; readonly numbers: number[] }[] = [];
    for (const [at, series] of this.#series.entries()) {
      const numbers = this.#numbers.slice(at * numbersOfSeries, (at + 1) * numbersOfSeries);
      const key = keyOf(series);
      const days = left.get(key)?.days;
      left.delete(key);
      const before = numbers[place.missingSince] ?? Number.NaN;
      const since = Number.isNaN(before) ? atSeconds : before;
      if (!days && atSeconds - since > keptSeconds) continue;
      numbers[place.missingSince] = days ? Number.NaN : since;
      if (days) grow(numbers, 0, days, atSeconds);
      placed.push({ series, numbers });
    }
    const copies = new Map<string, Labels>();
    for (const { family, labels, days } of left.values())
      placed.push({ series: { family, labels: detached(labels, copies) }, numbers: begin(days, atSeconds) });
    placed.sort((a, b) => a.series.family - b.series.family);
    const series = placed.map((one) => one.series);
    if (!isSame(this.#kind.latest, series)) this.#kind.latest = series;
    this.#series = this.#kind.latest;
    // The copy has no room to spare.
    this.#numbers = placed.flatMap(({ numbers }) => numbers).slice();
  }
}

function keyOf({ family, labels }: Series): string {
  return JSON.stringify([family, ...Object.values(labels ?? {})]);
}

function isSame(known: readonly Series[], given: readonly Series[]): boolean {
  return (
    known.length === given.length &&
    known.every(({ family, labels }, at) => {
      const other = given[at];
      return family === other?.family && sameValues(labels, other.labels);
    })
  );
}

/** Whether labels of the same family have the same values. */
function sameValues(a: Labels, b: Labels): boolean {
  for (const name in a) if (a[name] !== b?.[name]) return false;
  return (a === undefined) === (b === undefined);
}

/** The numbers after the first reading of a series: its days are known from here on, and nothing is counted yet. */
function begin(days: readonly DayFigure[], atSeconds: number): number[] {
  const numbers = Array.from({ length: numbersOfSeries }, () => Number.NaN);
  numbers[place.value] = 0;
  numbers[place.created] = atSeconds;
  numbers[place.from] = Number.NEGATIVE_INFINITY;
  grow(numbers, 0, days, atSeconds);
  numbers[place.value] = 0;
  // Where there is no day yet, that of the reading begins later, with its first figure.
  numbers[place.from] = openDaysOf(numbers, 0).at(-1)?.[0] ?? Math.floor(atSeconds / daySeconds) * daySeconds;
  return numbers;
}

/** The start and the highest figure of each day that may still grow, the newest first. */
function openDaysOf(numbers: readonly number[], first: number): [number, number][] {
  const days: [number, number][] = [];
  for (let at = first + place.days; at < first + numbersOfSeries; at += 2) {
    const [startSeconds = Number.NaN, value = Number.NaN] = [numbers[at], numbers[at + 1]];
    if (!Number.isNaN(startSeconds)) days.push([startSeconds, value]);
  }
  return days;
}

/** first: where the numbers of the series begin. */
function grow(numbers: number[], first: number, days: readonly DayFigure[], atSeconds: number): void {
  const fromSeconds = numbers[first + place.from] ?? Number.NaN;
  const highest = new Map(openDaysOf(numbers, first));
  let gained = 0;
  for (const { startSeconds, value } of days) {
    // A day of the far future is none: as one of the newest it would stand in the way of those to come.
    if (startSeconds < fromSeconds || startSeconds > atSeconds + daySeconds) continue;
    const before = highest.get(startSeconds) ?? 0;
    const after = Math.max(before, value);
    if (!Number.isFinite(after)) continue;
    gained += after - before;
    highest.set(startSeconds, after);
  }
  numbers[first + place.value] = (numbers[first + place.value] ?? 0) + gained;
  const newest = [...highest].toSorted(([a], [b]) => b - a).slice(0, openDays);
  for (const [at, [startSeconds, value]] of newest.entries()) {
    numbers[first + place.days + 2 * at] = startSeconds;
    numbers[first + place.days + 2 * at + 1] = value;
  }
  const oldest = newest[openDays - 1];
  if (oldest) numbers[first + place.from] = oldest[0];
}

/** A copy of labels, in case they change. The same labels of two families have one. */
function detached(labels: Labels, copies: Map<string, Labels>): Labels {
  if (!labels) return undefined;
  const text = JSON.stringify(labels);
  const copy = copies.get(text) ?? (JSON.parse(text) as Labels);
  copies.set(text, copy);
  return copy;
}
