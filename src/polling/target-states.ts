/**
 * The state of every target, and what of it is on the page: the rows of a good reading, until they are too old; whether
 * the last poll succeeded, when the last success was, and the counters, always.
 */
import { catalogue, conditionOf, firstFamilyOf } from '../resources/catalogue.ts';
import type { Family, Ids, Sample } from '../resources/resource.ts';
import { Counters } from './counters.ts';
import type { Target } from './plan.ts';

/** The rows of one family, by its index in the catalogue. */
export interface FamilyRows {
  readonly family: number;
  readonly samples: readonly Sample[];
}

/** Where rows are kept: all of a target together, so that none is ever shown in part. */
export interface RowStore {
  replace(target: string, kind: string, labels: Ids, rows: readonly FamilyRows[]): void;
  /** Sets a target's value in a family, where it has one. */
  set(target: string, family: number, value: number): void;
  remove(target: string): void;
}

export interface Failure {
  /** The value of the label `result`. */
  readonly result: string;
  readonly message: string;
  /** Unix time. */
  readonly atMs: number;
}

export interface TargetStatus {
  readonly target: Target;
  /** pending: not polled yet; absent: a complete listing lacks it. */
  readonly state: 'pending' | 'ok' | 'failing' | 'absent';
  /** Whether its values left the page, or never came, for want of a good poll within `stale_after`. */
  readonly stale: boolean;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  /** The state that the API reports of it, while its values are on the page. */
  readonly condition?: string | undefined;
}

/** A moment on both clocks. */
interface Moment {
  /** Unix time: it jumps when it is set, and goes on while the machine sleeps. */
  readonly wallMs: number;
  /** It never jumps, and may rest while the machine sleeps. */
  readonly steadyMs: number;
}

interface TargetState {
  target: Target;
  state: TargetStatus['state'];
  stale: boolean;
  /** Whether a reading is on the page, or would be but for the cap on series. */
  hasValues: boolean;
  /** From when on its age counts: the last success, or when it was first wanted. */
  freshSince: Moment;
  lastSuccessMs: number | undefined;
  lastDurationSeconds: number | undefined;
  lastFailure: Failure | undefined;
  counters: Counters | undefined;
  condition: string | undefined;
}

interface Counts {
  targets: number;
  stale: number;
}

const never: Moment = { wallMs: Number.POSITIVE_INFINITY, steadyMs: Number.POSITIVE_INFINITY };

/** The rows that every target has that was polled: whether it answers, when it last did, and what it has counted. */
function lastingRowsOf({ target, state, lastSuccessMs, counters }: TargetState): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const up = { family: first, samples: [{ value: state === 'ok' ? 1 : 0 }] };
  if (lastSuccessMs === undefined) return [up];
  return [up, { family: first + 1, samples: [{ value: lastSuccessMs / 1000 }] }, ...(counters?.rows ?? [])];
}

/** The API field that a family comes from, as its help says. */
function fieldOf(family: Pick<Family, 'name' | 'help'> | undefined): string {
  return /API fields? (\w+)/.exec(family?.help ?? '')?.[1] ?? family?.name ?? '';
}

/** Told of the API field of a sample whose value is no finite number. */
type OnNotFinite = (field: string) => void;

/** The rows of a reading, without the counters. What is no finite number is nothing. */
export function rowsOf(
  target: Target,
  reading: unknown,
  onNotFinite: OnNotFinite = () => undefined,
): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const rows: FamilyRows[] = [];
  for (let family = first; catalogue[family]?.kind === target.kind; family++) {
    const given = catalogue[family]?.samples(reading, target);
    const samples = (typeof given === 'number' ? [{ value: given }] : (given ?? [])).filter(({ value }) => {
      if (!Number.isFinite(value)) onNotFinite(fieldOf(catalogue[family]));
      return Number.isFinite(value);
    });
    if (samples.length > 0) rows.push({ family, samples });
  }
  return rows;
}

function momentAt(wallMs: number): Moment {
  return { wallMs, steadyMs: performance.now() };
}

/** The greater age of the two: a clock that was set back must not make an old value fresh. */
function ageMs(since: Moment, now: Moment): number {
  return Math.max(now.wallMs - since.wallMs, now.steadyMs - since.steadyMs);
}

export class TargetStates {
  readonly #store: RowStore;
  readonly #now: () => number;
  readonly #states = new Map<string, TargetState>();
  readonly #counts = new Map<string, Counts>();
  /** Up to then nothing more becomes stale: most scrapes and sweeps have nothing to look through. */
  #staleAfter: Moment = never;

