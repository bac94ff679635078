/** What the answers about the past have of one target: the figures of each series, of which time they are, and its names. Pure. */
import type { Target } from '../polling/spec.ts';
import { type FamilyRows, namedRowsOf } from '../polling/target-rows.ts';
import { catalogue } from '../resources/catalogue.ts';
import type { CounterSample, DayFigure, Family, Labels } from '../resources/resource.ts';
import type { Range } from '../resources/times.ts';
import type { Figure, Figures } from './growth.ts';
import { cut, dayMs, floor, hourMs, isEmptyRange, merged } from './ranges.ts';

/** One series of a family. */
export interface History {
  readonly labels: Labels;
  readonly figures: Figures;
  /** From when on its chart has points. Unix time. */
  readonly beginsMs: number;
}

/** The same while answers come in. What was counted, by the hours and by the days of the time: there are very many. */
interface Growing {
  readonly labels: Labels;
  hours?: Float64Array;
  days?: Float64Array;
  beginsMs: number;
}

/** The families of a kind that have a history, with what gives their figures. */
export type Source = (reading: unknown, target: Target) => readonly CounterSample[];

export function familiesOf(kind: string): readonly Family[] {
  return catalogue.filter((family) => family.kind === kind);
}

/** Those of the families of a kind. */
export function sourcesOf(kind: string): ReadonlyMap<Family, Source> {
  return new Map(
    familiesOf(kind).flatMap((family) => {
      const source = sourceOf(family);
      return source ? [[family, source] as const] : [];
    }),
  );
}

/** What gives the figures of a family: its days, those of its counter, or none. */
export function sourceOf(family: Family): Source | undefined {
  if (family.days) return (reading, target) => family.days?.(reading, target) ?? [];
  const counter = counterOf(family);
  if (!family.figures || counter) return undefined;
  return (reading, target) =>
    (family.figures?.(reading, target) ?? []).flatMap((one) => ('days' in one ? [one] : []));
}

/** The counter whose newest day a family has. */
export function counterOf({ kind, name }: Family): Family | undefined {
  if (!name.endsWith('_latest_day')) return undefined;
  const total = name.replace(/_latest_day$/, '_total');
  return catalogue.find((one) => one.kind === kind && one.name === total && 'days' in one);
}

/** Whether it names what has figures, and says nothing else that may have been otherwise in the past. */
export function isName({ type, labels }: Family): boolean {
  return type === 'info' && labels.includes('name');
}

export class TargetHistory {
  readonly target: Target;
  readonly #span: Range;
  /** By family, then by labels. */
  readonly #series = new Map<Family, Map<string, Growing>>();
  #read: readonly Range[] = [];
  #names: readonly FamilyRows[] = [];
  #namesOfMs = Number.NEGATIVE_INFINITY;

  /** span: what the history is of. Figures that are not wholly within it are left out. */
  constructor(target: Target, span: Range) {
    this.target = target;
    this.#span = span;
  }

