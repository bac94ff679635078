/**
 * Keeps what is polled in step with what is wanted: it plans, compares the plan with the polls and the targets, and starts,
 * updates and stops them. That is synchronous, so nothing can come in between. Several changes at once are one plan.
 */
import type { Config } from '../config/config.ts';
import type { Discovered } from '../discovery/discovered.ts';
import type { Resource } from '../resources/resource.ts';
import { hasEnded, type Loop } from './loop.ts';
import {
  emptyPlan,
  type Plan,
  type PlanInput,
  type PlannedSection,
  plan,
  plannedSections,
  type Snapshot,
} from './plan.ts';
import type { Polls } from './polls.ts';
import { reconcile } from './reconcile.ts';
import { mustReread, type Poll, type ReadPoll, readPollOf, type Target } from './target.ts';
import type { TargetStates } from './target-states.ts';

export interface PlannerOptions extends Pick<PlanInput, 'owns' | 'keyIdOf'> {
  readonly resources: readonly Resource[];
  readonly polls: Polls;
  readonly states: TargetStates;
  /** Called after each plan. */
  readonly onPlanned: () => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** While listings change all the time, planning takes a thirtieth of the time: it rests this many times as long as it took. */
const restFactor = 29;

export class Planner {
  readonly #options: PlannerOptions;
  readonly #resources: ReadonlyMap<string, Resource>;
  #config: Config | undefined;
  #sections: readonly PlannedSection[] = [];
  #plan: Plan = emptyPlan;
  /** By the listing that reads them. Derived, and forgotten when something changes. */
  #listed: Map<string, Target[]> | undefined;
  readonly #snapshots = new Map<string, Pick<Snapshot, 'entries' | 'keyId'>>();
  /** The listings whose readings are about to be delivered to their targets. */
  readonly #delivering = new Set<string>();
  /** Runs the next plan. */
  #timer: NodeJS.Timeout | undefined;
  #planAtMs = 0;
  /** How long the last plan took. */
  #plannedInMs = 0;
  /** Wait for the next plan. */
  #waiters: Waiter[] = [];

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.#resources = new Map(options.resources.map((resource) => [resource.kind, resource]));
  }

  get config(): Config | undefined {
    return this.#config;
  }

  get plan(): Plan {
    return this.#plan;
  }

  get snapshots(): ReadonlyMap<string, Pick<Snapshot, 'entries' | 'keyId'>> {
    return this.#snapshots;
  }

  /** Whether nothing waits for another plan, and every found reading has been delivered. */
  get isSettled(): boolean {
    return this.#timer === undefined && this.#delivering.size === 0;
  }

  /** Plans another configuration at once. */
  apply(config: Config): void {
    this.#sections = plannedSections(config, this.#options.resources);
    this.#config = config;
    this.update();
  }

