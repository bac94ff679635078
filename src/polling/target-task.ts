/**
 * A target with everything of it, and what the page shows: the values of its last reading until they are stale; and always whether
 * its poll succeeds, when the last success was, and the counters.
 */

import type { Counters } from '../counting/counters.ts';
import type { Store, StoredTarget } from '../exposition/store.ts';
import { conditionOf, extractOf, firstFamilyOf } from '../resources/catalogue.ts';
import type { ReadContext, Readings, UntoldDay } from '../resources/resource.ts';
import { type Failure, nextFailure } from './record.ts';
import { hasSameSettings, type Target } from './spec.ts';
import { type FamilyRows, namedRowsOf, type OnNotFinite, rowsOf, withAccount } from './target-rows.ts';
import { type ListingTask, PollTask } from './task.ts';

/**
 * pending: not polled yet; stale: no poll fails, but none was carried out in time; absent: it is missing from a complete listing; lacking: the
 * plan does not include it, which is no failure.
 */
export type TargetStateName = 'pending' | 'ok' | 'lacking' | 'stale' | 'failing' | 'absent';

export interface TargetStatus {
  readonly target: Target;
  readonly state: TargetStateName;
  /** Whether no poll succeeded within `stale_after`. Then its values are not on the page. */
  readonly stale: boolean;
  /** Whether a reading is on the page. */
  readonly hasValues: boolean;
  /** From when on its values are too old, by the machine's uptime. */
  readonly staleAtMs: number;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  /** Since when the API answers that the plan lacks it. Unix time; undefined where the last answer gave figures. */
  readonly lackingSinceMs?: number | undefined;
  /** The state that the API reports, while the values are on the page. */
  readonly condition?: string | undefined;
  /** What its kind extracts from its last reading, see `Resource`; undefined before the first, and where there is nothing to read. */
  readonly extract?: unknown;
}

/** When a poll was. */
interface PollTimes {
  /** When it began. Unix time. */
  readonly beganUnixMs: number;
  /** When it was answered, by the clock of the API; undefined where that does not say so. Unix time. */
  readonly sentAtMs?: number | undefined;
  /** Now, as Unix time. */
  readonly atMs: number;
  /** Now, by the machine's uptime. */
  readonly uptimeMs: number;
}

export type Task = TargetTask | ListingTask;

export class TargetTask extends PollTask<Target> implements TargetStatus {
  stale = false;
  lastSuccessMs: number | undefined;
  condition: string | undefined;
  extract: unknown;
  readonly #stored: StoredTarget;
  /** The listing that feeds it; undefined if it is polled itself. */
  #feeder: ListingTask | undefined;
  /** Its own failure although its listing was read: it is absent, or its reading cannot be used. */
  #failure: (Failure & { readonly keyId: string }) | undefined;
  /** Whether a reading is on the page. */
  hasValues = false;
  /** By the machine's uptime: when it last succeeded, or was added. */
  #freshMs: number;
  readonly #counters: Counters | undefined;
  /** What stays of its reading when its values leave: the `_info` rows without the names that do not come from it. */
  #infos: readonly FamilyRows[] = [];

  /** uptimeMs: the machine's uptime now. counters: undefined where its kind has none. */
  constructor(
    spec: Target,
    feeder: ListingTask | undefined,
    store: Pick<Store, 'add'>,
    uptimeMs: number,
    counters: Counters | undefined,
  ) {
    super(spec);
    this.#feeder = feeder;
    this.#stored = store.add(spec.kind, spec.ids);
    this.#freshMs = uptimeMs;
    this.#counters = counters;
    if (this.state === 'failing') this.#showStateAlone();
  }

  get target(): Target {
    return this.spec;
  }

  /** Whose polls read it: its own, or those of the listing that feeds it. */
  get poller(): TargetTask | ListingTask {
    return this.#feeder ?? this;
  }

  get lastFailure(): Failure | undefined {
    return this.poller.record.lastFailure ?? this.#failure;
  }

  get lastDurationSeconds(): number | undefined {
    return this.poller.record.lastDurationSeconds;
  }

  get state(): TargetStateName {
    if (this.poller.record.lastFailure) return 'failing';
    if (this.#failure) return this.#failure.result === 'not_found' ? 'absent' : 'failing';
    if (this.lastSuccessMs === undefined) return 'pending';
    if (this.stale) return 'stale';
    return this.lackingSinceMs === undefined ? 'ok' : 'lacking';
  }

  get #isUp(): boolean {
    return this.state === 'ok' || this.state === 'lacking';
  }

  get staleAtMs(): number {
    return this.#freshMs + this.spec.staleAfterMs;
  }

