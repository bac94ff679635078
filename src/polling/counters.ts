/** The counters of a target: which series each family has, and what they have counted. */
import { catalogue, counterFamiliesOf } from '../resources/catalogue.ts';
import { sumByDay } from '../resources/days.ts';
import type { CounterBound, CounterSample, DayFigure, Sample, TargetContext } from '../resources/resource.ts';
import { DayCounter } from './day-counter.ts';

/** How long a series may be missing before it is forgotten: a country may have no views for hours. */
const keptMs = 2 * 86_400_000;

type Labels = CounterSample['labels'];

interface HeldSeries {
  readonly labels: Labels;
  readonly counter: DayCounter;
  /** Since when it has been missing from readings, by the clock that never jumps. */
  lackedSinceMs: number | undefined;
}

export class Counters {
  /** By index in the catalogue. */
  readonly #families: ReadonlyMap<number, FamilyCounters>;

  private constructor(families: readonly number[]) {
    this.#families = new Map(
      families.map((family) => [family, new FamilyCounters(catalogue[family]?.bound)]),
    );
  }

  /** Undefined where the kind has no counters. */
  static of(kind: string): Counters | undefined {
    const families = counterFamiliesOf(kind);
    return families.length > 0 ? new Counters(families) : undefined;
  }

  /**
   * Throws, and changes nothing, if a family cannot use the reading. nowMs: Unix time; uptimeMs: by a clock that never
   * jumps.
   */
  add(target: TargetContext, reading: unknown, nowMs: number, uptimeMs: number): void {
    const given = [...this.#families].map(
      ([family, counters]) => [counters, catalogue[family]?.days?.(reading, target) ?? []] as const,
    );
    for (const [counters, samples] of given) counters.add(samples, nowMs, uptimeMs);
  }

  /** The rows of each family, by its index in the catalogue. */
  get rows(): readonly { readonly family: number; readonly samples: readonly Sample[] }[] {
    return Array.from(this.#families, ([family, { samples }]) => ({ family, samples }));
  }
}

/**
 * The series of one family. With a bound, the first have one each, the largest of a reading before the others; what comes later
 * is counted together.
 */
class FamilyCounters {
  readonly #bound: CounterBound | undefined;
  readonly #held = new Map<string, HeldSeries>();
  #rest: DayCounter | undefined;

  constructor(bound: CounterBound | undefined) {
    this.#bound = bound;
  }

  get samples(): readonly Sample[] {
    const samples = Array.from(this.#held.values(), ({ labels, counter: { value } }) =>
      labels ? { labels, value } : { value },
    );
    return this.#bound && this.#rest
      ? [...samples, { labels: this.#bound.rest, value: this.#rest.value }]
      : samples;
  }

  add(samples: readonly CounterSample[], nowMs: number, uptimeMs: number): void {
    // Of two samples with the same labels the later one counts, as on the page.
    const left = new Map(samples.map((sample) => [keyOf(sample.labels), sample]));
    for (const [key, series] of this.#held) {
      const days = left.get(key)?.days;
      left.delete(key);
      if (days) series.counter.add(days, nowMs);
      series.lackedSinceMs = days ? undefined : (series.lackedSinceMs ?? uptimeMs);
      if (uptimeMs - (series.lackedSinceMs ?? uptimeMs) > keptMs) this.#held.delete(key);
    }
    if (this.#bound) this.#addRest(left, this.#bound, nowMs);
    else for (const [key, sample] of left) this.#hold(key, sample, nowMs);
  }

  /**
   * Values without a series of their own are first added to the rest, so that nothing is lost or counted twice. Then the
   * largest get one, which begins at 0, as long as there is room.
   */
  #addRest(left: ReadonlyMap<string, CounterSample>, { most, rest }: CounterBound, nowMs: number): void {
    if (left.size === 0) return;
    const sum = sumByDay([...left.values()].flatMap(({ days }) => days));
    if (this.#rest) this.#rest.add(sum, nowMs);
    else this.#rest = new DayCounter(sum, nowMs);
    const restKey = keyOf(rest);
    const largestFirst = [...left]
      .filter(([key]) => key !== restKey)
      .toSorted(([, a], [, b]) => sizeOf(b.days) - sizeOf(a.days));
    for (const [key, sample] of largestFirst.slice(0, Math.max(0, most - this.#held.size))) {
      this.#rest.giveAway(sample.days);
      this.#hold(key, sample, nowMs);
    }
  }

  #hold(key: string, { labels, days }: CounterSample, nowMs: number): void {
    const counter = new DayCounter(days, nowMs);
    // A copy: the texts of a reading may be slices that keep the whole answer in memory.
    this.#held.set(key, {
      labels: labels && structuredClone(labels),
      counter,
      lackedSinceMs: undefined,
    });
  }
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.values(labels ?? {}));
}

function sizeOf(days: readonly DayFigure[]): number {
  return days.reduce((sum, { value }) => sum + value, 0);
}
