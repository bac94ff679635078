/**
 * What to poll, as a function: the configuration and what the listings had go in, listings and targets come out. Nothing is
 * kept from one call to the next but what the caller passes as `previous`. What is the same as there is the same object.
 *
 * - A section that names its targets has these. `targets: all` has what its listing had; a listing with a parent is read below
 *   each selected thing that the parent had.
 * - If two sources have the same target, the first in the order of the configuration counts.
 * - Where a listing was never complete, the targets that the previous plan had stay, with what the section says now.
 * - A listing without the names from another one, and a target without its named parts, are not known until that other listing
 *   has ended once, at most for five seconds.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Config, SectionConfig, TargetConfig } from '../config/config.ts';
import { type Discovered, idText, withNames } from '../discovery/discovered.ts';
import { selectorOf } from '../discovery/selector.ts';
import {
  type ApiName,
  type Ids,
  isReadAlone,
  type Listed,
  type Listing,
  type Resource,
} from '../resources/resource.ts';
import {
  isSameListing,
  isSameTarget,
  type ListingPoll,
  listingKey,
  type Target,
  targetKey,
} from './target.ts';

/** What is known of a listing that is polled. */
export interface Snapshot {
  /** What the last complete run had; undefined before the first. */
  readonly entries: readonly Discovered[] | undefined;
  /** The id of the key that it was read with. */
  readonly keyId: string;
  /** Whether a run has ended, whatever the outcome. */
  readonly hasEnded: boolean;
  /** Since when it is polled, by the clock of `nowMs`. */
  readonly sinceMs: number;
}

/** A section with its patterns compiled. */
export interface PlannedSection {
  readonly section: SectionConfig;
  readonly resource: Resource;
  readonly isSelected: (entry: Listed) => boolean;
  readonly isSelectedParent: (entry: Listed) => boolean;
}

export interface PlanInput {
  readonly config: Pick<Config, 'apis' | 'discovery'>;
  /** Those of the configuration, see {@link plannedSections}. */
  readonly sections: readonly PlannedSection[];
  /** An id for the current key of a credential. */
  readonly keyIdOf: (credential: string) => string;
  /** By the keys of the listings. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  /** Whether the target of a key belongs to this shard. */
  readonly owns: (key: string) => boolean;
  readonly previous: Pick<Plan, 'listings' | 'targets' | 'taken'>;
  /** A clock that never jumps. */
  readonly nowMs: number;
}

/** What a section selected from a listing, in this shard. */
export interface TargetSelection {
  readonly kind: string;
  readonly targets: number;
  readonly excluded: readonly Listed[];
}

/** What a section took from a listing, and all that this follows from: as long as that is the same, so are the targets. */
interface Taken {
  readonly basis: readonly unknown[];
  readonly targets: readonly Target[];
  readonly selection: TargetSelection;
}

export interface Plan {
  /** By key; a listing precedes those below it. */
  readonly listings: ReadonlyMap<string, ListingPoll>;
  /** By key, in the order of the configuration. */
  readonly targets: ReadonlyMap<string, Target>;
  /** By the key of the listing: one for each kind that selects from it. */
  readonly selections: ReadonlyMap<string, readonly TargetSelection[]>;
  /** By kind and listing, where it follows from nothing but them. */
  readonly taken: ReadonlyMap<string, Taken>;
  /** The listings that are not known yet because they wait for names. */
  readonly waiting: ReadonlySet<string>;
  /** Until when something waits for names. Then it comes without them, so plan again. */
  readonly waitingUntilMs: number | undefined;
  /** Whether targets of the previous plan stay because their listing was never complete. */
  readonly keepsPrevious: boolean;
}

export const emptyPlan: Plan = {
  listings: new Map(),
  targets: new Map(),
  selections: new Map(),
  taken: new Map(),
  waiting: new Set(),
  waitingUntilMs: undefined,
  keepsPrevious: false,
};

/** How long the first result of a listing waits for names from another one. */
export const namesPatienceMs = 5000;