  /** Replaces the spec. With other settings its values are no longer right; another name needs no reading. */
  update(spec: Target, feeder: ListingTask | undefined): void {
    const before = this.spec;
    this.spec = spec;
    this.#feeder = feeder;
    if (!hasSameSettings(before, spec)) this.#showStateAlone();
    else if (before.account !== spec.account) this.showState();
    const areSame =
      before.name === spec.name && before.parts === spec.parts && before.account === spec.account;
    if (this.hasValues && !areSame)
      for (const rows of namedRowsOf(spec, this.#infos)) this.#stored.setFamily(rows);
  }

  /** When its oldest counter began; undefined where nothing of it is counted. Unix time. */
  get countingSinceMs(): number | undefined {
    return this.#counters?.sinceMs;
  }

  /** What decides which days a poll asks for. nowMs: when it begins. Unix time. */
  contextAt(nowMs: number): ReadContext {
    const hasFailed = this.record.lastFailure !== undefined;
    return { ...(this.#counters?.contextAt(nowMs) ?? { nowMs }), hasFailed };
  }

  /**
   * Shows what a poll has read. Throws if it cannot be shown; then nothing has changed. Returns the earlier days that are lost to the
   * counters from now on.
   */
  succeeded(
    { shown, counted, untold }: Readings,
    { beganUnixMs, sentAtMs, atMs, uptimeMs }: PollTimes,
    onNotFinite?: OnNotFinite,
  ): readonly UntoldDay[] {
    const { spec } = this;
    const infos: FamilyRows[] = [];
    const rows = rowsOf(spec, shown, onNotFinite, infos);
    const condition = conditionOf(spec.kind, shown);
    const extract = extractOf(spec.kind, shown, this.extract);
    const lost = this.#counters?.add(spec, counted, { nowMs: atMs, uptimeMs, beganUnixMs, sentAtMs }, untold);
    this.#failure = undefined;
    this.stale = false;
    this.lackingSinceMs = undefined;
    this.#freshMs = uptimeMs;
    this.lastSuccessMs = atMs;
    this.hasValues = true;
    this.condition = condition;
    this.extract = extract;
    // A list takes no more memory than its elements once it is copied.
    this.#infos = infos.slice();
    this.#stored.set([...this.#lastingRows(1), ...rows]);
    return lost ?? [];
  }

  /**
   * The API answered that the plan lacks it. That is no failure, and nothing of it is shown. Its counters are kept off the page: if the
   * plan has it again, they go on from the last day that was read.
   *
   * @param atMs now, as Unix time
   * @param uptimeMs now, by the machine's uptime
   */
  lacks(atMs: number, uptimeMs: number): void {
    this.lackingSinceMs ??= atMs;
    this.#failure = undefined;
    this.stale = false;
    this.#freshMs = uptimeMs;
    this.lastSuccessMs = atMs;
    this.extract = undefined;
    this.#showStateAlone(true);
  }

  /** Shows whether it can be read, if that is known. The values stay as they are. */
  showState(): void {
    if (this.state === 'pending') this.#stored.set([]);
    else this.#stored.setFamily(this.#upRow(this.#isUp ? 1 : 0));
  }

  /** The poll that reads it failed. The values stay until they are stale. */
  pollFailed(): void {
    if (this.hasValues) this.#stored.setFamily(this.#upRow(0));
    else this.#showStateAlone();
  }

  /** Its listing was read, but its own reading cannot be used. */
  failed(failure: Omit<Failure, 'sinceMs'>): void {
    this.#fail(failure);
    this.pollFailed();
  }

  /** The target is missing from a complete listing: only `_up` 0 stays. */
  absent(failure: Omit<Failure, 'sinceMs'>): void {
    this.#fail(failure);
    this.lastSuccessMs = undefined;
    this.lackingSinceMs = undefined;
    this.extract = undefined;
    this.#showStateAlone();
  }

  #fail(failure: Omit<Failure, 'sinceMs'>): void {
    const { keyId } = this.poller.spec;
    // What was so with another key does not say since when it is with this one.
    const before = this.#failure?.keyId === keyId ? this.#failure : undefined;
    this.#failure = { ...nextFailure(before, failure), keyId };
  }

  /** Takes its values off the page: they are older than its `stale_after`. */
  expire(): void {
    this.stale = true;
    this.#showStateAlone();
  }

  /** Takes all its series off the page. */
  remove(): void {
    this.#stored.remove();
  }

  /** Takes the values off the page. What every target has stays. */
  #showStateAlone(isUp = this.#isUp): void {
    this.hasValues = false;
    this.condition = undefined;
    this.#infos = [];
    if (this.state !== 'pending') this.#stored.set(this.#lastingRows(isUp ? 1 : 0));
  }

  /** What stays on the page of every polled target. */
  #lastingRows(up: number): readonly FamilyRows[] {
    const first = firstFamilyOf(this.spec.kind);
    const upRow = this.#upRow(up);
    if (this.lastSuccessMs === undefined) return [upRow];
    return [
      upRow,
      { family: first + 1, samples: [{ value: this.lastSuccessMs / 1000 }] },
      ...((this.lackingSinceMs === undefined && this.#counters?.rows) || []),
    ];
  }

  #upRow(value: number): FamilyRows {
    const family = firstFamilyOf(this.spec.kind);
    return { family, samples: withAccount(family, [{ value }], this.spec) };
  }
}
