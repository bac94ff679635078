/**
 * The targets that are wanted now, and what has to change for those of another plan: in proportion to what changed, and in
 * steps, so that whoever carries the changes out can let others have their turn between them.
 */
import type { Listed, Resource } from '../resources/resource.ts';
import { type Group, type Target, targetKey } from './plan.ts';

export interface TargetChange {
  readonly resource: Resource;
  /** Undefined for a target that came. */
  readonly before: Target | undefined;
  /** Undefined for a target that left. */
  readonly after: Target | undefined;
}

/** What a section has made of a listing. */
export interface TargetSelection {
  readonly kind: string;
  readonly listingKey: string;
  readonly targets: number;
  readonly excluded: readonly Listed[];
}

interface Members {
  readonly group: Group;
  readonly targets: Map<string, Target>;
  /** What the section does not select. */
  readonly excluded: Listed[];
}

/** How many entries are looked at before a step without a change ends. */
const stepEntries = 500;

function isSame(a: Target, b: Target): boolean {
  return (
    a.name === b.name &&
    a.credential === b.credential &&
    a.intervalMs === b.intervalMs &&
    a.staleAfterMs === b.staleAfterMs &&
    a.parts === b.parts
  );
}

export class WantedTargets {
  readonly #owns: (key: string) => boolean;
  readonly #groups = new Map<string, Members>();
  readonly #targets = new Map<string, Target>();
  /** Keys that more than one group has had: the first to come has the target, the others stand by. */
  readonly #contested = new Set<string>();

  /** owns: whether the target of a key belongs to this process (sharding). */
  constructor(owns: (key: string) => boolean) {
    this.#owns = owns;
  }

  get(key: string): Target | undefined {
    return this.#targets.get(key);
  }

  /** How much it holds: what must not grow while targets come and go. */
  get sizes(): Readonly<Record<string, number>> {
    return { groups: this.#groups.size, wanted: this.#targets.size, contested: this.#contested.size };
  }

  /** What each section has made of each listing, this shard's part alone. */
  *selections(): Generator<TargetSelection> {
    for (const { group, targets, excluded } of this.#groups.values()) {
      const { resource, listingKey } = group;
      if (listingKey !== undefined)
        yield { kind: resource.kind, listingKey, targets: targets.size, excluded };
    }
  }

  /** Makes these groups the wanted ones; carry out each change before asking for the next. Undefined is a step without one. */
  *changesTo(groups: readonly Group[]): Generator<TargetChange | undefined> {
    const keys = new Set(groups.map(({ key }) => key));
    for (const [key, members] of this.#groups) {
      if (keys.has(key)) continue;
      this.#groups.delete(key);
      for (const target of members.targets.values()) yield* this.#leave(members.group, target);
    }
    for (const group of groups) {
      const known = this.#groups.get(group.key);
      const isSameGroup = known?.group.signature === group.signature && known.group.entries === group.entries;
      if (!isSameGroup) yield* this.#follow(group, known);
    }
  }

  *#follow(group: Group, known: Members | undefined): Generator<TargetChange | undefined> {
    const isAlike = known?.group.signature === group.signature;
    const targets = new Map<string, Target>();
    const excluded: Listed[] = [];
    this.#groups.set(group.key, { group, targets, excluded });
    let looked = 0;
    for (const entry of group.entries) {
      if (++looked % stepEntries === 0) yield undefined;
      const key = targetKey(group.resource.kind, entry.ids);
      if (targets.has(key) || !this.#owns(key)) continue;
      if (group.selector?.selects(entry) === false) {
        excluded.push(entry);
        continue;
      }
      const before = known?.targets.get(key);
      const fresh = group.toTarget(entry);
      const target = before && isAlike && isSame(before, fresh) ? before : fresh;
      targets.set(key, target);
      known?.targets.delete(key);
      if (target !== before) yield* this.#come(group, before, target);
    }
    for (const target of known?.targets.values() ?? []) yield* this.#leave(group, target);
  }

  *#come(group: Group, before: Target | undefined, target: Target): Generator<TargetChange> {
    const current = this.#targets.get(target.key);
    if (current !== undefined && current !== before) {
      this.#contested.add(target.key);
      return;
    }
    this.#targets.set(target.key, target);
    yield { resource: group.resource, before: current, after: target };
  }

  *#leave({ resource }: Group, target: Target): Generator<TargetChange> {
    const { key } = target;
    if (this.#targets.get(key) !== target) return;
    const heir = this.#contested.has(key) ? this.#heirOf(key) : undefined;
    if (heir) this.#targets.set(key, heir);
    else {
      this.#targets.delete(key);
      this.#contested.delete(key);
    }
    yield { resource, before: target, after: heir };
  }

  #heirOf(key: string): Target | undefined {
    for (const { targets } of this.#groups.values()) {
      const target = targets.get(key);
      if (target && target !== this.#targets.get(key)) return target;
    }
    return undefined;
  }
}
