/** The counters of a target: which series each family has, and what they have counted. */
import { catalogue, counterFamiliesOf, queryOf } from '../resources/catalogue.ts';
import { sumByDay } from '../resources/charts.ts';
import { askedFor } from '../resources/queries.ts';
import type {
  CounterBound,
  CounterSample,
  DayFigure,
  Family,
  Labels,
  ReadContext,
  Sample,
  TargetContext,
  UntoldDay,
} from '../resources/resource.ts';
import { daySeconds, startOfDay } from '../resources/times.ts';
import type { CountState, FamilyState, TargetState } from '../state/form.ts';
import { type Before, DayCounter } from './day-counter.ts';

const dayMs = daySeconds * 1000;

/** How long a series of a label value that comes and goes may be missing before it is forgotten: a country may have no views for hours. */
const keptMs = 2 * dayMs;

/** How often an earlier day is asked for until it is lost; one that the API refuses is lost at once. */
const mostTries = 5;

/** What the API keeps at most: earlier days are not asked for. */
const pendingMaxMs = 28 * dayMs;

class HeldSeries extends DayCounter {
  readonly labels: Labels;
  /** Since when it has been missing from readings, by the clock that never jumps. */
  lackedSinceMs: number | undefined;

  constructor(labels: Labels, ...first: ConstructorParameters<typeof DayCounter>) {
    super(...first);
    this.labels = labels;
  }

  /** The first reading of a series. */
  static begun({ labels = {}, days }: CounterSample, nowMs: number, before: Before): HeldSeries {
    // The texts of a reading may be slices that keep the whole answer in memory.
    return new HeldSeries(structuredClone(labels), days, nowMs, before);
  }
}

/** What a reading of a target is of, as the clocks of now have it. */
export interface ReadAt {
  /** Unix time. */
  readonly nowMs: number;
  /** By a clock that never jumps. */
  readonly uptimeMs: number;
  /** When its poll began. Default: now. Unix time. */
  readonly beganMs?: number;
}

export class Counters {
  readonly #kind: string;
  /** By index in the catalogue. */
  readonly #indexes: readonly number[];
  readonly #families: readonly FamilyCounters[];
  /** Called when a series has begun. */
  readonly #onBegun: (() => void) | undefined;
  /** When the last reading was, by the clock that never jumps. */
  #readMs: number | undefined;
  /** When the poll of the last reading began. Unix time. */
  #lastBeganMs = 0;
  /** When the last poll began that asked for every day that may have grown. Unix time. */
  #caughtUpMs: number | undefined;
  /** When the poll of the first reading began. Unix time. */
  #sinceMs: number | undefined;
  /** Whether the days that were counted before a restart were not read since: then the page may have had more. */
  #isBehind = false;
  /** Earlier days that were asked for and not told, by their start, in Unix time, and how often. */
  #untold: ReadonlyMap<number, number> = new Map();

  private constructor(kind: string, onBegun: (() => void) | undefined) {
    this.#kind = kind;
    this.#indexes = counterFamiliesOf(kind);
    this.#families = this.#indexes.map(() => new FamilyCounters());
    this.#onBegun = onBegun;
  }

  /** Undefined where the kind has no counters. onBegun: called when a series has begun. */
  static of(kind: string, onBegun?: () => void): Counters | undefined {
    return counterFamiliesOf(kind).length > 0 ? new Counters(kind, onBegun) : undefined;
  }

  /** Those of a state: they are shown once a reading has all days that may have grown. now: as in `add`. */
  static restored(
    {
      kind,
      last_read,
      counting_since,
      counters,
      pending = [],
    }: Omit<TargetState, 'ids' | 'base_url' | 'account'>,
    { nowMs, uptimeMs }: Omit<ReadAt, 'beganMs'>,
    onBegun?: () => void,
  ): Counters | undefined {
    const restored = Counters.of(kind, onBegun);
    if (!restored) return undefined;
    const lastReadMs = last_read * 1000;
    restored.#readMs = uptimeMs - (nowMs - lastReadMs);
    restored.#lastBeganMs = lastReadMs;
    // The day before may have grown as well.
    restored.#caughtUpMs = startOfDay(last_read) * 1000 - 1;
    restored.#sinceMs = counting_since * 1000;
    restored.#isBehind = true;
    restored.#untold = new Map(pending.map(([startSeconds, tries]) => [startSeconds * 1000, tries]));
    for (const [at, index] of restored.#indexes.entries()) {
      const family = catalogue[index];
      const state = counters[family?.name ?? ''];
      if (family && state) restored.#families[at]?.restore(state, family);
    }
    return restored;
  }

