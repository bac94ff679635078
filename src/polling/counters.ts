/** The counters of a target: which series each family has, and what they have counted. */
import { catalogue, counterFamiliesOf } from '../resources/catalogue.ts';
import { sumByDay } from '../resources/charts.ts';
import type {
  CounterBound,
  CounterSample,
  DayFigure,
  Family,
  Labels,
  Sample,
  TargetContext,
} from '../resources/resource.ts';
import { type Before, DayCounter } from './day-counter.ts';

/** How long a series of a label value that comes and goes may be missing before it is forgotten: a country may have no views for hours. */
const keptMs = 2 * 86_400_000;

class HeldSeries extends DayCounter {
  readonly labels: Labels;
  /** Since when it has been missing from readings, by the clock that never jumps. */
  lackedSinceMs: number | undefined;

  constructor({ labels, days }: CounterSample, nowMs: number, before: Before) {
    super(days, nowMs, before);
    // The texts of a reading may be slices that keep the whole answer in memory.
    this.labels = structuredClone(labels ?? {});
  }
}

export class Counters {
  /** By index in the catalogue. */
  readonly #indexes: readonly number[];
  readonly #families: readonly FamilyCounters[];
  /** When the last reading was, by the clock that never jumps. */
  #readMs: number | undefined;

  private constructor(indexes: readonly number[]) {
    this.#indexes = indexes;
    this.#families = indexes.map(() => new FamilyCounters());
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
    const given = this.#indexes.map((family) => catalogue[family]?.days?.(reading, target) ?? []);
    const beforeMs = this.#readMs === undefined ? undefined : nowMs - (uptimeMs - this.#readMs);
    for (const [at, index] of this.#indexes.entries()) {
      const family = catalogue[index];
      if (family) this.#families[at]?.add(given[at] ?? [], family, { nowMs, uptimeMs, beforeMs });
    }
    this.#readMs = uptimeMs;
  }

  /** The start of the newest day of which anything was counted, in seconds since 1970. */
  get newestSeconds(): number {
    return this.#families.reduce(
      (newest, family) => Math.max(newest, family.newestSeconds),
      Number.NEGATIVE_INFINITY,
    );
  }

  /** The rows of each family, by its index in the catalogue. */
  get rows(): readonly { readonly family: number; readonly samples: readonly Sample[] }[] {
    return this.#indexes.map((family, at) => ({
      family,
      samples: this.#families[at]?.samplesOf(catalogue[family]?.bound) ?? [],
    }));
  }
}

/** When a reading was. */
interface ReadingTimes {
  /** Unix time. */
  readonly nowMs: number;
  /** By the clock that never jumps. */
  readonly uptimeMs: number;
  /** When the reading before was, by today's wall clock; undefined for the first. Unix time. */
  readonly beforeMs: number | undefined;
}

/**
 * The series of one family. With a bound, the first have one each, the largest of a reading before the others; what comes later
 * is counted together.
 */
class FamilyCounters {
  /** A list: there are very many, and a map takes several times the memory. */
  #held: readonly HeldSeries[] = [];
  #rest: DayCounter | undefined;

  get newestSeconds(): number {
    return this.#held.reduce(
      (newest, series) => Math.max(newest, series.newestSeconds),
      this.#rest?.newestSeconds ?? Number.NEGATIVE_INFINITY,
    );
  }

  samplesOf(bound: CounterBound | undefined): readonly Sample[] {
    const samples = this.#held.map(({ labels, value }) => ({ labels, value }));
    return bound && this.#rest ? [...samples, { labels: bound.rest, value: this.#rest.value }] : samples;
  }

  add(
    samples: readonly CounterSample[],
    { bound, comesAndGoes }: Pick<Family, 'bound' | 'comesAndGoes'>,
    times: ReadingTimes,
  ): void {
    const { nowMs, uptimeMs, beforeMs } = times;
    // Of two samples with the same labels the later one counts, as on the page.
    const left = new Map(samples.map((sample) => [keyOf(sample.labels), sample]));
    for (const series of this.#held) {
      const key = keyOf(series.labels);
      const days = left.get(key)?.days;
      left.delete(key);
      if (days) series.add(days, nowMs);
      series.lackedSinceMs = days ? undefined : (series.lackedSinceMs ?? uptimeMs);
    }
    const kept = comesAndGoes
      ? this.#held.filter(({ lackedSinceMs = uptimeMs }) => uptimeMs - lackedSinceMs <= keptMs)
      : this.#held;
    const begun = bound
      ? this.#addRest(left, bound, kept.length, times)
      : Array.from(left.values(), (sample) => new HeldSeries(sample, nowMs, { lackedMs: beforeMs }));
    if (kept.length < this.#held.length || begun.length > 0) this.#held = kept.concat(begun);
  }

  /**
   * Values without a series of their own are first added to the rest, so that nothing is lost or counted twice. Then the
   * largest get one, which begins at 0, as long as there is room. Returns those series.
   */
  #addRest(
    left: ReadonlyMap<string, CounterSample>,
    { most, rest }: CounterBound,
    held: number,
    { nowMs, beforeMs }: ReadingTimes,
  ): readonly HeldSeries[] {
    if (left.size === 0) return [];
    const sum = sumByDay([...left.values()].flatMap(({ days }) => days));
    if (this.#rest) this.#rest.add(sum, nowMs);
    else this.#rest = new DayCounter(sum, nowMs, { lackedMs: beforeMs });
    const { fromSeconds } = this.#rest;
    const restKey = keyOf(rest);
    const largest = [...left]
      .filter(([key]) => key !== restKey)
      .map(([, sample]) => sample)
      .toSorted((a, b) => sizeOf(b.days) - sizeOf(a.days))
      .slice(0, Math.max(0, most - held));
    for (const { days } of largest) this.#rest.giveAway(days);
    return largest.map((sample) => new HeldSeries(sample, nowMs, { fromSeconds }));
  }
}

function sizeOf(days: readonly DayFigure[]): number {
  return days.reduce((sum, { value }) => sum + value, 0);
}

/** The text by which a family tells its series apart. */
function keyOf(labels: Labels = {}): string {
  return JSON.stringify(Object.values(labels));
}
