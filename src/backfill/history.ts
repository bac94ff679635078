/** The past of one target, as the answers tell it: the figures of each series, the time that they cover, and its names. Pure. */
import { type FamilyRows, namedRowsOf, type Target } from '../polling/past.ts';
import { catalogue, counterFamiliesOf, firstFamilyOf } from '../resources/catalogue.ts';
import type { CounterSample, DayFigure, Family, Labels } from '../resources/resource.ts';
import { dayMs, hourMs, type Range } from '../resources/times.ts';
import { cut, floor, isEmptyRange, merged, without } from './ranges.ts';
import { added, type Figure, type Figures } from './samples.ts';

/** One series of a family. */
export interface History {
  readonly labels: Labels;
  readonly figures: Figures;
  /** The time of which its figures are known, from the day of its first figure on. No range touches another. */
  readonly ranges: readonly Range[];
  /** The start of the first UTC day of which the API told it. Unix time. */
  readonly toldFromMs: number;
  /** The figure of a UTC day up to the end of the history, with what came before its start. startMs: Unix time. */
  ofDay(startMs: number): number;
}

/** A series while answers come in. Its figures are arrays by hour and by day of the span, because there are very many. */
interface Growing {
  readonly labels: Labels;
  hours?: Float64Array;
  days?: Float64Array;
  /**
   * The start of the first day of which anything was told: a figure, or that there is none. Infinite before that. Unix time.
   */
  beginsMs: number;
  /** The start of the day of its first figure; infinite before that. Unix time. */
  figuresMs: number;
  /** The time of which the answers told its figures. */
  told: readonly Range[];
}

/** The series of one family. */
interface GrowingFamily {
  /** By their labels. */
  readonly series: Map<string, Growing>;
  /** The time of which the answers told anything of the family. */
  told: readonly Range[];
  /** The parts of the span of which there are figures only together with time outside of it. */
  cutOff: readonly Range[];
}

/** A time of which an answer says nothing about some families. */
export interface Untold extends Range {
  readonly families: readonly Family[];
}

/** Takes the figures of one family from a reading; none where the reading says nothing of the family. */
export type Source = (reading: unknown, target: Target) => readonly CounterSample[];

export function familiesOf(kind: string): readonly Family[] {
  return catalogue.filter((family) => family.kind === kind);
}

/** The families of a kind that have a past, each with its source. */
export function sourcesOf(kind: string): ReadonlyMap<Family, Source> {
  return new Map(
    familiesOf(kind).flatMap((family) => {
      const source = sourceOf(family);
      return source ? [[family, source] as const] : [];
    }),
  );
}

/** Undefined for a family without a past, and for the newest day of a counter: the counter's source has its figures. */
export function sourceOf(family: Family): Source | undefined {
  if (family.days) return (reading, target) => family.days?.(reading, target) ?? [];
  const counter = counterOf(family);
  if (!family.figures || counter) return undefined;
  return (reading, target) =>
    (family.figures?.(reading, target) ?? []).flatMap((one) => ('days' in one ? [one] : []));
}

/** The counter beside a `_latest_day`, if there is one. */
export function counterOf({ kind, name }: Family): Family | undefined {
  if (!name.endsWith('_latest_day')) return undefined;
  const total = name.replace(/_latest_day$/, '_total');
  return catalogue.find((one) => one.kind === kind && one.name === total && 'days' in one);
}

/** Whether a family only gives names. Other texts of today may have been different in the past. */
export function isName({ type, labels }: Family): boolean {
  return type === 'info' && labels.includes('name');
}

/** Whether a history can have a family: where its kind counts something, or where it names what is counted. */
export function hasPast(family: Family): boolean {
  const { kind, name } = family;
  if (isName(family)) return true;
  if (counterFamiliesOf(kind).length === 0) return false;
  return (
    catalogue.indexOf(family) === firstFamilyOf(kind) ||
    isStampOfDay(name) ||
    sourceOf(family) !== undefined ||
    counterOf(family) !== undefined
  );
}

