/**
 * The pool has all targets of one kind. Each listing, and each list in the configuration, gives it a group of targets; the
 * pool compares a group with what is there, and starts and stops polls:
 *
 * - A target is the same while its kind, its ids and its address are: then it keeps its values, counters and times. It is
 *   asked at once where its name, parts, settings or key changed; another interval only changes its times.
 * - What a group brings is put in place first. What it no longer has leaves last.
 * - Where several groups have the same target, the first has it and the others stand by.
 * - A reload retires every group. A group that comes again is in force again. Any group may take a target over from a retired
 *   one; what nobody took over stays until `release`, for the new configuration's listings may not have been read yet.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Turns } from '../turns.ts';
import type { Target } from './target.ts';

/** Carries out what the pool decides. */
export interface TargetLoops {
  start(target: Target): void;
  /** isOther: whether something else is read from now on, or with another key. */
  update(before: Target, after: Target, isOther: boolean): void;
  stop(target: Target): void;
}

type Group = Map<string, Target>;

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
  /** By what they come from. */
  readonly #groups = new Map<string, Group>();
  readonly #retired = new Set<Group>();
  /** What runs, and the group that has it. */
  readonly #running = new Map<string, { readonly target: Target; readonly group: Group }>();
  /** Targets that more than one group has had. */
  readonly #contested = new Set<string>();

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
    return { groups: this.#groups.size, wanted: this.#running.size, contested: this.#contested.size };
  }

  /** Makes these the targets of one group. */
  async sync(source: string, targets: Iterable<Target>): Promise<void> {
    const before = this.#groups.get(source);
    const group: Group = new Map();
    this.#groups.set(source, group);
    for (const target of targets) {
      if (this.#turns.isOver) await this.#turns.next();
      if (!group.has(target.key)) this.#put(target, group, before);
    }
    if (before) await this.#dissolve(before);
  }

  async drop(source: string): Promise<void> {
    const group = this.#groups.get(source);
    this.#groups.delete(source);
    if (group) await this.#dissolve(group);
  }

  /** Retires every group. */
  retire(): void {
    for (const group of this.#groups.values()) this.#retired.add(group);
  }

  /** Has the targets of retired groups follow the new configuration; what becomes undefined leaves. */
  async adopt(adopted: (target: Target) => Target | undefined): Promise<void> {
    for (const [source, group] of this.#groups)
      if (this.#retired.has(group)) {
        const targets = [...group.values()].flatMap((target) => adopted(target) ?? []);
        await this.sync(source, targets);
        this.#retired.add(this.#groups.get(source) ?? group);
      }
  }

  /** Takes away what is still retired. */
  async release(): Promise<void> {
    for (const [source, group] of this.#groups) if (this.#retired.has(group)) await this.drop(source);
  }

  #put(target: Target, group: Group, before: Group | undefined): void {
    const { key } = target;
    const current = this.#running.get(key);
    if (!current) this.#start(target, group);
    else if (current.group === before || this.#retired.has(current.group))
      this.#update(current.target, target, group);
    else {
      this.#contested.add(key);
      group.set(key, target);
    }
  }

  #start(target: Target, group: Group): void {
    group.set(target.key, target);
    this.#running.set(target.key, { target, group });
    this.#loops.start(target);
  }

  #update(before: Target, after: Target, group: Group): void {
    if (before.baseUrl !== after.baseUrl) {
      this.#loops.stop(before);
      this.#start(after, group);
      return;
    }
    const isOther = isOtherReading(before, after);
    // The same object, by which a reading that comes late is known to be still wanted.
    const target = isOther || !isAlike(before, after) ? after : before;
    group.set(target.key, target);
    this.#running.set(target.key, { target, group });
    if (target !== before) this.#loops.update(before, target, isOther);
  }

  /** Takes away the targets that a group still has, or passes them on. */
  async #dissolve(group: Group): Promise<void> {
    for (const [key, target] of group) {
      if (this.#turns.isOver) await this.#turns.next();
      const current = this.#running.get(key);
      if (current?.group !== group) continue;
      const heir = this.#contested.has(key) ? this.#heirOf(key, group) : undefined;
      if (heir) {
        this.#update(current.target, heir.target, heir.group);
        continue;
      }
      this.#running.delete(key);
      this.#contested.delete(key);
      this.#loops.stop(target);
    }
    this.#retired.delete(group);
  }

  #heirOf(key: string, leaving: Group): { readonly target: Target; readonly group: Group } | undefined {
    for (const group of this.#groups.values()) {
      const target = group === leaving ? undefined : group.get(key);
      if (target) return { target, group };
    }
    return undefined;
  }
}