  /** Plans, and makes what is polled follow: first what is new, then what has changed, last what leaves. */
  update(): void {
    const { polls, owns, keyIdOf, onPlanned } = this.#options;
    if (!this.#config || polls.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const nowMs = performance.now();
    const before = this.#plan;
    const after = plan({
      config: this.#config,
      sections: this.#sections,
      snapshots: new Map(Array.from(before.listings.keys(), (key) => [key, this.#snapshotOf(key)])),
      owns,
      keyIdOf,
      previous: before,
      nowMs,
    });
    const listings = reconcile(before.listings, after.listings);
    // At another address it is another target: nothing of the old one stays.
    const targets = reconcile(before.targets, after.targets, (one, other) => one.baseUrl !== other.baseUrl);
    this.#plan = after;
    this.#listed = undefined;

    for (const poll of listings.added) polls.add(poll);
    for (const target of targets.added) {
      if (before.targets.has(target.key)) this.#removeTarget(target);
      this.#addTarget(target);
    }
    for (const changed of listings.updated)
      polls.get(changed.after.key)?.update(changed.after, changed.before.keyId !== changed.after.keyId);
    for (const changed of targets.updated) this.#updateTarget(changed.before, changed.after);
    for (const target of targets.removed) this.#removeTarget(target);
    for (const { key } of listings.removed) {
      polls.remove(key);
      this.#snapshots.delete(key);
    }
    this.#plannedInMs = performance.now() - nowMs;
    if (after.waitingUntilMs !== undefined) this.#planIn(after.waitingUntilMs - nowMs);
    this.#endWaiting();
    onPlanned();
  }

  /** Plans soon; several changes until then are one plan. Resolves when that has been done. */
  planSoon(): Promise<void> {
    this.#planIn(restFactor * this.#plannedInMs);
    return this.#nextPlan();
  }

  /**
   * Takes over what a listing has, and has it delivered once its targets are there.
   *
   * @param counts whether the run of the listing still counts
   */
  async follow(
    listing: string,
    snapshot: { readonly entries: readonly Discovered[]; readonly keyId: string },
    counts: () => boolean,
  ): Promise<void> {
    const before = this.#snapshots.get(listing);
    if (before?.entries === snapshot.entries && before.keyId === snapshot.keyId) return;
    this.#snapshots.set(listing, snapshot);
    this.#delivering.add(listing);
    try {
      await this.planSoon();
      while (counts() && this.#plan.waiting.has(listing)) await this.#nextPlan();
    } finally {
      this.#delivering.delete(listing);
    }
  }

  /** The targets that a poll reads. */
  targetsOf({ type, key }: Poll): readonly Target[] {
    const { targets } = this.#plan;
    if (type === 'read') {
      const own = targets.get(key);
      return own ? [own] : [];
    }
    if (!this.#listed) {
      this.#listed = new Map();
      for (const target of targets.values()) {
        if (target.pollKey === target.key) continue;
        const ofListing = this.#listed.get(target.pollKey);
        if (ofListing) ofListing.push(target);
        else this.#listed.set(target.pollKey, [target]);
      }
    }
    return this.#listed.get(key) ?? [];
  }

  /** Plans no more, and lets go of what waits. */
  end(): void {
    clearTimeout(this.#timer);
    this.#endWaiting();
  }

  #endWaiting(error?: unknown): void {
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      if (error === undefined) resolve();
      else reject(error);
    }
  }

  #snapshotOf(key: string): Snapshot {
    const loop = this.#options.polls.get(key);
    const { entries, keyId } = this.#snapshots.get(key) ?? { entries: undefined, keyId: '' };
    return {
      entries,
      keyId,
      hasEnded: loop !== undefined && hasEnded(loop.record),
      sinceMs: loop?.sinceMs ?? performance.now(),
    };
  }

  #addTarget(target: Target): void {
    const { polls, states } = this.#options;
    const poll = this.#readPollOf(target);
    const loop = poll ? polls.add(poll) : this.#loopOf(target);
    states.add(target, loop);
    if (!poll) this.#ask(loop);
  }

  #updateTarget(before: Target, target: Target): void {
    const poll = this.#readPollOf(target);
    const loop = this.#loopOf(target);
    this.#options.states.update(target, loop);
    const isOther = mustReread(before, target);
    if (poll) loop.update(poll, isOther);
    else if (isOther) this.#ask(loop);
  }

  #removeTarget({ key }: Target): void {
    this.#options.states.remove(key);
    this.#options.polls.remove(key);
  }

  #readPollOf(target: Target): ReadPoll | undefined {
    return readPollOf(target, this.#resources.get(target.kind));
  }

  /** The poll that reads a target. */
  #loopOf({ key, pollKey }: Target): Loop {
    const loop = this.#options.polls.get(pollKey);
    if (!loop) throw new Error(`nothing polls ${key}`);
    return loop;
  }

  /** Runs a listing for a target of it, unless its readings are about to be delivered. */
  #ask(loop: Loop): void {
    if (hasEnded(loop.record) && !this.#delivering.has(loop.poll.key)) loop.runNow();
  }

  #planIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (this.#timer !== undefined && this.#planAtMs <= atMs) return;
    clearTimeout(this.#timer);
    this.#planAtMs = atMs;
    this.#timer = setTimeout(() => {
      try {
        this.update();
      } catch (error) {
        this.#endWaiting(error);
      }
    }, ms);
  }

  #nextPlan(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }
}