  /** now: Unix time. */
  constructor(store: RowStore, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  /** How many targets there are. */
  get size(): number {
    return this.#states.size;
  }

  /** A target that is wanted from now on. */
  add(target: Target): void {
    const known = this.#blank(target);
    this.#states.set(target.key, known);
    this.#countsOf(target.kind).targets++;
    this.#watch(known);
  }

  /** What is wanted of a known target has changed: of another address nothing is known, by other settings values differ. */
  update(target: Target): void {
    const known = this.#states.get(target.key);
    if (!known) return;
    const before = known.target;
    if (before.baseUrl !== target.baseUrl) {
      this.#store.remove(target.key);
      this.#setStale(known, false);
      Object.assign(known, this.#blank(target));
    }
    known.target = target;
    if (JSON.stringify(before.settings) !== JSON.stringify(target.settings)) this.#showStateAlone(known);
    this.#watch(known);
  }

  /** A target that is wanted no more leaves the page at once, with all its series. */
  remove(key: string): void {
    const known = this.#states.get(key);
    if (!known) return;
    this.#store.remove(key);
    this.#states.delete(key);
    this.#setStale(known, false);
    this.#countsOf(known.target.kind).targets--;
  }

  /** A good poll. atMs: Unix time. Of a target that is wanted no more, or otherwise, the reading is not kept. */
  succeeded(
    target: Target,
    reading: unknown,
    durationSeconds: number,
    atMs: number,
    onNotFinite?: OnNotFinite,
  ): void {
    const known = this.#stateOf(target);
    if (!known) return;
    // First of all: a reading that cannot become rows is no success.
    const rows = rowsOf(target, reading, onNotFinite);
    known.counters?.add(target, reading, atMs);
    known.state = 'ok';
    this.#setStale(known, false);
    known.freshSince = momentAt(atMs);
    this.#watch(known);
    known.lastSuccessMs = atMs;
    known.lastDurationSeconds = durationSeconds;
    known.lastFailure = undefined;
    known.hasValues = true;
    known.condition = conditionOf(target.kind, reading);
    this.#store.replace(target.key, target.kind, target.ids, [...lastingRowsOf(known), ...rows]);
  }

  /** A poll that failed: the values stay until they are stale. */
  failed(target: Target, failure: Failure, durationSeconds: number): void {
    const known = this.#stateOf(target);
    if (!known) return;
    known.state = 'failing';
    known.lastDurationSeconds = durationSeconds;
    known.lastFailure = failure;
    if (known.hasValues) this.#store.set(target.key, firstFamilyOf(target.kind), 0);
    else this.#showStateAlone(known);
  }

  /** A complete listing lacks the target: only `_up` 0 stays of it. */
  absent(target: Target, failure: Failure, durationSeconds: number): void {
    const known = this.#stateOf(target);
    if (!known) return;
    known.state = 'absent';
    known.counters = Counters.of(target.kind);
    known.lastSuccessMs = undefined;
    known.lastDurationSeconds = durationSeconds;
    known.lastFailure = failure;
    this.#showStateAlone(known);
  }

  /** Takes the values off the page that are older than their `stale_after`. Returns whose they were. nowMs: Unix time. */
  dropStale(nowMs: number): readonly TargetStatus[] {
    const dropped: TargetStatus[] = [];
    const now = momentAt(nowMs);
    if (now.wallMs <= this.#staleAfter.wallMs && now.steadyMs <= this.#staleAfter.steadyMs) return dropped;
    this.#staleAfter = never;
    for (const known of this.#states.values()) {
      if (known.stale) continue;
      if (ageMs(known.freshSince, now) <= known.target.staleAfterMs) {
        this.#watch(known);
        continue;
      }
      this.#setStale(known, true);
      this.#showStateAlone(known);
      if (known.lastSuccessMs !== undefined) dropped.push(known);
    }
    return dropped;
  }

  status(key: string): TargetStatus | undefined {
    return this.#states.get(key);
  }

  /** Every target in the order of the configuration. */
  statuses(): Iterable<TargetStatus> {
    return this.#states.values();
  }

  /** How many targets a kind has, and how many of them are stale. */
  counts(kind: string): Readonly<Counts> {
    return this.#countsOf(kind);
  }

  #countsOf(kind: string): Counts {
    const counts = this.#counts.get(kind) ?? { targets: 0, stale: 0 };
    this.#counts.set(kind, counts);
    return counts;
  }

  #blank(target: Target): TargetState {
    return {
      target,
      state: 'pending',
      stale: false,
      hasValues: false,
      freshSince: momentAt(this.#now()),
      lastSuccessMs: undefined,
      lastDurationSeconds: undefined,
      lastFailure: undefined,
      counters: Counters.of(target.kind),
      condition: undefined,
    };
  }

  #setStale(known: TargetState, isStale: boolean): void {
    if (known.stale === isStale) return;
    known.stale = isStale;
    this.#countsOf(known.target.kind).stale += isStale ? 1 : -1;
  }

  /** Takes into account when the target's values become stale. */
  #watch({ freshSince, target: { staleAfterMs } }: TargetState): void {
    const { wallMs, steadyMs } = this.#staleAfter;
    this.#staleAfter = {
      wallMs: Math.min(wallMs, freshSince.wallMs + staleAfterMs),
      steadyMs: Math.min(steadyMs, freshSince.steadyMs + staleAfterMs),
    };
  }

  #stateOf(target: Target): TargetState | undefined {
    const known = this.#states.get(target.key);
    return known?.target === target ? known : undefined;
  }

  /** Of a target that was polled: takes its values off the page, if there are any. */
  #showStateAlone(known: TargetState): void {
    const { target, state } = known;
    known.hasValues = false;
    known.condition = undefined;
    if (state !== 'pending') this.#store.replace(target.key, target.kind, target.ids, lastingRowsOf(known));
  }
}
