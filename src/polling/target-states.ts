/**
 * The state of every target, and what of it is on the page: the rows of a good reading, until they are too old; whether
 * the last poll succeeded, when the last success was, and the counters, always.
 */
import { uptime } from 'node:os';
import { catalogue, conditionOf, firstFamilyOf } from '../resources/catalogue.ts';
import type { Ids, Sample } from '../resources/resource.ts';
import { Counters } from './counters.ts';
import type { Target } from './target.ts';

/** The rows of one family, by its index in the catalogue. */
export interface FamilyRows {
  readonly family: number;
  readonly samples: readonly Sample[];
}

/** What a target has on the page, by the target's key: all together, so that none is ever shown in part. */
export interface RowStore {
  /** Replaces all that a target has. */
  set(key: string, kind: string, ids: Ids, rows: readonly FamilyRows[]): void;
  /** Sets the value in a family, where there is one. */
  setValue(key: string, family: number, value: number): void;
  delete(key: string): void;
  /** Whether there are more rows than there may be. */
  readonly isOverfull: boolean;
  /** Takes a target off the page, because there is no room. */
  leaveOut(key: string): void;
}

export interface Failure {
  /** The value of the label `result`. */
  readonly result: string;
  readonly message: string;
  /** Unix time. */
  readonly atMs: number;
  /** When it began to fail, of failures in a row. Unix time. */
  readonly sinceMs?: number;
  /** Whether nothing of its API can be read with the key. */
  readonly isKeyRefused?: boolean;
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

interface TargetState {
  target: Target;
  state: TargetStatus['state'];
  stale: boolean;
  /** Whether a reading is on the page, or would be but for the cap on series. */
  hasValues: boolean;
  /** From when on its age counts: the last success, or when it was first wanted. By the machine's uptime. */
  freshMs: number;
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

/** The rows that every target has that was polled: whether it answers, when it last did, and what it has counted. */
function lastingRowsOf({ target, state, lastSuccessMs, counters }: TargetState): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const up = { family: first, samples: [{ value: state === 'ok' ? 1 : 0 }] };
  if (lastSuccessMs === undefined) return [up];
  return [up, { family: first + 1, samples: [{ value: lastSuccessMs / 1000 }] }, ...(counters?.rows ?? [])];
}

/** Told of the API field of a sample whose value is no finite number. */
type OnNotFinite = (field: string) => void;

function isFiniteSample({ value }: Sample): boolean {
  return Number.isFinite(value);
}

/** The rows of a reading, without the counters. Anything but a finite number counts as nothing. */
export function rowsOf(
  target: Target,
  reading: unknown,
  onNotFinite: OnNotFinite = () => undefined,
): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const rows: FamilyRows[] = [];
  for (let family = first; ; family++) {
    const declared = catalogue[family];
    if (declared?.kind !== target.kind) return rows;
    const all = declared.samples(reading, target);
    const samples = all.every(isFiniteSample) ? all : all.filter(isFiniteSample);
    for (let left = all.length - samples.length; left > 0; left--)
      onNotFinite(declared.fields[0] ?? declared.name);
    if (samples.length > 0) rows.push({ family, samples });
  }
}

export class TargetStates {
  readonly #store: RowStore;
  readonly #uptimeMs: () => number;
  readonly #states = new Map<string, TargetState>();
  readonly #counts = new Map<string, Counts>();
  /** Up to then nothing more becomes stale: most scrapes and sweeps have nothing to look through. */
  #staleAfterMs = Number.POSITIVE_INFINITY;

  /**
   * uptimeMs: by which age is measured. It must never jump, as the wall clock does when it is set, and go on while the machine
   * sleeps, as `performance.now()` does not.
   */
  constructor(store: RowStore, uptimeMs: () => number = () => uptime() * 1000) {
    this.#store = store;
    this.#uptimeMs = uptimeMs;
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
      this.#store.delete(target.key);
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
    this.#store.delete(key);
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
    const uptimeMs = this.#uptimeMs();
    known.counters?.add(target, reading, atMs, uptimeMs);
    known.state = 'ok';
    this.#setStale(known, false);
    known.freshMs = uptimeMs;
    this.#watch(known);
    known.lastSuccessMs = atMs;
    known.lastDurationSeconds = durationSeconds;
    known.lastFailure = undefined;
    known.hasValues = true;
    known.condition = conditionOf(target.kind, reading);
    this.#show(target, [...lastingRowsOf(known), ...rows]);
  }

  /** A poll that failed: the values stay until they are stale. */
  failed(target: Target, failure: Failure, durationSeconds: number): void {
    const known = this.#stateOf(target);
    if (!known) return;
    known.state = 'failing';
    known.lastDurationSeconds = durationSeconds;
    known.lastFailure = failure;
    if (known.hasValues) this.#store.setValue(target.key, firstFamilyOf(target.kind), 0);
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

  /** Takes the values off the page that are older than their `stale_after`. Returns whose they were. */
  dropStale(): readonly TargetStatus[] {
    const dropped: TargetStatus[] = [];
    const uptimeMs = this.#uptimeMs();
    if (uptimeMs <= this.#staleAfterMs) return dropped;
    this.#staleAfterMs = Number.POSITIVE_INFINITY;
    for (const known of this.#states.values()) {
      if (known.stale) continue;
      if (uptimeMs - known.freshMs <= known.target.staleAfterMs) {
        this.#watch(known);
        continue;
      }
      this.#setStale(known, true);
      this.#showStateAlone(known);
      if (known.lastSuccessMs !== undefined) dropped.push(known);
    }
    return dropped;
  }

  /** Leaves targets out, from the one added last on, until there is room for the others. */
  makeRoom(): void {
    for (const key of [...this.#states.keys()].reverse()) {
      if (!this.#store.isOverfull) return;
      this.#store.leaveOut(key);
    }
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
      freshMs: this.#uptimeMs(),
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
  #watch({ freshMs, target: { staleAfterMs } }: TargetState): void {
    this.#staleAfterMs = Math.min(this.#staleAfterMs, freshMs + staleAfterMs);
  }

  #stateOf(target: Target): TargetState | undefined {
    const known = this.#states.get(target.key);
    return known?.target === target ? known : undefined;
  }

  /** Of a target that was polled: takes its values off the page, if there are any. */
  #showStateAlone(known: TargetState): void {
    const { state, target } = known;
    known.hasValues = false;
    known.condition = undefined;
    if (state !== 'pending') this.#show(target, lastingRowsOf(known));
  }

  #show({ key, kind, ids }: Target, rows: readonly FamilyRows[]): void {
    this.#store.set(key, kind, ids, rows);
  }
}
