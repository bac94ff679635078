/**
 * The targets of one kind. Each listing, and the list in the configuration, is a source that brings a group of targets; the pool
 * compares the group with what is there, and starts and stops polls:
 *
 * - A target stays the same while its kind, ids and address do: it keeps its values, counters and times. It is asked at once
 *   when its name, parts, settings or key change. Another interval only changes its times.
 * - What a group brings starts first. What it no longer has is stopped last.
 * - If several groups have the same target, the first one counts; when it loses the target, the next one takes over.
 * - A reload retires all groups. A group that is synced again counts again, and may take targets over from retired groups.
 *   The rest stays until `release`: the new configuration's listings may not have been read yet.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Turns } from '../turns.ts';
import type { Target } from './target.ts';

/** Carries out what the pool decides. */
export interface TargetLoops {
  start(target: Target): void;
  /** isOther: whether something else is read from now on, or with another key. */
  update(target: Target, isOther: boolean): void;
  stop(target: Target): void;
}

interface Running {
  readonly target: Target;
  readonly source: string;
}

function isOtherReading(a: Target, b: Target): boolean {
  return (
    a.name !== b.name ||
    a.keyId !== b.keyId ||
    a.parts !== b.parts ||
    (a.settings !== b.settings && !isDeepStrictEqual(a.settings, b.settings))
  );
}

function isAlike(a: Target, b: Target): boolean {
  return (
    a.intervalMs === b.intervalMs &&
    a.staleAfterMs === b.staleAfterMs &&
    a.credential === b.credential &&
    a.pollKey === b.pollKey
  );
}

export class Pool {
  readonly #loops: TargetLoops;
  readonly #turns: Turns;
  /** By source, then by the target's key. */
  readonly #groups = new Map<string, Map<string, Target>>();
  readonly #retired = new Set<string>();
  readonly #running = new Map<string, Running>();
  /** Keys that more than one group has had. There may be thousands of groups, so no other key is looked for in all of them. */
  readonly #shared = new Set<string>();

  constructor(loops: TargetLoops, turns: Turns) {
    this.#loops = loops;
    this.#turns = turns;
  }

  /** Whether groups of the previous configuration are left. */
  get hasRetired(): boolean {
    return this.#retired.size > 0;
  }

  /** Sizes by name: what must not grow while targets come and go. */
  get sizes() {
    return { groups: this.#groups.size, wanted: this.#running.size, shared: this.#shared.size };
  }

  /** The targets that this poll reads. */
  *readBy(pollKey: string): Generator<Target> {
    for (const { target } of this.#running.values()) if (target.pollKey === pollKey) yield target;
  }

  /** Makes these the targets of a source. */
  async sync(source: string, targets: Iterable<Target>): Promise<void> {
    this.#retired.delete(source);
    await this.#replace(source, targets);
  }

  async drop(source: string): Promise<void> {
    await this.#replace(source, []);
    this.#groups.delete(source);
    this.#retired.delete(source);
  }

  retire(): void {
    for (const source of this.#groups.keys()) this.#retired.add(source);
  }

  /** Adapts the targets of retired groups to the new configuration. One that becomes undefined is stopped. */
  async adopt(adopted: (target: Target) => Target | undefined): Promise<void> {
    for (const source of this.#retired) {
      const group = this.#groups.get(source)?.values() ?? [];
      await this.#replace(
        source,
        Array.from(group).flatMap((target) => adopted(target) ?? []),
      );
    }
  }

  /** Drops the groups that are still retired. */
  async release(): Promise<void> {
    for (const source of this.#retired) await this.drop(source);
  }

  async #replace(source: string, targets: Iterable<Target>): Promise<void> {
    const group = this.#groups.get(source) ?? new Map<string, Target>();
    this.#groups.set(source, group);
    const missing = new Set(group.keys());
    for (const target of targets) {
      if (this.#turns.isOver) await this.#turns.next();
      missing.delete(target.key);
      group.set(target.key, target);
      this.#put(target, source);
    }
    for (const key of missing) {
      if (this.#turns.isOver) await this.#turns.next();
      group.delete(key);
      this.#take(key, source);
    }
  }

  #put(target: Target, source: string): void {
    const running = this.#running.get(target.key);
    if (!running) this.#start(target, source);
    else if (running.source === source || this.#retired.has(running.source))
      this.#update(running.target, target, source);
    else this.#shared.add(target.key);
  }

  /** A source no longer has a target. */
  #take(key: string, source: string): void {
    const running = this.#running.get(key);
    if (running?.source !== source) return;
    for (const [other, group] of this.#shared.has(key) ? this.#groups : []) {
      const target = group.get(key);
      if (target) {
        this.#update(running.target, target, other);
        return;
      }
    }
    this.#running.delete(key);
    this.#shared.delete(key);
    this.#loops.stop(running.target);
  }

  #start(target: Target, source: string): void {
    this.#running.set(target.key, { target, source });
    this.#loops.start(target);
  }

  #update(before: Target, after: Target, source: string): void {
    if (before.baseUrl !== after.baseUrl) {
      this.#loops.stop(before);
      this.#start(after, source);
      return;
    }
    const isOther = isOtherReading(before, after);
    // If nothing changed, the object stays: a late reading is kept only if its target object is still the wanted one.
    const target = isOther || !isAlike(before, after) ? after : before;
    this.#running.set(target.key, { target, source });
    if (target !== before) this.#loops.update(target, isOther);
  }
}