  /** Since when it is counted; undefined before the first reading. Unix time. */
  get sinceMs(): number | undefined {
    return this.#sinceMs;
  }

  /** What decides which days a poll asks for. nowMs: when it begins. Unix time. */
  contextAt(nowMs: number): ReadContext {
    const untold = [...this.#untold];
    return {
      nowMs,
      caughtUpMs: this.#caughtUpMs,
      newestDayMs: this.#newestSeconds * 1000,
      pendingMs: untold.flatMap(([startMs, tries]) => (tries < mostTries ? [startMs] : [])),
      lostMs: untold.flatMap(([startMs, tries]) => (tries < mostTries ? [] : [startMs])),
    };
  }

  /**
   * Counts a reading. Throws, and changes nothing, if a family cannot use it. Returns the earlier days that are lost from now on: they were
   * not told, and are not asked for again.
   */
  add(
    target: TargetContext,
    reading: unknown,
    { nowMs, uptimeMs, beganMs = nowMs }: ReadAt,
    untold: readonly UntoldDay[] = [],
  ): readonly UntoldDay[] {
    const given = this.#indexes.map((family) => catalogue[family]?.days?.(reading, target) ?? []);
    const query = queryOf(this.#kind);
    const { isCaughtUp } = askedFor(this.contextAt(beganMs), query);
    const lost = this.#take(untold, beganMs);
    const pendingMs = this.#pendingMs;
    const newestMs = this.#newestSeconds * 1000;
    // While the clock is behind, the days that were counted before are not asked for; and they may still be pending.
    const isPending = pendingMs <= newestMs && pendingMs >= newestMs - dayMs;
    if (query.yesterday === undefined || (newestMs <= beganMs && !isPending)) this.#isBehind = false;
    const beforeMs = this.#readMs === undefined ? undefined : nowMs - (uptimeMs - this.#readMs);
    const times = { nowMs, uptimeMs, beforeMs, pendingSeconds: pendingMs / 1000 };
    let hasBegun = false;
    for (const [at, index] of this.#indexes.entries()) {
      const family = catalogue[index];
      if (family && this.#families[at]?.add(given[at] ?? [], family, times)) hasBegun = true;
    }
    this.#readMs = uptimeMs;
    this.#lastBeganMs = beganMs;
    this.#sinceMs ??= beganMs;
    if (isCaughtUp) this.#caughtUpMs = beganMs;
    if (hasBegun) this.#onBegun?.();
    return lost;
  }

  /** The start of the first day that is still to be read; infinite where there is none. Unix time. */
  get #pendingMs(): number {
    const pending = [...this.#untold].filter(([, tries]) => tries < mostTries);
    return pending.reduce((first, [startMs]) => Math.min(first, startMs), Number.POSITIVE_INFINITY);
  }

  /** Takes over which days a poll was not told. Returns those that are lost from now on. */
  #take(untold: readonly UntoldDay[], beganMs: number): readonly UntoldDay[] {
    const before = this.#untold;
    const after = new Map<number, number>();
    const lost: UntoldDay[] = [];
    for (const day of untold) {
      const { startMs, how } = day;
      const tried = (before.get(startMs) ?? 0) + Number(how !== 'not_asked');
      const isTooOld = startMs < beganMs - pendingMaxMs;
      const tries = how === 'refused' || isTooOld ? mostTries : tried;
      after.set(startMs, tries);
      if (tries >= mostTries) lost.push(day);
    }
    // A lost day is not asked for as long as it would be.
    for (const [startMs, tries] of before)
      if (tries >= mostTries && startMs >= beganMs - 2 * dayMs) after.set(startMs, tries);
    this.#untold = after;
    return lost;
  }

  /** What a state has of them; undefined before the first reading. */
  get state(): Pick<TargetState, 'last_read' | 'counting_since' | 'pending' | 'counters'> | undefined {
    if (this.#sinceMs === undefined) return undefined;
    const counters: Record<string, FamilyState> = {};
    for (const [at, index] of this.#indexes.entries()) {
      const state = this.#families[at]?.state;
      const name = catalogue[index]?.name;
      if (name !== undefined && state && (state.series.length > 0 || state.rest)) counters[name] = state;
    }
    const pending = Array.from(this.#untold, ([startMs, tries]): [number, number] => [startMs / 1000, tries]);
    return {
      last_read: this.#lastBeganMs / 1000,
      counting_since: this.#sinceMs / 1000,
      ...(pending.length > 0 && { pending }),
      counters,
    };
  }

  /** The rows of each family, by its index in the catalogue. */
  get rows(): readonly { readonly family: number; readonly samples: readonly Sample[] }[] {
    if (this.#isBehind) return [];
    return this.#indexes.map((family, at) => ({
      family,
      samples: this.#families[at]?.samplesOf(catalogue[family]?.bound) ?? [],
    }));
  }

  /** The start of the newest day of which anything was counted, in seconds since 1970. */
  get #newestSeconds(): number {
    return this.#families.reduce(
      (newest, family) => Math.max(newest, family.newestSeconds),
      Number.NEGATIVE_INFINITY,
    );
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
  /** The start of the first day that is still to be read, in seconds since 1970; infinite where there is none. */
  readonly pendingSeconds: number;
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

  get state(): FamilyState {
    const series = this.#held.map((one) => ({ labels: one.labels, ...one.state })).filter(isWritable);
    const rest = this.#rest?.state;
    return { series, ...(rest && isWritable(rest) && { rest }) };
  }

  /** Goes on with what was counted earlier. Series with other labels than the family has now are left out. */
  restore({ series, rest }: FamilyState, { labels, bound }: Pick<Family, 'labels' | 'bound'>): void {
    const known = series.filter((one) => Object.keys(one.labels).join() === labels.join());
    this.#held = known.map((one) => {
      const held = new HeldSeries(one.labels, [], 0);
      held.restore(one);
      return held;
    });
    if (!bound || !rest) return;
    this.#rest = new DayCounter([], 0);
    this.#rest.restore(rest);
  }

  samplesOf(bound: CounterBound | undefined): readonly Sample[] {
    const samples: Sample[] = this.#held.map(({ labels, value }) => ({ labels, value }));
    return bound && this.#rest ? [...samples, { labels: bound.rest, value: this.#rest.value }] : samples;
  }

  /** Returns whether anything has begun. */
  add(
    samples: readonly CounterSample[],
    { bound, comesAndGoes }: Pick<Family, 'bound' | 'comesAndGoes'>,
    times: ReadingTimes,
  ): boolean {
    const hadRest = this.#rest !== undefined;
    const { nowMs, uptimeMs, beforeMs, pendingSeconds } = times;
    // Of two samples with the same labels the later one counts, as on the page.
    const left = new Map(samples.map((sample) => [keyOf(sample.labels), sample]));
    for (const series of this.#held) {
      const key = keyOf(series.labels);
      const days = left.get(key)?.days;
      left.delete(key);
      if (days) series.add(days, nowMs, pendingSeconds);
      series.lackedSinceMs = days ? undefined : (series.lackedSinceMs ?? uptimeMs);
    }
    const remaining = comesAndGoes
      ? this.#held.filter(({ lackedSinceMs = uptimeMs }) => uptimeMs - lackedSinceMs <= keptMs)
      : this.#held;
    const begun = bound
      ? this.#addRest(left, bound, remaining.length, times)
      : Array.from(left.values(), (sample) => HeldSeries.begun(sample, nowMs, { lackedMs: beforeMs }));
    if (remaining.length < this.#held.length || begun.length > 0) this.#held = remaining.concat(begun);
    return begun.length > 0 || (this.#rest !== undefined && !hadRest);
  }

  /**
   * Values without a series of their own are first added to the rest, so that nothing is lost or counted twice. Then the
   * largest get one, which begins at 0, as long as there is room. Returns those series.
   */
  #addRest(
    left: ReadonlyMap<string, CounterSample>,
    { most, rest }: CounterBound,
    held: number,
    { nowMs, beforeMs, pendingSeconds }: ReadingTimes,
  ): readonly HeldSeries[] {
    if (left.size === 0) return [];
    const sum = sumByDay([...left.values()].flatMap(({ days }) => days));
    if (this.#rest) this.#rest.add(sum, nowMs, pendingSeconds);
    else this.#rest = new DayCounter(sum, nowMs, { lackedMs: beforeMs });
    const { fromSeconds } = this.#rest;
    const restKey = keyOf(rest);
    const largest = [...left]
      .filter(([key]) => key !== restKey)
      .map(([, sample]) => sample)
      .toSorted((a, b) => sizeOf(b.days) - sizeOf(a.days))
      .slice(0, Math.max(0, most - held));
    for (const { days } of largest) this.#rest.giveAway(days);
    return largest.map((sample) => HeldSeries.begun(sample, nowMs, { fromSeconds }));
  }
}

/** JSON has no other numbers. */
function isWritable({ value }: CountState): boolean {
  return Number.isFinite(value);
}

function sizeOf(days: readonly DayFigure[]): number {
  return days.reduce((sum, { value }) => sum + value, 0);
}

/** The text by which a family tells its series apart. */
function keyOf(labels: Labels = {}): string {
  return JSON.stringify(Object.values(labels));
}