/** Throws if a kind does not exist. Must be called again only for another configuration. */
export function plannedSections(
  { sections }: Pick<Config, 'sections'>,
  resources: readonly Resource[],
): readonly PlannedSection[] {
  return sections.map((section) => {
    const resource = resources.find(({ kind }) => kind === section.kind);
    if (!resource) throw new Error(`no resource of the kind ${section.kind}`);
    const [isSelected, isSelectedParent] = [selectorOf(section.selection), selectorOf(section.parents)];
    return { section, resource, isSelected, isSelectedParent };
  });
}

/** How often a listing is read, and whether for its readings. */
interface Demand {
  readonly intervalMs: number;
  readonly isRead: boolean;
}

/** A target before it is known which section it is of. */
type PlannedTarget = TargetConfig & Pick<Target, 'key' | 'listedName' | 'keyId' | 'keyName'>;

/** What a listing had; undefined where that is not known yet. */
type Visit = (poll: ListingPoll, entries: readonly Discovered[] | undefined) => void;

export function plan(input: PlanInput): Plan {
  const { config, keyIdOf, snapshots, owns, previous, nowMs } = input;
  const listings = new Map<string, ListingPoll>();
  const targets = new Map<string, Target>();
  const selections = new Map<string, Map<string, TargetSelection>>();
  const taken = new Map<string, Taken>();
  const named = new Map<string, readonly Discovered[] | undefined>();
  const waiting = new Set<string>();
  let waitingUntilMs: number | undefined;
  let keepsPrevious = false;

  /** Of listings that only find things or have names. */
  const auxiliary: Demand = { intervalMs: config.discovery.intervalMs, isRead: false };
  const baseUrlOf = (api: ApiName) => config.apis[api].baseUrl;

  let previousByKind: Map<string, Target[]> | undefined;
  const previousOf = (kind: string): readonly Target[] => {
    if (previousByKind) return previousByKind.get(kind) ?? [];
    previousByKind = new Map();
    for (const target of previous.targets.values()) {
      const ofKind = previousByKind.get(target.kind);
      if (ofKind) ofKind.push(target);
      else previousByKind.set(target.kind, [target]);
    }
    return previousOf(kind);
  };

  /** Whether a listing that brings names may still end its first run in time. */
  const isAwaited = (key: string) => {
    const snapshot = snapshots.get(key);
    const untilMs = (snapshot?.sinceMs ?? nowMs) + namesPatienceMs;
    if (snapshot?.hasEnded || !(nowMs < untilMs)) return false;
    waitingUntilMs = Math.min(waitingUntilMs ?? untilMs, untilMs);
    return true;
  };

  /** A listing that several want is read as often as the most eager one wants. */
  const want = (
    listing: Listing,
    credential: string,
    account: string,
    parent: Discovered | undefined,
    { intervalMs, isRead }: Demand,
  ): ListingPoll => {
    const { kind, api } = listing;
    const key = listingKey(listing, credential, baseUrlOf(api), parent);
    const known = listings.get(key);
    const readNow = isRead || (known?.isRead ?? false);
    if (known && known.isRead === readNow && known.intervalMs <= intervalMs) return known;
    const poll: ListingPoll = {
      type: 'listing',
      key,
      kind,
      api,
      queue: readNow ? kind : `${kind} listing`,
      credential,
      intervalMs: Math.min(intervalMs, known?.intervalMs ?? intervalMs),
      keyId: keyIdOf(credential),
      listing,
      parent: known?.parent ?? parent,
      account: known?.account ?? account,
      isRead: readNow,
      namesKey: known?.namesKey,
    };
    listings.set(key, poll);
    return poll;
  };

  /** Has a listing take its names from another one. */
  const wantNames = (poll: ListingPoll): ListingPoll => {
    const { listing, account } = poll;
    if (!listing.names || poll.namesKey !== undefined) return poll;
    const names = want(listing.names, account, account, undefined, auxiliary);
    const named = { ...poll, namesKey: names.key };
    listings.set(poll.key, named);
    return named;
  };

  const entriesOf = ({ key, namesKey }: ListingPoll): readonly Discovered[] | undefined => {
    const entries = snapshots.get(key)?.entries;
    if (!entries || namesKey === undefined) return entries;
    if (isAwaited(namesKey)) {
      waiting.add(key);
      return undefined;
    }
    if (!named.has(key)) named.set(key, withNames(entries, snapshots.get(namesKey)?.entries));
    return named.get(key);
  };

  const planSection = (planned: PlannedSection) => {
    const { section, resource, isSelected, isSelectedParent } = planned;
    const { kind, api } = resource;
    const { intervalMs } = section;
    let { settings } = section;
    const isAlone = isReadAlone(resource);
    const partNames = isAlone ? resource.partNames : undefined;
    const feature = isAlone ? resource.feature : undefined;
    const account = section.listingCredential ?? section.credential;
    const baseUrl = baseUrlOf(api);

    /** readBy: the key of the listing that reads it; undefined where it has a poll of its own. */
    const add = (target: PlannedTarget, entry: Discovered, readBy: string | undefined) => {
      if (targets.has(target.key)) return undefined;
      const before = previous.targets.get(target.key);
      // The text and the settings of before, so that they are the same object. All targets of a kind have the same settings.
      const key = before?.key ?? target.key;
      if (before && before.settings !== settings && isDeepStrictEqual(before.settings, settings))
        settings = before.settings;
      let parts: readonly Listed[] | undefined;
      if (partNames) {
        const names = want(partNames, target.credential, account, entry, auxiliary);
        if (isAwaited(names.key) && !before) return undefined;
        parts = snapshots.get(names.key)?.entries ?? before?.parts;
      }
      const { ids, name, listedName, credential, intervalMs, staleAfterMs, keyId, keyName } = target;
      const pollKey = readBy ?? key;
      const after: Target = {
        key,
        kind,
        ids,
        name,
        listedName,
        credential,
        intervalMs,
        staleAfterMs,
        settings,
        baseUrl,
        pollKey,
        parts,
        keyId,
        keyName,
      };
      const kept = before && isSameTarget(before, after) ? before : after;
      targets.set(key, kept);
      return kept;
    };

    const credentialFor = (of: ApiName, foundBy: ListingPoll, { keyName }: Discovered) => {
      if (of === foundBy.api) return foundBy.credential;
      return section.isCredentialNamed ? section.credential : (keyName ?? foundBy.credential);
    };

    const addNamed = (target: TargetConfig) => {
      const { ids, name, credential } = target;
      const key = targetKey(kind, ids);
      if (!owns(key)) return;
      const demand = { intervalMs: target.intervalMs, isRead: true };
      const readBy = isAlone ? undefined : want(resource.listing, credential, credential, undefined, demand);
      add({ ...target, key, keyId: keyIdOf(credential) }, { ids, name }, readBy?.key);
    };

    /** A target of a listing. keyId: undefined for the key that the snapshot was read with. */
    const addListed = (key: string, entry: Discovered, foundBy: ListingPoll, keyId?: string) => {
      const { ids, name, keyName } = entry;
      const override = section.overrides?.get(idText(ids));
      const credential = credentialFor(api, foundBy, entry);
      const isOfListing = credential === foundBy.credential;
      const target = {
        key,
        ids,
        name: override?.name ?? name,
        listedName: name,
        credential,
        intervalMs: override?.intervalMs ?? intervalMs,
        staleAfterMs: override?.staleAfterMs ?? section.staleAfterMs,
        // With another key it is read once that key has listed it: until then it may be of another account.
        keyId: keyId ?? (isOfListing ? snapshots.get(foundBy.key)?.keyId : undefined) ?? keyIdOf(credential),
        keyName: keyName ?? foundBy.parent?.keyName,
      };
      return add(target, entry, isAlone ? undefined : foundBy.key);
    };

    /** Keeps what the previous plan had below a parent, or of the whole account. */
    const keepPrevious = (foundBy: ListingPoll, below: Ids) => {
      for (const target of previousOf(kind)) {
        if (target.baseUrl !== baseUrl) continue;
        if (!Object.entries(below).every(([label, id]) => target.ids[label] === id)) continue;
        const { key, ids, listedName, keyName, keyId } = target;
        const entry = { ids, name: listedName, keyName };
        // The name of a target that was named before is not known yet.
        if (listedName !== undefined && !isSelected(entry)) continue;
        keepsPrevious = true;
        addListed(key, { ...entry, name: listedName ?? target.name }, foundBy, keyId);
      }
    };

    const take = (poll: ListingPoll, entries: readonly Discovered[], basis: readonly unknown[]): Taken => {
      let count = 0;
      const excluded: Listed[] = [];
      const added: Target[] = [];
      for (const entry of entries) {
        if (feature !== undefined && entry.features?.includes(feature) !== true) continue;
        const key = targetKey(kind, entry.ids);
        if (!owns(key)) continue;
        if (!isSelected(entry)) excluded.push(entry);
        else {
          count++;
          const target = addListed(key, entry, poll);
          if (target) added.push(target);
        }
      }
      return { basis, targets: added, selection: { kind, targets: count, excluded } };
    };

    const select: Visit = (poll, entries) => {
      if (!entries) return keepPrevious(poll, poll.parent?.ids ?? {});
      const name = `${kind} ${poll.key}`;
      const basis = [planned, entries, poll.parent, poll.keyId, snapshots.get(poll.key)?.keyId];
      const before = previous.taken.get(name);
      const isSame = before?.basis.every((part, at) => part === basis[at]);
      const now = before && isSame ? before : take(poll, entries, basis);
      if (now === before)
        for (const target of before.targets) if (!targets.has(target.key)) targets.set(target.key, target);
      // Its targets also depend on other keys, on the names of their parts, or on what was there before them.
      if (api === poll.api && !partNames && now.targets.length === now.selection.targets)
        taken.set(name, now);
      const ofListing = selections.get(poll.key) ?? new Map<string, TargetSelection>();
      selections.set(poll.key, ofListing.set(kind, now.selection));
    };

    /** Visits a listing of the account, or one below each selected thing that its parent had. */
    const follow = (listing: Listing, demand: Demand, visit: Visit) => {
      const { parent } = listing;
      if (!parent) {
        const poll = wantNames(want(listing, account, account, undefined, demand));
        return visit(poll, entriesOf(poll));
      }
      follow(parent, auxiliary, (parentPoll, parents) => {
        if (!parents) return keepPrevious(parentPoll, parentPoll.parent?.ids ?? {});
        for (const one of parents.filter(isSelectedParent)) {
          const credential = credentialFor(listing.api, parentPoll, one);
          const poll = want(listing, credential, account, one, demand);
          visit(poll, entriesOf(poll));
        }
      });
    };

    if (section.targets !== 'all') {
      for (const target of section.targets) addNamed(target);
    } else if (isAlone && resource.ofAccount) {
      const { credential, staleAfterMs } = section;
      const ids = Object.fromEntries(resource.ids.map(({ label }) => [label, credential]));
      addNamed({ ids, name: undefined, credential, intervalMs, staleAfterMs });
    } else if (resource.listing) {
      follow(resource.listing, isAlone ? auxiliary : { intervalMs, isRead: true }, select);
    } else throw new Error(`targets of the kind ${kind} cannot be listed`);
  };

  for (const section of input.sections) planSection(section);
  for (const [key, poll] of listings) {
    const before = previous.listings.get(key);
    if (before && isSameListing(before, poll)) listings.set(key, before);
  }
  return {
    listings,
    targets,
    selections: new Map(Array.from(selections, ([key, ofListing]) => [key, [...ofListing.values()]])),
    taken,
    waiting,
    waitingUntilMs,
    keepsPrevious,
  };
}
