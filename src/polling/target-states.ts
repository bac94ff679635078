/**
 * The state of every target, and what the page shows of it: the values of its last reading until they are too old; and always
 * whether the last poll succeeded, when the last success was, and the counters.
 */
import { uptime } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { FamilySamples, Store } from '../exposition/store.ts';
import { catalogue, conditionOf, firstFamilyOf } from '../resources/catalogue.ts';
import type { Sample } from '../resources/resource.ts';
import { Counters } from './counters.ts';
import type { Target } from './target.ts';

export type RowStore = Pick<Store, 'set' | 'setValue' | 'delete' | 'leaveOut' | 'isOverfull'>;

/** The rows of one family, by its index in the catalogue. */
export type FamilyRows = FamilySamples;

export interface Failure {
  /** The value of the label `result`. */
  readonly result: string;
  readonly message: string;
  /** Unix time. */
  readonly atMs: number;
  /** When the first of these failures in a row was. Unix time. */
  readonly sinceMs?: number;
  /** Whether nothing of its API can be read with the key. */
  readonly isKeyRefused?: boolean;
}

export interface TargetStatus {
  readonly target: Target;
  /** pending: not polled yet; absent: a complete listing lacks it. */
  readonly state: 'pending' | 'ok' | 'failing' | 'absent';
  /** Whether no poll succeeded within `stale_after`. Then its values are not on the page. */
  readonly stale: boolean;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  /** The state that the API reports, while the values are on the page. */
  readonly condition?: string | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface TargetState extends Mutable<TargetStatus> {
  /** Whether a reading is on the page, or would be but for the cap on series. */
  hasValues: boolean;
  /** By the machine's uptime: when it last succeeded, or was added. */
  freshMs: number;
  counters: Counters | undefined;
}

interface Counts {
  targets: number;
  stale: number;
}

/** What stays on the page of every polled target. */
function lastingRowsOf({ target, state, lastSuccessMs, counters }: TargetState): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const up = { family: first, samples: [{ value: state === 'ok' ? 1 : 0 }] };
  if (lastSuccessMs === undefined) return [up];
  return [up, { family: first + 1, samples: [{ value: lastSuccessMs / 1000 }] }, ...(counters?.rows ?? [])];
}

/** Receives the API field of a sample whose value is not finite. */
type OnNotFinite = (field: string) => void;

function isFiniteSample({ value }: Sample): boolean {
  return Number.isFinite(value);
}

/** The rows of a reading, without the counters. Samples without a finite number are left out. */
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

/** The machine is asked once a second, because that takes 10 µs, and `performance.now()` counts in between. */
let uptimeAheadMs = 0;
let uptimeAskedMs = Number.NEGATIVE_INFINITY;

function machineUptimeMs(): number {
  const nowMs = performance.now();
  if (nowMs - uptimeAskedMs > 1000) {
    uptimeAheadMs = uptime() * 1000 - nowMs;
    uptimeAskedMs = nowMs;
  }
  return nowMs + uptimeAheadMs;
}

export class TargetStates {
  readonly #store: RowStore;
  readonly #uptimeMs: () => number;
  readonly #states = new Map<string, TargetState>();
  readonly #counts = new Map<string, Counts>();
  /** Nothing becomes stale before, so most scrapes need not look. */
  #nextStaleMs = Number.POSITIVE_INFINITY;

  /** uptimeMs: a clock that never jumps, and goes on while the machine sleeps, as `performance.now()` does not. */
  constructor(store: RowStore, uptimeMs: () => number = machineUptimeMs) {
    this.#store = store;
    this.#uptimeMs = uptimeMs;
  }

  get size(): number {
    return this.#states.size;
  }

  add(target: Target): void {
    const known: TargetState = {
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
    this.#states.set(target.key, known);
    this.#countsOf(target.kind).targets++;
    this.#watch(known);
  }

  /** Replaces a target. With other settings its values are no longer right. */
  update(target: Target): void {
    const known = this.#states.get(target.key);
    if (!known) return;
    const before = known.target;
    known.target = target;
    if (!isDeepStrictEqual(before.settings, target.settings)) this.#showStateAlone(known);
    this.#watch(known);
  }

  /** Takes all series of the target off the page. */
  remove(key: string): void {
    const known = this.#states.get(key);
    if (!known) return;
    this.#store.delete(key);
    this.#states.delete(key);
    this.#setStale(known, false);
    this.#countsOf(known.target.kind).targets--;
  }

  /** atMs: Unix time. The reading is dropped if the target is gone or was replaced. */
  succeeded(
    target: Target,
    reading: unknown,
    durationSeconds: number,
    atMs: number,
    onNotFinite?: OnNotFinite,
  ): void {
    const known = this.#stateOf(target);
    if (!known) return;
    // First, because it may throw, and then the poll did not succeed.
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

  /** The values stay until they are stale. */
  failed(target: Target, failure: Failure, durationSeconds: number): void {
    const known = this.#stateOf(target);
    if (!known) return;
    known.state = 'failing';
    known.lastDurationSeconds = durationSeconds;
    known.lastFailure = failure;
    if (known.hasValues) this.#store.setValue(target.key, firstFamilyOf(target.kind), 0);
    else this.#showStateAlone(known);
  }

  /** A complete listing lacks the target: only `_up` 0 stays. */
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

  /** Takes values that are older than their `stale_after` off the page. Returns whose they were. */
  dropStale(): readonly TargetStatus[] {
    const dropped: TargetStatus[] = [];
    const uptimeMs = this.#uptimeMs();
    if (uptimeMs <= this.#nextStaleMs) return dropped;
    this.#nextStaleMs = Number.POSITIVE_INFINITY;
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

  /** Leaves out the targets that were added last, until there is room for the others. */
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

  counts(kind: string): Readonly<Counts> {
    return this.#countsOf(kind);
  }

  #countsOf(kind: string): Counts {
    const counts = this.#counts.get(kind) ?? { targets: 0, stale: 0 };
    this.#counts.set(kind, counts);
    return counts;
  }

  #setStale(known: TargetState, isStale: boolean): void {
    if (known.stale === isStale) return;
    known.stale = isStale;
    this.#countsOf(known.target.kind).stale += isStale ? 1 : -1;
  }

  #watch({ freshMs, target }: TargetState): void {
    this.#nextStaleMs = Math.min(this.#nextStaleMs, freshMs + target.staleAfterMs);
  }

  #stateOf(target: Target): TargetState | undefined {
    const known = this.#states.get(target.key);
    return known?.target === target ? known : undefined;
  }

  /** Takes the values off the page. What every target has stays. */
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
