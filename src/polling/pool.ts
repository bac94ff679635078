/**
 * The targets of one kind. Each listing, and the list in the configuration, is a source that brings a group of targets; the pool
 * compares the group with what is there, and starts and stops polls:
 *
 * - A target stays the same while its kind, ids and address do: it keeps its values, counters and times. It is asked at once
 *   when its name, parts, settings or key change, or its interval gets shorter.
 * - What a group brings starts first. What it no longer has is stopped last.
 * - If several groups have the same target, the first one counts; when it loses the target, the next one takes over.
 * - A reload retires all groups. One that is synced again counts again, and takes targets over from retired ones.
 *   The rest stays until `release`: the new configuration's listings may not have been read yet.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Turns } from '../turns.ts';
import type { Target } from './target.ts';

export interface TargetLoops {
  start(target: Target): void;
  /** isOther: whether other values are read from now on, or with another key. */
  update(target: Target, isOther: boolean): void;
  stop(target: Target): void;
}

/** A target as one of the sources has it. */
interface Entry {
  readonly source: string;
  target: Target;
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
  /** By the target's key. The first entry counts. */
  readonly #entries = new Map<string, Entry[]>();
  /** By source, the keys of its targets. */
  readonly #groups = new Map<string, Set<string>>();
  readonly #retired = new Set<string>();

  constructor(loops: TargetLoops, turns: Turns) {
    this.#loops = loops;
    this.#turns = turns;
  }

  get hasRetired(): boolean {
    return this.#retired.size > 0;
  }

  get sizes() {
    return { groups: this.#groups.size, wanted: this.#entries.size };
  }

  /** The targets that this poll reads. */
  *readBy(pollKey: string): Generator<Target> {
    for (const [first] of this.#entries.values()) if (first?.target.pollKey === pollKey) yield first.target;
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

  /** Adapts the targets of retired groups. Those that become undefined are stopped. */
  async adopt(adopted: (target: Target) => Target | undefined): Promise<void> {
    for (const source of this.#retired) {
      const keys = [...(this.#groups.get(source) ?? [])];
      const entries = keys.flatMap((key) => this.#entries.get(key) ?? []);
      const own = entries.filter((entry) => entry.source === source);
      await this.#replace(
        source,
        own.flatMap(({ target }) => adopted(target) ?? []),
      );
    }
  }

  /** Drops the groups that are still retired. */
  async release(): Promise<void> {
    for (const source of this.#retired) await this.drop(source);
  }

  async #replace(source: string, targets: Iterable<Target>): Promise<void> {
    const group = this.#groups.get(source) ?? new Set<string>();
    this.#groups.set(source, group);
    const missing = new Set(group);
    for (const target of targets) {
      if (this.#turns.isOver) await this.#turns.next();
      missing.delete(target.key);
      group.add(target.key);
      this.#put({ source, target });
    }
    for (const key of missing) {
      if (this.#turns.isOver) await this.#turns.next();
      group.delete(key);
      this.#take(key, source);
    }
  }

  #put(entry: Entry): void {
    const { key } = entry.target;
    const entries = this.#entries.get(key) ?? [];
    const [first] = entries;
    const others = entries.filter(({ source }) => source !== entry.source);
    const isFirst = !first || first.source === entry.source || this.#retired.has(first.source);
    const after = isFirst ? [entry, ...others] : [...others, entry];
    this.#entries.set(key, after);
    this.#poll(after, first?.target);
  }

  #take(key: string, source: string): void {
    const entries = this.#entries.get(key) ?? [];
    const left = entries.filter((entry) => entry.source !== source);
    if (left.length > 0) this.#entries.set(key, left);
    else this.#entries.delete(key);
    this.#poll(left, entries[0]?.target);
  }

  /** Polls the first entry instead of what was polled before. */
  #poll([first]: readonly Entry[], before: Target | undefined): void {
    if (before && first?.target.baseUrl === before.baseUrl) {
      const isOther = isOtherReading(before, first.target);
      if (isOther || !isAlike(before, first.target)) this.#loops.update(first.target, isOther);
      // The object stays: a late reading is kept only if its target object is still the wanted one.
      else first.target = before;
      return;
    }
    if (before) this.#loops.stop(before);
    if (first) this.#loops.start(first.target);
  }
}
