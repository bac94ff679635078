/**
 * The record of every target, and what the page shows of it: the values of its last reading until they are stale; and always
 * whether its poll succeeds, when the last success was, and the counters.
 */
import { uptime } from 'node:os';
import type { FamilySamples, Store } from '../exposition/store.ts';
import { catalogue, conditionOf, firstFamilyOf, keptOf } from '../resources/catalogue.ts';
import type { Family, Sample } from '../resources/resource.ts';
import { Counters } from './counters.ts';
import { copyOf } from './label-sets.ts';
import { type Failure, nextFailure, type PollRecord } from './loop.ts';
import type { Target } from './target.ts';

export type RowStore = Pick<Store, 'set' | 'setFamily' | 'delete' | 'leaveOut' | 'isOverfull'>;

/** The rows of one family, by its index in the catalogue. */
export type FamilyRows = FamilySamples;

/** pending: not polled yet; stale: no poll fails, but none was carried out in time; absent: a complete listing lacks it. */
export type TargetStateName = 'pending' | 'ok' | 'stale' | 'failing' | 'absent';

export interface TargetStatus {
  readonly target: Target;
  readonly state: TargetStateName;
  /** Whether no poll succeeded within `stale_after`. Then its values are not on the page. */
  readonly stale: boolean;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  /** When the poll that last succeeded began. Unix time. */
  readonly lastBeganMs?: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  /** The state that the API reports, while the values are on the page. */
  readonly condition?: string | undefined;
  /** What its kind keeps of its last reading, see `Resource`; undefined before the first, and once a complete listing lacks it. */
  readonly kept?: unknown;
}

/** Where the record of a target's poll is: that of its own, or that of its listing. */
export interface Polled {
  readonly record: PollRecord;
}

interface KindCounts {
  readonly targets: number;
  readonly stale: number;
}

class TargetRecord implements TargetStatus {
  target: Target;
  stale = false;
  lastSuccessMs: number | undefined;
  lastBeganMs: number | undefined;
  condition: string | undefined;
  kept: unknown;
  /** Its own failure although its listing was read: it is absent, or its reading cannot be used. */
  failure: Failure | undefined;
  /** Whether a reading is on the page, or would be but for the cap on series. */
  hasValues = false;
  /** By the machine's uptime: when it last succeeded, or was added. */
  freshMs: number;
  counters: Counters | undefined;
  /** What is kept of its reading: the `_info` rows without the names that do not come from it. */
  infos: readonly FamilyRows[] = [];
  polled: Polled;

  constructor(target: Target, polled: Polled, freshMs: number) {
    this.target = target;
    this.polled = polled;
    this.freshMs = freshMs;
    this.counters = Counters.of(target.kind);
  }

  get lastFailure(): Failure | undefined {
    return this.polled.record.lastFailure ?? this.failure;
  }

  get lastDurationSeconds(): number | undefined {
    return this.polled.record.lastDurationSeconds;
  }

  get state(): TargetStateName {
    if (this.polled.record.lastFailure) return 'failing';
    if (this.failure) return this.failure.result === 'not_found' ? 'absent' : 'failing';
    if (this.lastSuccessMs === undefined) return 'pending';
    return this.stale ? 'stale' : 'ok';
  }
}

/** What stays on the page of every polled target. */
function lastingRowsOf({ target, lastSuccessMs, counters }: TargetRecord, up: number): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const upRow = { family: first, samples: [{ value: up }] };
  if (lastSuccessMs === undefined) return [upRow];
  return [
    upRow,
    { family: first + 1, samples: [{ value: lastSuccessMs / 1000 }] },
    ...(counters?.rows ?? []),
  ];
}

/** Receives the API field of a sample whose value is not finite. */
type OnNotFinite = (field: string) => void;

function isFiniteSample({ value }: Sample): boolean {
  return Number.isFinite(value);
}

