/** The counters of a target: which series each family has, and what they have counted. */
import { type Moment, unixOf, uptimeOf } from '../clock.ts';
import { catalogue, counterFamiliesOf, queryOf } from '../resources/catalogue.ts';
import { sumByDay } from '../resources/charts.ts';
import { askedFor, daysIn, lateMs } from '../resources/queries.ts';
import type {
  CounterBound,
  CounterSample,
  DayFigure,
  Family,
  Labels,
  ReadContext,
  ReadPart,
  Sample,
  TargetContext,
  UntoldDay,
} from '../resources/resource.ts';
import { dayMs, daySeconds, type Range, startOfDay } from '../resources/times.ts';
import { type Begin, DayCounter } from './day-counter.ts';
import type { CountState, FamilyState, TargetState } from './state-form.ts';

/** How long a series of a label value that comes and goes may be missing before it is forgotten: a country may have no views for hours. */
const forgottenAfterMs = 2 * dayMs;

/** A day that began so short a time before the first reading counts from its start, also if that reading has nothing of it. */
const youngSeconds = lateMs / 1000;

/** How often an earlier day is asked for until it is lost; one that the API refuses is lost at once. */
const mostTries = 5;

/** Most targets have no untold days, and share this map: one for each would take much memory. */
const noDays: ReadonlyMap<number, number> = new Map();

class HeldSeries extends DayCounter {
  readonly labels: Labels;
  /** Since when readings have been without it, by the clock that never jumps. */
  missingSinceMs: number | undefined;

  constructor(labels: Labels, ...first: ConstructorParameters<typeof DayCounter>) {
    super(...first);
    this.labels = labels;
  }
}

/** When a reading of a target was. */
export interface ReadAt extends Moment {
  /** When its poll began. Default: now. Unix time. */
  readonly beganUnixMs?: number;
  /** When it was answered, by the clock of the API. Default: now. Unix time. */
  readonly sentAtMs?: number | undefined;
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
  /**
   * Whether the page may have had more before a restart than these have counted, since the state can be some minutes old. Nothing is
   * shown until the days that were counted last are read again.
   */
  #isBehind = false;
  /** Earlier days that were asked for and not told, by their start, in Unix time, and how often. */
  #untold = noDays;

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

