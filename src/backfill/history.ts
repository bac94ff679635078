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

/** The same while answers come in. */
interface Growing {
  readonly labels: Labels;
  readonly figures: number[];
  beginsMs: number;
}

/** What was asked for. */
export interface Asked {
  /** What the history is of: figures that are not wholly within it are left out. */
  readonly span: Range;
  /** What the answer is about. */
  readonly answered: Range;
}

/** The families of a kind that have a history, with what gives their figures. */
export type Source = (reading: unknown, target: Target) => readonly CounterSample[];

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
  /** By family, then by labels. */
  readonly #series = new Map<Family, Map<string, Growing>>();
  #read: readonly Range[] = [];
  #names: readonly FamilyRows[] = [];
  #namesOfMs = Number.NEGATIVE_INFINITY;

  constructor(target: Target) {
    this.target = target;
  }

  /** Takes an answer. */
  add(sources: ReadonlyMap<Family, Source>, reading: unknown, { span, answered }: Asked): void {
    const { target } = this;
    const given = Array.from(sources, ([family, source]) => [family, source(reading, target)] as const);
    // Of two samples with the same labels the later one counts, as on the page.
    for (const [family, samples] of given)
      for (const sample of new Map(samples.map((one) => [keyOf(one.labels), one])).values())
        this.#addSeries(family, sample, { span, answered });
    const read = cut(answered, span);
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
    if (!bound) return all.map(inOrder);
    const restKey = keyOf(bound.rest);
    const named = all.filter(({ labels }) => keyOf(labels) !== restKey);
    const largest = named.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, bound.most);
    const others = all.filter((one) => !largest.includes(one));
    return [...largest, ...(others.length > 0 ? [together(bound.rest, others)] : [])].map(inOrder);
  }

  /** The rows of the families that name it and its parts, as of the newest answer. */
  get names(): readonly FamilyRows[] {
    return this.#names;
  }

  /** Makes room: its series have been written. */
  forget(): void {
    this.#series.clear();
  }

  #addSeries(family: Family, { labels, days }: CounterSample, { span, answered }: Asked): void {
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
      series = { labels: structuredClone(labels ?? {}), figures: [], beginsMs: Number.POSITIVE_INFINITY };
      ofFamily.set(key, series);
    }
    for (const { fromMs, toMs, value } of figures) {
      series.beginsMs = Math.min(series.beginsMs, Math.max(floor(fromMs, dayMs), span.fromMs));
      if (value > 0) series.figures.push(fromMs, toMs, value);
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

function sizeOf({ figures }: Growing): number {
  let size = 0;
  for (let at = 2; at < figures.length; at += 3) size += figures[at] ?? 0;
  return size;
}

/** The sum of several series. */
function together(labels: Labels, all: readonly Growing[]): Growing {
  const sums = new Map<string, Figure>();
  for (const { figures } of all)
    for (let at = 0; at < figures.length; at += 3) {
      const [fromMs = 0, toMs = 0, value = 0] = figures.slice(at, at + 3);
      const key = `${fromMs} ${toMs}`;
      sums.set(key, { fromMs, toMs, value: value + (sums.get(key)?.value ?? 0) });
    }
  return {
    labels,
    figures: [...sums.values()].flatMap(({ fromMs, toMs, value }) => [fromMs, toMs, value]),
    beginsMs: Math.min(...all.map(({ beginsMs }) => beginsMs)),
  };
}

/** Answers come in any order. */
function inOrder({ figures, ...series }: Growing): History {
  const starts = Array.from({ length: figures.length / 3 }, (_, at) => at * 3);
  const isSorted = starts.every((at) => at === 0 || (figures[at - 3] ?? 0) <= (figures[at] ?? 0));
  if (isSorted) return { ...series, figures };
  const sorted = starts.toSorted((a, b) => (figures[a] ?? 0) - (figures[b] ?? 0));
  return { ...series, figures: sorted.flatMap((at) => figures.slice(at, at + 3)) };
}

/** The text by which a family tells its series apart. */
function keyOf(labels: Labels = {}): string {
  return JSON.stringify(Object.values(labels));
}