/** Whether a family says which day the `_latest_day` families beside it are of. */
export function isStampOfDay(name: string): boolean {
  return name.endsWith('_latest_day_timestamp_seconds');
}

export class TargetHistory {
  readonly target: Target;
  readonly #span: Range;
  readonly #families = new Map<Family, GrowingFamily>();
  #read: readonly Range[] = [];
  #names: readonly FamilyRows[] = [];
  #namesOfMs = Number.NEGATIVE_INFINITY;

  /** span: the time of the history. Figures that are not wholly within it are left out. */
  constructor(target: Target, span: Range) {
    this.target = target;
    this.#span = span;
  }

  /** Takes an answer. answered: the time that it is about. */
  add(sources: ReadonlyMap<Family, Source>, reading: unknown, answered: Range): void {
    const { target } = this;
    const given = Array.from(sources, ([family, source]) => [family, source(reading, target)] as const);
    const read = cut(answered, this.#span);
    const withRead = (ranges: readonly Range[]) => (isEmptyRange(read) ? ranges : merged([...ranges, read]));
    for (const [family, samples] of given) {
      const ofFamily = this.#familyOf(family);
      if (samples.length > 0) ofFamily.told = withRead(ofFamily.told);
      // Of two samples with the same labels the later one counts, as on the page.
      for (const [key, sample] of new Map(samples.map((one) => [keyOf(one.labels), one]))) {
        const series = seriesIn(ofFamily, key, sample.labels);
        if (!family.comesAndGoes) series.told = withRead(series.told);
        // A series without days says that nothing was counted.
        if (sample.days.length === 0 && !isEmptyRange(read))
          series.beginsMs = Math.min(series.beginsMs, read.fromMs);
        this.#addFigures(ofFamily, series, figuresOf(sample.days, answered));
      }
    }
    this.#read = withRead(this.#read);
    if (answered.toMs > this.#namesOfMs) this.#takeNames(reading, answered.toMs);
  }

  /** The time that was read, from the first figure of any series on. No range touches another. */
  get ranges(): readonly Range[] {
    return this.rangesFrom(this.beginsMs);
  }

  /** The start of the day of the first figure of any series, as Unix time; infinite if there is none. */
  get beginsMs(): number {
    let beginsMs = Number.POSITIVE_INFINITY;
    for (const { series } of this.#families.values())
      for (const one of series.values()) beginsMs = Math.min(beginsMs, one.beginsMs);
    return beginsMs;
  }

  /** The time that was read, from another time on. */
  rangesFrom(fromMs: number): readonly Range[] {
    return from(fromMs, this.#read);
  }

  /** The time that was read, but of which families with figures before were not told. By time. */
  get untold(): readonly Untold[] {
    const gaps = new Map<string, { readonly range: Range; readonly families: Family[] }>();
    for (const [family, { told, series }] of this.#families)
      for (const range of gapsOf(family, told, [...series.values()], this.#read)) {
        const key = `${range.fromMs} ${range.toMs}`;
        const gap = gaps.get(key) ?? { range, families: [] };
        if (!gap.families.includes(family)) gap.families.push(family);
        gaps.set(key, gap);
      }
    return Array.from(gaps.values(), ({ range, families }) => ({ ...range, families })).toSorted(
      (a, b) => a.fromMs - b.fromMs,
    );
  }

  /** The series of a family that have figures. With a bound, the largest have one each, and all others are one. */
  seriesOf(family: Family): readonly History[] {
    const { series, told = [], cutOff = [] } = this.#families.get(family) ?? {};
    const all = [...(series?.values() ?? [])].filter(({ beginsMs }) => Number.isFinite(beginsMs));
    const { bound } = family;
    const span = this.#span;
    // All of the span is a part of one day, whose figure is not known.
    const isPartOfDay = cutOff.some(({ fromMs, toMs }) => fromMs === span.fromMs && toMs === span.toMs);
    const history = (one: Growing) => {
      const firstMs = family.comesAndGoes ? (told[0]?.fromMs ?? 0) : one.beginsMs;
      const toldFromMs = floor(firstMs, dayMs) + (isPartOfDay ? dayMs : 0);
      const ranges = from(one.beginsMs, without(family.comesAndGoes ? told : one.told, cutOff));
      return historyOf(one, { ranges, toldFromMs, span });
    };
    if (!bound) return all.map(history);
    const restKey = keyOf(bound.rest);
    const named = all.filter(({ labels }) => keyOf(labels) !== restKey);
    const largest = named.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, bound.most);
    const others = all.filter((one) => !largest.includes(one));
    return [...largest, ...(others.length > 0 ? [together(bound.rest, others)] : [])].map(history);
  }

  /** The rows of the families that name it and its parts, as of the newest answer. */
  get names(): readonly FamilyRows[] {
    return this.#names;
  }

  /** Makes room once its series have been written. */
  forget(): void {
    this.#families.clear();
  }

  #familyOf(family: Family): GrowingFamily {
    const known = this.#families.get(family);
    if (known) return known;
    const begun = { series: new Map<string, Growing>(), told: [], cutOff: [] };
    this.#families.set(family, begun);
    return begun;
  }

  #addFigures(ofFamily: GrowingFamily, series: Growing, figures: Iterable<Figure>): void {
    const span = this.#span;
    for (const { fromMs, toMs, value } of figures) {
      const part = cut({ fromMs, toMs }, span);
      if (fromMs >= span.fromMs && toMs <= span.toMs)
        begin(series, Math.max(floor(fromMs, dayMs), span.fromMs));
      else if (!isEmptyRange(part)) ofFamily.cutOff = merged([...ofFamily.cutOff, part]);
      const originMs = floor(span.fromMs, dayMs);
      // What came before the span on its first day is kept: it is part of what the API has of that day.
      if (value <= 0 || fromMs < originMs || toMs > span.toMs) continue;
      const unit = toMs - fromMs === hourMs ? 'hours' : 'days';
      const unitMs = unitsMs[unit];
      series[unit] ??= new Float64Array(Math.ceil((span.toMs - originMs) / unitMs));
      series[unit][Math.floor((fromMs - originMs) / unitMs)] = value;
    }
  }

  #takeNames(reading: unknown, atMs: number): void {
    this.#namesOfMs = atMs;
    this.#names = namesOf(this.target, reading);
  }
}

/** The rows of the families that name a target and its parts. */
export function namesOf(target: Target, reading: unknown): readonly FamilyRows[] {
  return catalogue.flatMap((declared, family) => {
    if (declared.kind !== target.kind || !isName(declared)) return [];
    const samples = declared.samples(reading, target);
    const copies = samples.map(({ labels, value }) => ({ labels: structuredClone(labels ?? {}), value }));
    return namedRowsOf(target, [{ family, samples: copies }]);
  });
}

/** Those of one family. */
export function labelsIn(names: readonly FamilyRows[], family: Family): readonly Labels[] {
  const index = catalogue.indexOf(family);
  const rows = names.find((one) => one.family === index);
  return rows?.samples.map(({ labels = {} }) => labels) ?? [];
}

function seriesIn({ series }: GrowingFamily, key: string, labels: Labels = {}): Growing {
  const known = series.get(key);
  if (known) return known;
  // The texts of a reading may be slices that keep the whole answer in memory.
  const begun = { ...notBegun, labels: structuredClone(labels) };
  series.set(key, begun);
  return begun;
}

const notBegun = { beginsMs: Number.POSITIVE_INFINITY, figuresMs: Number.POSITIVE_INFINITY, told: [] };

/** Notes a day that has a figure. */
function begin(series: Growing, atMs: number): void {
  series.beginsMs = Math.min(series.beginsMs, atMs);
  series.figuresMs = Math.min(series.figuresMs, atMs);
}

/** The parts of ranges after a time. */
function from(fromMs: number, ranges: readonly Range[]): readonly Range[] {
  const after = { fromMs, toMs: Number.POSITIVE_INFINITY };
  return ranges.map((range) => cut(range, after)).filter((range) => !isEmptyRange(range));
}

/** The time after their first figures that was read, but in which nothing was told of some series. */
function gapsOf(
  { comesAndGoes }: Family,
  told: readonly Range[],
  series: readonly Growing[],
  read: readonly Range[],
): readonly Range[] {
  // A label value that comes and goes is lacking where it counted nothing.
  if (!comesAndGoes) return series.flatMap((one) => without(from(one.figuresMs, read), one.told));
  const figuresMs = series.reduce((first, one) => Math.min(first, one.figuresMs), Number.POSITIVE_INFINITY);
  return without(from(figuresMs, read), told);
}

/** The figures of one series: each of its hour, or of its day as far as the answer is about it. */
function* figuresOf(days: readonly DayFigure[], answered: Range): Iterable<Figure> {
  for (const { startSeconds, value, isHour } of days) {
    if (!Number.isFinite(value)) continue;
    const fromMs = startSeconds * 1000;
    const endMs = fromMs + (isHour ? hourMs : dayMs);
    const toMs = answered.toMs > fromMs && answered.toMs < endMs && !isHour ? answered.toMs : endMs;
    yield { fromMs, toMs, value };
  }
}

const unitsMs = { hours: hourMs, days: dayMs } as const;
const units = ['hours', 'days'] as const;

function sizeOf(one: Growing): number {
  let size = 0;
  for (const unit of units) for (const value of one[unit] ?? []) size += value;
  return size;
}

/** The sum of several series. */
function together(labels: Labels, all: readonly Growing[]): Growing {
  const beginsMs = all.reduce((first, one) => Math.min(first, one.beginsMs), Number.POSITIVE_INFINITY);
  const sum: Growing = { ...notBegun, labels, beginsMs };
  for (const unit of units)
    for (const { [unit]: more } of all) {
      if (!more) continue;
      sum[unit] ??= new Float64Array(more.length);
      for (const [at, value] of more.entries()) sum[unit][at] = added(sum[unit][at] ?? 0, value);
    }
  return sum;
}

/** The figures are made when they are asked for: those of all series at once would take much memory. */
function historyOf(
  { labels, ...growing }: Growing,
  { span, ...known }: Pick<History, 'ranges' | 'toldFromMs'> & { readonly span: Range },
): History {
  return {
    labels,
    ...known,
    get figures() {
      return figuresWithin(growing, span);
    },
    ofDay: (startMs) => figureOfDay(growing, (startMs - floor(span.fromMs, dayMs)) / dayMs),
  };
}

/** day: how many days after the first one. */
function figureOfDay({ hours, days }: Pick<Growing, 'hours' | 'days'>, day: number): number {
  // The figure of a day has its hours in it.
  if (days?.[day]) return days[day];
  return hours?.subarray(24 * day, 24 * (day + 1)).reduce(added, 0) ?? 0;
}

function figuresWithin({ hours, days }: Pick<Growing, 'hours' | 'days'>, span: Range): Figures {
  const originMs = floor(span.fromMs, dayMs);
  const figures: number[] = [];
  const add = (fromMs: number, unitMs: number, value = 0) => {
    if (value > 0 && fromMs >= span.fromMs) figures.push(fromMs, Math.min(fromMs + unitMs, span.toMs), value);
  };
  for (let startMs = originMs; startMs < span.toMs; startMs += dayMs) {
    const ofDay = days?.[(startMs - originMs) / dayMs] ?? 0;
    add(startMs, dayMs, ofDay);
    for (let atMs = startMs; hours && ofDay === 0 && atMs < startMs + dayMs; atMs += hourMs)
      add(atMs, hourMs, hours[(atMs - originMs) / hourMs]);
  }
  return figures;
}

/** The text by which a family tells its series apart. */
function keyOf(labels: Labels = {}): string {
  return JSON.stringify(Object.values(labels));
}