/** Gives the samples of an `_info` their names. Without a single text beyond the id of a part there is no series. */
function withNames(
  { named }: Family,
  samples: readonly Sample[],
  { name, parts = [] }: Pick<Target, 'name' | 'parts'>,
): readonly Sample[] {
  if (named === undefined) return samples;
  return samples.flatMap(({ labels = {}, value }) => {
    const isPart = ({ ids }: { ids: Readonly<Record<string, string>> }) =>
      Object.entries(ids).some(([label, id], at, all) => at === all.length - 1 && labels[label] === id);
    const given = named === 'parts' ? parts.find(isPart)?.name : name;
    const after = given ? { ...labels, name: given } : labels;
    const isTold = named === 'parts' ? after['name'] !== '' : Object.values(after).some(Boolean);
    return isTold ? [{ labels: after, value }] : [];
  });
}

/**
 * The rows of a reading, without the counters. Samples without a finite number are left out.
 *
 * @param infos receives the samples whose names can change without another reading
 */
export function rowsOf(
  target: Target,
  reading: unknown,
  onNotFinite: OnNotFinite = () => undefined,
  infos: FamilyRows[] = [],
): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const rows: FamilyRows[] = [];
  for (let family = first; ; family++) {
    const declared = catalogue[family];
    if (declared?.kind !== target.kind) return rows;
    const all = declared.samples(reading, target);
    const finite = all.every(isFiniteSample) ? all : all.filter(isFiniteSample);
    for (let left = all.length - finite.length; left > 0; left--)
      onNotFinite(declared.fields[0] ?? declared.name);
    if (declared.named !== undefined && finite.length > 0)
      infos.push({
        family,
        samples: finite.map(({ labels, value }) => ({ labels: copyOf(labels).labels, value })),
      });
    const samples = withNames(declared, finite, target);
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
  readonly #records = new Map<string, TargetRecord>();
  /** No target becomes stale before that, by the machine's uptime. */
  #nextStaleMs = Number.POSITIVE_INFINITY;
  /** Derived, and forgotten when something changes: each scrape asks. */
  #counts: ReadonlyMap<string, KindCounts> | undefined;

  /** uptimeMs: a clock that never jumps, and goes on while the machine sleeps, as `performance.now()` does not. */
  constructor(store: RowStore, uptimeMs: () => number = machineUptimeMs) {
    this.#store = store;
    this.#uptimeMs = uptimeMs;
  }

  add(target: Target, polled: Polled): void {
    const known = new TargetRecord(target, polled, this.#uptimeMs());
    this.#records.set(target.key, known);
    this.#counts = undefined;
    this.#expect(known);
    if (known.state === 'failing') this.#showStateAlone(known);
  }

  /** Replaces a target. With other settings its values are no longer right; another name needs no reading. */
  update(target: Target, polled: Polled): void {
    const known = this.#records.get(target.key);
    if (!known) return;
    const { settings, name, parts } = known.target;
    known.target = target;
    known.polled = polled;
    this.#expect(known);
    if (settings !== target.settings) this.#showStateAlone(known);
    else if (known.hasValues && (name !== target.name || parts !== target.parts)) this.#showNames(known);
  }

  /** Takes all series of the target off the page. */
  remove(key: string): void {
    if (!this.#records.delete(key)) return;
    this.#store.delete(key);
    this.#counts = undefined;
  }

  /**
   * Throws if the reading cannot be shown; then nothing has changed.
   *
   * @param atMs when the poll ended, as Unix time
   * @param beganMs when it began
   */
  succeeded(
    key: string,
    reading: unknown,
    atMs: number,
    onNotFinite?: OnNotFinite,
    beganMs: number = atMs,
  ): void {
    const known = this.#records.get(key);
    if (!known) return;
    const { target } = known;
    const infos: FamilyRows[] = [];
    const rows = rowsOf(target, reading, onNotFinite, infos);
    const condition = conditionOf(target.kind, reading);
    const kept = structuredClone(keptOf(target.kind, reading, known.kept));
    const uptimeMs = this.#uptimeMs();
    known.counters?.add(target, reading, atMs, uptimeMs);
    known.failure = undefined;
    if (known.stale) this.#counts = undefined;
    known.stale = false;
    known.freshMs = uptimeMs;
    this.#expect(known);
    known.lastSuccessMs = atMs;
    known.lastBeganMs = beganMs;
    known.hasValues = true;
    known.condition = condition;
    known.kept = kept;
    // A list takes no more memory than its elements once it is copied.
    known.infos = infos.slice();
    this.#show(target, [...lastingRowsOf(known, 1), ...rows]);
  }

  /** Its poll failed. The values stay until they are stale. */
  pollFailed(key: string): void {
    const known = this.#records.get(key);
    if (!known) return;
    if (known.hasValues)
      this.#store.setFamily(key, { family: firstFamilyOf(known.target.kind), samples: [{ value: 0 }] });
    else this.#showStateAlone(known);
  }

  /** Its listing was read, but its own reading cannot be used. */
  failed(key: string, failure: Omit<Failure, 'sinceMs'>): void {
    const known = this.#records.get(key);
    if (!known) return;
    known.failure = nextFailure(known.failure, failure);
    this.pollFailed(key);
  }

  /** A complete listing lacks the target: only `_up` 0 stays. */
  absent(key: string, failure: Omit<Failure, 'sinceMs'>): void {
    const known = this.#records.get(key);
    if (!known) return;
    known.failure = nextFailure(known.failure, failure);
    known.lastSuccessMs = undefined;
    known.lastBeganMs = undefined;
    known.kept = undefined;
    this.#showStateAlone(known);
  }

  /** Takes values that are older than their `stale_after` off the page. Each scrape asks, so it rarely goes through the targets. */
  dropStale(): void {
    const uptimeMs = this.#uptimeMs();
    if (uptimeMs <= this.#nextStaleMs) return;
    this.#nextStaleMs = Number.POSITIVE_INFINITY;
    for (const known of this.#records.values()) {
      if (known.stale) continue;
      if (uptimeMs - known.freshMs <= known.target.staleAfterMs) {
        this.#expect(known);
        continue;
      }
      known.stale = true;
      this.#counts = undefined;
      this.#showStateAlone(known);
    }
  }

  /** Leaves out the targets that were added last, until there is room for the others. */
  makeRoom(): void {
    for (const key of [...this.#records.keys()].reverse()) {
      if (!this.#store.isOverfull) return;
      this.#store.leaveOut(key);
    }
  }

  status(key: string): TargetStatus | undefined {
    return this.#records.get(key);
  }

  /** Every target in the order of the configuration. */
  statuses(): Iterable<TargetStatus> {
    return this.#records.values();
  }

  /** How many targets there are of each kind, and how many of them are stale. The same map as long as nothing has changed. */
  counts(): ReadonlyMap<string, KindCounts> {
    if (this.#counts) return this.#counts;
    const counts = new Map<string, { targets: number; stale: number }>();
    for (const { target, stale } of this.#records.values()) {
      const ofKind = counts.get(target.kind) ?? { targets: 0, stale: 0 };
      ofKind.targets++;
      if (stale) ofKind.stale++;
      counts.set(target.kind, ofKind);
    }
    this.#counts = counts;
    return counts;
  }

  /** Has `dropStale` look when the target becomes stale. */
  #expect({ freshMs, target }: TargetRecord): void {
    this.#nextStaleMs = Math.min(this.#nextStaleMs, freshMs + target.staleAfterMs);
  }

  /** Takes the values off the page. What every target has stays. */
  #showStateAlone(known: TargetRecord): void {
    const { state, target } = known;
    known.hasValues = false;
    known.condition = undefined;
    known.infos = [];
    if (state !== 'pending') this.#show(target, lastingRowsOf(known, state === 'ok' ? 1 : 0));
  }

  /** A new name or part needs no request. */
  #showNames({ target, infos }: TargetRecord): void {
    for (const { family, samples } of infos) {
      const declared = catalogue[family];
      if (declared)
        this.#store.setFamily(target.key, { family, samples: withNames(declared, samples, target) });
    }
  }

  #show({ key, kind, ids }: Target, rows: readonly FamilyRows[]): void {
    this.#store.set(key, kind, ids, rows);
  }
}