  /** Those of a state. They are shown once the days are read again that were counted last: see `#isBehind`. */
  static restored(
    {
      kind,
      last_read,
      counting_since,
      counters,
      pending = [],
    }: Omit<TargetState, 'ids' | 'base_url' | 'account'>,
    { nowMs, uptimeMs }: Omit<ReadAt, 'beganUnixMs'>,
    onBegun?: () => void,
  ): Counters | undefined {
    const restored = Counters.of(kind, onBegun);
    if (!restored) return undefined;
    const lastReadMs = last_read * 1000;
    restored.#readMs = uptimeOf(lastReadMs, { nowMs, uptimeMs });
    restored.#lastBeganMs = lastReadMs;
    // The day before may have grown as well.
    restored.#caughtUpMs = startOfDay(last_read) * 1000 - 1;
    restored.#sinceMs = counting_since * 1000;
    restored.#isBehind = true;
    if (pending.length > 0)
      restored.#untold = new Map(pending.map(([startSeconds, tries]) => [startSeconds * 1000, tries]));
    for (const [at, index] of restored.#indexes.entries()) {
      const family = catalogue[index];
      const state = counters[family?.name ?? ''];
      if (family && state) restored.#families[at]?.restore(state, family, { nowMs, uptimeMs });
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
    parts: readonly ReadPart[],
    { nowMs, uptimeMs, beganUnixMs = nowMs, sentAtMs }: ReadAt,
    untold: readonly UntoldDay[] = [],
  ): readonly UntoldDay[] {
    const answeredSeconds = (sentAtMs ?? nowMs) / 1000;
    const today = startOfDay(answeredSeconds);
    const isFirst = this.#sinceMs === undefined;
    // What had just begun at the first reading counts from its start.
    const isYoung = isFirst && answeredSeconds - today < youngSeconds;
    const given = this.#indexes.map((index) => givenOf(catalogue[index], target, parts, { today, isYoung }));
    const query = queryOf(this.#kind);
    const { range, isCaughtUp } = askedFor(this.contextAt(beganUnixMs), query);
    // By the clock of the API: days that are still to come had nothing.
    const endMs = Math.min(startOfDay(range.toMs / 1000), today) * 1000;
    const blank = isFirst ? [] : this.#blankOf(parts, given, range, endMs);
    const lost = this.#take([...untold, ...blank], beganUnixMs);
    const pendingMs = this.#pendingMs;
    const newestMs = this.#newestSeconds * 1000;
    // While the clock is behind, the days that were counted before are not asked for; and they may still be pending.
    const isPending = pendingMs <= newestMs && pendingMs >= newestMs - dayMs;
    if (query.yesterday === undefined || (newestMs <= beganUnixMs && !isPending)) this.#isBehind = false;
    const beforeMs = this.#readMs === undefined ? undefined : unixOf(this.#readMs, { nowMs, uptimeMs });
    const lastSeconds = beforeMs === undefined ? today : startOfDay(beforeMs / 1000);
    // By the clock of the API, nothing that is older can be what came since. The clock of the machine may be wrong.
    const fromSeconds = isFirst && sentAtMs !== undefined ? today - daySeconds : undefined;
    const begin = { daySeconds: lastSeconds, fromSeconds };
    const times = { nowMs, uptimeMs, isFirst, begin, pendingSeconds: pendingMs / 1000 };
    let hasBegun = false;
    for (const [at, index] of this.#indexes.entries()) {
      const family = catalogue[index];
      const ofFamily = given[at];
      if (family && ofFamily && this.#families[at]?.add(ofFamily, family, times)) hasBegun = true;
    }
    this.#readMs = uptimeMs;
    this.#lastBeganMs = beganUnixMs;
    this.#sinceMs ??= beganUnixMs;
    if (isCaughtUp) this.#caughtUpMs = beganUnixMs;
    if (hasBegun) this.#onBegun?.();
    return lost;
  }

  /**
   * The earlier days of which an answer had nothing, while days are caught up: they are asked for once more. Otherwise nothing was counted
   * on them. endMs: where the earlier days end.
   */
  #blankOf(
    parts: readonly ReadPart[],
    given: readonly Given[],
    asked: Range,
    endMs: number,
  ): readonly UntoldDay[] {
    const isCatchingUp = this.#isBehind || daysIn(asked).length > 2;
    if (!isCatchingUp) return [];
    const told = new Set(given.flatMap((one) => [...one.told()]));
    const days = parts.flatMap(({ range }) =>
      daysIn(range ?? { fromMs: startOfDay(this.#lastBeganMs / 1000) * 1000, toMs: endMs }),
    );
    return days
      .filter(({ fromMs }) => fromMs < endMs && !told.has(fromMs / 1000) && !this.#untold.has(fromMs))
      .map(({ fromMs }) => ({ startMs: fromMs, how: 'blank' }));
  }

  /** The start of the first day that is still to be read; infinite where there is none. Unix time. */
  get #pendingMs(): number {
    const pending = [...this.#untold].filter(([, tries]) => tries < mostTries);
    return pending.reduce((first, [startMs]) => Math.min(first, startMs), Number.POSITIVE_INFINITY);
  }

  /** Takes over which days a poll was not told. Returns those that are lost from now on. */
  #take(untold: readonly UntoldDay[], beganUnixMs: number): readonly UntoldDay[] {
    const before = this.#untold;
    if (untold.length === 0 && before.size === 0) return [];
    const after = new Map<number, number>();
    const lost: UntoldDay[] = [];
    for (const day of untold) {
      const { startMs, how } = day;
      const tried = (before.get(startMs) ?? 0) + Number(how !== 'not_asked');
      const tries = how === 'refused' ? mostTries : how === 'blank' ? mostTries - 1 : tried;
      after.set(startMs, tries);
      if (tries >= mostTries) lost.push(day);
    }
    // It stays lost as long as a poll would ask for it.
    for (const [startMs, tries] of before)
      if (tries >= mostTries && startMs >= beganUnixMs - 2 * dayMs) after.set(startMs, tries);
    this.#untold = after.size > 0 ? after : noDays;
    return lost;
  }

  /** What a state has of them; undefined before the first reading. */
  stateAt({
    nowMs,
    uptimeMs,
  }: Pick<ReadAt, 'nowMs' | 'uptimeMs'>):
    | Pick<TargetState, 'last_read' | 'counting_since' | 'pending' | 'counters'>
    | undefined {
    if (this.#sinceMs === undefined) return undefined;
    const counters: Record<string, FamilyState> = {};
    for (const [at, index] of this.#indexes.entries()) {
      const state = this.#families[at]?.stateOf(nowMs - uptimeMs);
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
    let newest = Number.NEGATIVE_INFINITY;
    for (const family of this.#families) newest = Math.max(newest, family.newestSeconds);
    return newest;
  }
}

/** What a reading has of a family. */
interface Given {
  readonly samples: readonly CounterSample[];
  /** The start of the first day that it is about, in seconds since 1970. */
  readonly fromSeconds: number;
  /** The starts of the days of which it has all series, in seconds since 1970: one without a sample had 0. */
  readonly told: () => ReadonlySet<number>;
}

/**
 * today: the start of the day of the answer, in seconds since 1970. isYoung: whether that day had just begun: then it had nothing
 * before the reading, although the answer does not say so.
 */
function givenOf(
  family: Family | undefined,
  target: TargetContext,
  parts: readonly ReadPart[],
  { today, isYoung }: { readonly today: number; readonly isYoung: boolean },
): Given {
  const read = parts.map(({ reading, range }) => ({ samples: family?.days?.(reading, target) ?? [], range }));
  const [first] = read;
  let told: ReadonlySet<number> | undefined;
  return {
    samples: read.length === 1 && first ? first.samples : merged(read.flatMap(({ samples }) => samples)),
    fromSeconds: startOfDay(Math.min(today, ...read.map(({ range }) => (range?.fromMs ?? 0) / 1000))),
    told: () =>
      (told ??= new Set([...read.flatMap((part) => toldOf(part, today)), ...(isYoung ? [today] : [])])),
  };
}

/** One sample for each set of labels, with the days of all answers. */
function merged(samples: readonly CounterSample[]): readonly CounterSample[] {
  const byLabels = new Map<string, CounterSample>();
  for (const sample of samples) {
    const key = keyOf(sample.labels);
    const before = byLabels.get(key);
    byLabels.set(key, before ? { ...sample, days: [...before.days, ...sample.days] } : sample);
  }
  return [...byLabels.values()];
}

/** The days of which an answer has all series. */
function toldOf(
  { samples, range }: { readonly samples: readonly CounterSample[]; readonly range?: Range | undefined },
  today: number,
): readonly number[] {
  const asked = range ? daysIn(range).map(({ fromMs }) => fromMs / 1000) : [today];
  const there = new Set<number>();
  for (const { days } of samples) for (const { startSeconds } of days) there.add(startSeconds);
  // An answer without any day says that nothing was counted on those that were asked for. If that was one day, all of it is about that.
  const isOneDay = range !== undefined && asked.length === 1;
  return samples.length > 0 && (there.size === 0 || isOneDay) ? asked : [...there];
}

/** When a reading was. */
interface ReadingTimes {
  /** Unix time. */
  readonly nowMs: number;
  /** By the clock that never jumps. */
  readonly uptimeMs: number;
  readonly isFirst: boolean;
  /** When what begins with this reading began: on the day of the reading before; on the day of this one, if it is the first. */
  readonly begin: Begin;
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
  /** The start of the day on which the youngest of them began, in seconds since 1970. Of later days it does not matter what was told. */
  #youngestSeconds = Number.NEGATIVE_INFINITY;

  get newestSeconds(): number {
    let newest = this.#rest?.newestSeconds ?? Number.NEGATIVE_INFINITY;
    for (const series of this.#held) newest = Math.max(newest, series.newestSeconds);
    return newest;
  }

  /** wallMs: how far the wall clock is ahead of the clock that never jumps. */
  stateOf(wallMs: number): FamilyState {
    const series = this.#held
      .map(({ labels, missingSinceMs, state }) => ({
        labels,
        ...state,
        ...(missingSinceMs !== undefined && { missing_since: (missingSinceMs + wallMs) / 1000 }),
      }))
      .filter(isWritable);
    const rest = this.#rest?.state;
    return { series, ...(rest && isWritable(rest) && { rest }) };
  }

  /** Goes on with what was counted earlier. Series with other labels than the family has now are left out. at: now. */
  restore(
    { series, rest }: FamilyState,
    { labels, bound }: Pick<Family, 'labels' | 'bound'>,
    at: Pick<ReadAt, 'nowMs' | 'uptimeMs'>,
  ): void {
    const known = series.filter((one) => Object.keys(one.labels).join() === labels.join());
    this.#held = known.map((one) => {
      const held = new HeldSeries(one.labels, [], { daySeconds: 0 });
      held.restore(one);
      if (one.missing_since !== undefined) held.missingSinceMs = uptimeOf(one.missing_since * 1000, at);
      return held;
    });
    for (const { begun } of [...known, ...(rest ? [rest] : [])])
      this.#youngestSeconds = Math.max(begun ?? Number.NEGATIVE_INFINITY, this.#youngestSeconds);
    if (!bound || !rest) return;
    this.#rest = new DayCounter([], { daySeconds: 0 });
    this.#rest.restore(rest);
  }

  samplesOf(bound: CounterBound | undefined): readonly Sample[] {
    const samples: Sample[] = [];
    for (const { labels, value } of this.#held) samples.push({ labels, value });
    if (bound && this.#rest) samples.push({ labels: bound.rest, value: this.#rest.value });
    return samples;
  }

  /** Returns whether anything has begun. */
  add(
    { samples, fromSeconds, told }: Given,
    { bound, comesAndGoes }: Pick<Family, 'bound' | 'comesAndGoes'>,
    times: ReadingTimes,
  ): boolean {
    const hadRest = this.#rest !== undefined;
    const { nowMs, uptimeMs, pendingSeconds } = times;
    const isNew = this.#held.length === 0 && !this.#rest;
    const mayBeYoung = isNew || fromSeconds <= this.#youngestSeconds;
    const young = mayBeYoung ? [...told()].filter((at) => isNew || at <= this.#youngestSeconds) : [];
    const left = new Map<string, CounterSample>();
    for (const sample of samples) left.set(keyOf(sample.labels), sample);
    for (const series of this.#held) {
      const key = keyOf(series.labels);
      const days = left.get(key)?.days;
      left.delete(key);
      // Where all labels are told, one that is missing had nothing.
      if (days || (bound && young.length > 0))
        series.add(withNothing(days, bound || days?.length === 0 ? young : []), nowMs, pendingSeconds);
      series.missingSinceMs = days ? undefined : (series.missingSinceMs ?? uptimeMs);
    }
    const remaining = comesAndGoes
      ? this.#held.filter(({ missingSinceMs = uptimeMs }) => uptimeMs - missingSinceMs <= forgottenAfterMs)
      : this.#held;
    const begun = bound
      ? this.#addRest(left, bound, remaining.length, young, times)
      : Array.from(left.values(), ({ labels, days }) => {
          const isTold = times.isFirst || days.length === 0;
          return begin(times, withNothing(days, isTold ? young : []), (...first) =>
            heldSeries(labels, ...first),
          );
        });
    if (remaining.length < this.#held.length || begun.length > 0) this.#held = remaining.concat(begun);
    const hasBegun = begun.length > 0 || (this.#rest !== undefined && !hadRest);
    if (hasBegun) this.#youngestSeconds = Math.max(times.begin.daySeconds, startOfDay(nowMs / 1000));
    return hasBegun;
  }

  /**
   * Values without a series of their own are first added to the rest, so that nothing is lost or counted twice. Then the
   * largest get one, which begins at 0, as long as there is room. Returns those series.
   */
  #addRest(
    left: ReadonlyMap<string, CounterSample>,
    { most, rest }: CounterBound,
    held: number,
    young: readonly number[],
    times: ReadingTimes,
  ): readonly HeldSeries[] {
    if (left.size === 0) return [];
    const { nowMs, pendingSeconds } = times;
    const sum = withNothing(sumByDay([...left.values()].flatMap(({ days }) => days)), young);
    if (this.#rest) this.#rest.add(sum, nowMs, pendingSeconds);
    else this.#rest = begin(times, sum, (...first) => new DayCounter(...first));
    const { begin: begun } = this.#rest;
    const restKey = keyOf(rest);
    const largest = [...left]
      .filter(([key]) => key !== restKey)
      .map(([, sample]) => sample)
      .toSorted((a, b) => sizeOf(b.days) - sizeOf(a.days))
      .slice(0, Math.max(0, most - held));
    for (const { days } of largest) this.#rest.giveAway(days);
    return largest.map(({ labels, days }) => heldSeries(labels, withNothing(days, young), begun));
  }
}

function heldSeries(labels: Labels = {}, ...first: ConstructorParameters<typeof DayCounter>): HeldSeries {
  // The texts of a reading may be slices that keep the whole answer in memory.
  return new HeldSeries(structuredClone(labels), ...first);
}

/** A counter that begins with a reading. What came after the day of the reading before, which was without it, is a gain. */
function begin<Counter extends DayCounter>(
  { isFirst, begin: at, nowMs, pendingSeconds }: ReadingTimes,
  days: readonly DayFigure[],
  create: (...first: ConstructorParameters<typeof DayCounter>) => Counter,
): Counter {
  if (isFirst) return create(days, at);
  const begun = create(
    days.filter(({ startSeconds }) => startSeconds <= at.daySeconds),
    at,
  );
  begun.add(days, nowMs, pendingSeconds);
  return begun;
}

/** The days, with 0 for each of these that they are without. */
function withNothing(days: readonly DayFigure[] = [], told: readonly number[] = []): readonly DayFigure[] {
  if (told.length === 0) return days;
  const there = new Set<number>();
  for (const { startSeconds } of days) there.add(startSeconds);
  const all = [...days];
  for (const startSeconds of told) if (!there.has(startSeconds)) all.push({ startSeconds, value: 0 });
  return all;
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