  /** Takes an answer. answered: what it is about. */
  add(sources: ReadonlyMap<Family, Source>, reading: unknown, answered: Range): void {
    const { target } = this;
    const given = Array.from(sources, ([family, source]) => [family, source(reading, target)] as const);
    // Of two samples with the same labels the later one counts, as on the page.
    for (const [family, samples] of given)
      for (const sample of new Map(samples.map((one) => [keyOf(one.labels), one])).values())
        this.#addSeries(family, sample, answered);
    const read = cut(answered, this.#span);
    if (!isEmptyRange(read)) this.#read = merged([...this.#read, read]);
    if (answered.toMs > this.#namesOfMs) this.#takeNames(reading, answered.toMs);
  }

  /** The time of which figures were read, from the first on that any series has. None touches another. */
  get ranges(): readonly Range[] {
    return this.rangesFrom(this.beginsMs);
  }

  /** From when on any series has points; infinite if there is none. Unix time. */
  get beginsMs(): number {
    let beginsMs = Number.POSITIVE_INFINITY;
    for (const series of this.#series.values())
      for (const one of series.values()) beginsMs = Math.min(beginsMs, one.beginsMs);
    return beginsMs;
  }

  /** The same from another time on. */
  rangesFrom(fromMs: number): readonly Range[] {
    const after = { fromMs, toMs: Number.POSITIVE_INFINITY };
    return this.#read.map((range) => cut(range, after)).filter((range) => !isEmptyRange(range));
  }

  /** The series of a family. With a bound, the largest have one each, and all others are one. */
  seriesOf(family: Family): readonly History[] {
    const all = [...(this.#series.get(family)?.values() ?? [])];
    const { bound } = family;
    const history = (one: Growing) => historyOf(one, this.#span);
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

  /** Makes room: its series have been written. */
  forget(): void {
    this.#series.clear();
  }

  #addSeries(family: Family, { labels, days }: CounterSample, answered: Range): void {
    const span = this.#span;
    const figures = [...figuresOf(days, answered)].filter(
      ({ fromMs, toMs }) => fromMs >= span.fromMs && toMs <= span.toMs,
    );
    if (figures.length === 0) return;
    let ofFamily = this.#series.get(family);
    if (!ofFamily) {
      ofFamily = new Map();
      this.#series.set(family, ofFamily);
    }
    const key = keyOf(labels);
    let series = ofFamily.get(key);
    if (!series) {
      // The texts of a reading may be slices that keep the whole answer in memory.
      series = { labels: structuredClone(labels ?? {}), beginsMs: Number.POSITIVE_INFINITY };
      ofFamily.set(key, series);
    }
    for (const { fromMs, toMs, value } of figures) {
      series.beginsMs = Math.min(series.beginsMs, Math.max(floor(fromMs, dayMs), span.fromMs));
      if (value <= 0) continue;
      const unit = toMs - fromMs === hourMs ? 'hours' : 'days';
      const unitMs = unitsMs[unit];
      const originMs = floor(span.fromMs, dayMs);
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

/**
 * The figures of the days of one series. Of a day with several, each is one of an hour; a single one at midnight is that of the day,
 * as far as it was asked for.
 */
function* figuresOf(days: readonly DayFigure[], answered: Range): Iterable<Figure> {
  const byDay = new Map<number, Map<number, number>>();
  for (const { startSeconds, value } of days) {
    const atMs = startSeconds * 1000;
    if (!Number.isFinite(value)) continue;
    const startMs = floor(atMs, dayMs);
    const ofDay = byDay.get(startMs) ?? new Map<number, number>();
    byDay.set(startMs, ofDay.set(atMs, Math.max(value, ofDay.get(atMs) ?? 0)));
  }
  for (const [startMs, ofDay] of byDay) {
    const [only] = ofDay;
    if (only && ofDay.size === 1 && only[0] === startMs) {
      const endMs = startMs + dayMs;
      const toMs = answered.toMs > startMs && answered.toMs < endMs ? answered.toMs : endMs;
      yield { fromMs: startMs, toMs, value: only[1] };
    } else for (const [fromMs, value] of ofDay) yield { fromMs, toMs: fromMs + hourMs, value };
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
  const sum: Growing = { labels, beginsMs: Math.min(...all.map(({ beginsMs }) => beginsMs)) };
  for (const unit of units)
    for (const { [unit]: more } of all) {
      if (!more) continue;
      sum[unit] ??= new Float64Array(more.length);
      for (const [at, value] of more.entries()) sum[unit][at] = (sum[unit][at] ?? 0) + value;
    }
  return sum;
}

/** Its figures are made when they are asked for: those of all series at once would be much memory. */
function historyOf({ labels, beginsMs, ...growing }: Growing, span: Range): History {
  return {
    labels,
    beginsMs,
    get figures() {
      return figuresWithin(growing, span);
    },
  };
}

function figuresWithin({ hours, days }: Pick<Growing, 'hours' | 'days'>, span: Range): Figures {
  const originMs = floor(span.fromMs, dayMs);
  const figures: number[] = [];
  const add = (fromMs: number, unitMs: number, value = 0) => {
    if (value > 0) figures.push(fromMs, Math.min(fromMs + unitMs, span.toMs), value);
  };
  // A day has either a figure of its own or those of its hours.
  for (let startMs = originMs; startMs < span.toMs; startMs += dayMs) {
    add(startMs, dayMs, days?.[(startMs - originMs) / dayMs]);
    for (let atMs = startMs; hours && atMs < startMs + dayMs; atMs += hourMs)
      add(atMs, hourMs, hours[(atMs - originMs) / hourMs]);
  }
  return figures;
}

/** The text by which a family tells its series apart. */
function keyOf(labels: Labels = {}): string {
  return JSON.stringify(Object.values(labels));
}
