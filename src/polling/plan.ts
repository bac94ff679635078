/**
 * What to poll, as a function: the configuration and what the listings had go in, the specs of listings and targets come out.
 *
 * - A section that names its targets has these. `targets: all` has what its listing had; a listing with a parent is read below
 *   each selected thing that the parent had.
 * - If two accounts have the same target, it is that of the first in their order, unless it was another's before that still has it.
 * - Where a listing was never complete, the targets of its account that were there before stay, with what the section says now.
 * - Names that come from another listing are those that it had, if any.
 * - What is left out of every kind has no targets, and nothing below it is listed. Where a name decides that, there are no targets
 *   before the name is known.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Config, SectionConfig, TargetConfig } from '../config/config.ts';
import { type IsLeftOut, leftOutOf, selectorOf } from '../config/selector.ts';
import {
  type ApiName,
  type Ids,
  idText,
  isReadAlone,
  type Listed,
  type Listing,
  type Resource,
} from '../resources/resource.ts';
import { fullKeyNameOf, keyNameOf, parentOf, type SnapshotEntry, withNames } from './listed-things.ts';
import { type ListingSpec, listingKey, type Target, targetKey } from './spec.ts';
import type { Snapshot } from './task.ts';

/** A section with its patterns compiled. */
export interface PlannedSection {
  readonly section: SectionConfig;
  readonly resource: Resource;
  /** Those of the section; the same object as before if they are the same. */
  readonly settings: unknown;
  readonly isSelected: (entry: Listed) => boolean;
  readonly isSelectedParent: (entry: Listed) => boolean;
}

/** What a configuration wants to be polled, see {@link wantedBy}. */
export interface Wanted {
  readonly config: Config;
  readonly sections: readonly PlannedSection[];
  /** Which things of an account are left out of every kind; undefined if none is. */
  readonly isLeftOut: IsLeftOut | undefined;
}

export interface PlanInput extends Wanted {
  /** An id for the current key of a credential. */
  readonly keyIdOf: (credential: string) => string;
  /** What a listing had, by its key; undefined before its first run. */
  readonly snapshotOf: (listing: string) => Snapshot | undefined;
  /** Whether that is all that it has, as far as is known. */
  readonly isComplete: (listing: string) => boolean;
  /** The targets that are polled now, by key. */
  readonly before: { get(key: string): Target | undefined; values(): Iterable<Target> };
}

/** What a section selected from a listing. */
export interface TargetSelection {
  readonly kind: string;
  readonly targets: number;
  readonly excluded: readonly Listed[];
}

export interface Plan {
  /** By key; a listing precedes those below it. */
  readonly listings: ReadonlyMap<string, ListingSpec>;
  /** By key, in the order of the configuration. */
  readonly targets: ReadonlyMap<string, Target>;
  /** By the key of the listing: one for each kind that selects from it. */
  readonly selections: ReadonlyMap<string, readonly TargetSelection[]>;
  /** By the key of the listing: the things that are left out because what they are called after was deleted. */
  readonly orphans: ReadonlyMap<string, readonly Listed[]>;
  /** What two accounts have: whose it is, whose it is not, and how many of each kind. */
  readonly shared: readonly SharedTargets[];
}

/** Targets of one account that another one lists, too. */
export interface SharedTargets {
  /** The account that has them here. */
  readonly account: string;
  readonly other: string;
  readonly keys: readonly string[];
}

/** Compiles the patterns of a configuration. before: what was wanted until now. Throws if a kind does not exist. */
export function wantedBy(config: Config, resources: readonly Resource[], before?: Wanted): Wanted {
  const sections = config.sections.map((section) => {
    const resource = resources.find(({ kind }) => kind === section.kind);
    if (!resource) throw new Error(`no resource of the kind ${section.kind}`);
    const [isSelected, isSelectedParent] = [selectorOf(section.selection), selectorOf(section.parents)];
    const known = before?.sections.find((one) => one.resource === resource)?.settings;
    const settings = isDeepStrictEqual(known, section.settings) ? known : section.settings;
    return { section, resource, settings, isSelected, isSelectedParent };
  });
  return { config, sections, isLeftOut: leftOutOf(config.discovery.exclude) };
}

/** What a section wants of a listing: how often it is read, and whether targets get their readings from it. */
interface Demand {
  readonly intervalMs: number;
  readonly isRead: boolean;
  readonly afterKey?: string | undefined;
}

/** A listing, and what it had, as far as it was read; undefined where nothing is known yet. */
type Visited = readonly [spec: ListingSpec, entries: readonly SnapshotEntry[] | undefined];

export function plan(input: PlanInput): Plan {
  const steps = planning(input);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Plans step by step, at most a listing at a time: thousands of targets take their time. */
export function* planning(input: PlanInput): Generator<undefined, Plan> {
  const { config, isLeftOut, keyIdOf, snapshotOf, isComplete, before } = input;
  const listings = new Map<string, ListingSpec>();
  const targets = new Map<string, Target>();
  const selections = new Map<string, TargetSelection[]>();
  const shared = new Map<string, { account: string; other: string; keys: string[] }>();
  const orphans = new Map<string, readonly SnapshotEntry[]>();

  const noteShared = (key: string, account: string, other: string) => {
    const pair = `${account} ${other}`;
    const known = shared.get(pair);
    if (known) known.keys.push(key);
    else shared.set(pair, { account, other, keys: [key] });
  };

  /** The demand for listings that only find things or have names. */
  const auxiliary: Demand = { intervalMs: config.discovery.intervalMs, isRead: false };
  const baseUrlOf = (api: ApiName) => config.apis[api].baseUrl;

  /** A listing that several want is read as often as the most eager one wants. */
  const addListing = (
    listing: Listing,
    credential: string,
    account: string,
    parent: SnapshotEntry | undefined,
    { intervalMs, isRead, afterKey }: Demand,
  ): ListingSpec => {
    const { kind, api } = listing;
    const key = listingKey(listing, credential, baseUrlOf(api), parent);
    const known = listings.get(key);
    const feeds = isRead || (known?.isRead ?? false);
    const isFollowed = known !== undefined && (known.afterKey !== undefined || afterKey === undefined);
    if (isFollowed && known.isRead === feeds && known.intervalMs <= intervalMs) return known;
    const spec: ListingSpec = {
      type: 'listing',
      key,
      kind,
      api,
      credential,
      intervalMs: Math.min(intervalMs, known?.intervalMs ?? intervalMs),
      keyId: keyIdOf(credential),
      listing,
      baseUrl: baseUrlOf(api),
      parent: known?.parent ?? parent,
      account: known?.account ?? account,
      isRead: feeds,
      namesKey: known?.namesKey,
      afterKey: known?.afterKey ?? afterKey,
    };
    listings.set(key, spec);
    return spec;
  };

  /** Has a listing take its names from another one. */
  const addNames = (spec: ListingSpec): ListingSpec => {
    const { listing, account, namesKey } = spec;
    if (!listing.names || namesKey !== undefined) return spec;
    const names = addListing(listing.names, account, account, undefined, auxiliary);
    const named = { ...spec, namesKey: names.key };
    listings.set(spec.key, named);
    return named;
  };

  /** Several kinds select from one listing. */
  const named = new Map<string, readonly SnapshotEntry[]>();

  /** What a listing had; undefined before it, and what decides which of it is left out, were read. */
  const entriesOf = ({ key, namesKey }: ListingSpec): readonly SnapshotEntry[] | undefined => {
    const entries = snapshotOf(key)?.entries;
    if (!entries || namesKey === undefined) return entries;
    const names = snapshotOf(namesKey)?.entries;
    if (isLeftOut && !names) return undefined;
    const known = named.get(key);
    if (known) return known;
    const all = withNames(entries, names);
    // Whether what has no name yet is left out is not known.
    const isKnown = ({ namedBy, name }: SnapshotEntry) => namedBy === undefined || name !== undefined;
    const some = isLeftOut && !isComplete(namesKey) ? all.filter(isKnown) : all;
    named.set(key, some);
    return some;
  };

  /** Whether something of a listing of the account is left out of every kind: itself, or the thing that it is about. */
  const isOut = ({ listing }: Pick<ListingSpec, 'listing'>, { ids, namedBy, name }: Listed): boolean => {
    // What is below a thing is not listed.
    if (!isLeftOut || listing.parent) return false;
    const [field] = (listing.names ?? listing).ids ?? [];
    const id = listing.names ? namedBy : field && ids[field.label];
    return field !== undefined && id !== undefined && isLeftOut(field.label, id, name);
  };

  /** Whether the configuration keeps things whose names were deleted. */
  const keepsOrphans = (listing: Listing) =>
    input.sections.some(
      ({ settings, resource }) =>
        !isReadAlone(resource) &&
        resource.listing === listing &&
        (settings as { readonly orphans?: string } | undefined)?.orphans === 'keep',
    );

  /** The things of a listing that are left out because what they are called after was deleted. */
  const orphansOf = ({ key, namesKey, listing }: ListingSpec): readonly SnapshotEntry[] => {
    const known = orphans.get(key);
    if (known || !listing.hasOrphans) return known ?? [];
    const runs = (namesKey === undefined ? undefined : snapshotOf(namesKey)?.runs) ?? [];
    const lists = runs.map(({ beganMs, entries }) => ({
      beganMs,
      ids: new Set(entries.map(({ ids }) => idText(ids))),
    }));
    const isOrphan = ({ namedBy, listedMs, isDeleted }: SnapshotEntry) =>
      isDeleted === true ||
      (namedBy !== undefined &&
        listedMs !== undefined &&
        lists.length > 1 &&
        lists.every(({ beganMs, ids }) => beganMs > listedMs && !ids.has(namedBy)));
    const found = keepsOrphans(listing) ? [] : (snapshotOf(key)?.entries.filter(isOrphan) ?? []);
    orphans.set(key, found);
    return found;
  };

  /** Whether a thing of a listing is an orphan. Mostly there are none, and then no id is needed. */
  const isOrphanOf = (spec: ListingSpec) => {
    const ids = new Set(orphansOf(spec).map((one) => idText(one.ids)));
    return (one: Listed) => ids.size > 0 && ids.has(idText(one.ids));
  };

  function* planSection({
    section,
    resource,
    settings,
    isSelected,
    isSelectedParent,
  }: PlannedSection): Generator<undefined> {
    const { kind, api } = resource;
    const { intervalMs } = section;
    const isAlone = isReadAlone(resource);
    const partNames = isAlone ? resource.partNames : undefined;
    const feature = isAlone ? resource.feature : undefined;
    const needsFullKey = isAlone && resource.needsFullKey === true;
    const baseUrl = baseUrlOf(api);

    const add = (target: Target, entry: SnapshotEntry) => {
      const { key, account, credential } = target;
      const known = targets.get(key);
      if (known && known.account === account) return;
      // What was another account's before stays there as long as that one has it.
      const isKept = known !== undefined && before.get(key)?.account === account;
      if (known) noteShared(key, isKept ? account : known.account, isKept ? known.account : account);
      if (known && !isKept) return;
      if (!partNames) {
        targets.set(key, target);
        return;
      }
      const names = addListing(partNames, credential, account, entry, auxiliary);
      const parts = snapshotOf(names.key)?.entries ?? before.get(key)?.parts;
      targets.set(key, { ...target, namesKey: names.key, parts });
    };

    /** What has a key of its own is read with that, or not at all: never with the key that listed it. */
    const credentialFor = (of: ApiName, foundBy: ListingSpec, entry: SnapshotEntry, needsFullKey = false) => {
      const { api: listedAt, listing, parent } = foundBy;
      const isListedThere = of === listedAt;
      if (!isListedThere && section.libraryCredential !== undefined) return section.libraryCredential;
      const keyed = listing.hasOwnKeys ? listing : listing.parent;
      const { hasReadOnlyKey } = keyed === listing ? entry : (parent ?? {});
      const needsOther = needsFullKey && hasReadOnlyKey;
      // Mostly no name is needed: to make 5,000 of them is a tenth of a plan.
      if (!keyed?.hasOwnKeys || (isListedThere && !needsOther)) return foundBy.credential;
      const keyName = keyNameOf(keyed, entry.ids);
      const credential = isListedThere ? foundBy.credential : keyName;
      return needsOther && credential === keyName ? fullKeyNameOf(keyName) : credential;
    };

    const addNamed = (target: TargetConfig) => {
      const { ids, name, credential, account, intervalMs: everyMs } = target;
      const key = targetKey(kind, ids);
      let fedBy: string | undefined;
      if (!isAlone) {
        const { listing, readBy = listing } = resource;
        const demand = { intervalMs: everyMs, isRead: true };
        fedBy = addListing(readBy, credential, account, parentOf(readBy, ids), demand).key;
      }
      const keyId = keyIdOf(credential);
      add(
        {
          ...target,
          type: 'target',
          kind,
          api,
          resource,
          settings,
          baseUrl,
          key,
          keyId,
          fedBy,
          namesKey: undefined,
        },
        { ids, name },
      );
    };

    /** A target of a listing, or one that was there before: then it has its key id and its name until it is listed. */
    const addListed = (
      key: string,
      entry: SnapshotEntry,
      foundBy: ListingSpec,
      before?: Pick<Target, 'keyId' | 'name'>,
    ) => {
      const { ids, name } = entry;
      const override = section.overrides?.get(idText(ids));
      const credential = credentialFor(api, foundBy, entry, needsFullKey);
      const isOfListing = credential === foundBy.credential;
      const everyMs = override?.intervalMs ?? intervalMs;
      add(
        // Without a spread: that takes five times as long, which 5,000 targets would feel.
        {
          type: 'target',
          key,
          kind,
          api,
          credential,
          intervalMs: everyMs,
          // With another key it is read once that key has listed it: until then it may be of another account.
          keyId:
            before?.keyId ??
            (isOfListing ? snapshotOf(foundBy.key)?.keyId : undefined) ??
            keyIdOf(credential),
          resource,
          ids,
          name: override?.name ?? name ?? before?.name,
          listedName: name,
          account: foundBy.account,
          staleAfterMs: override?.staleAfterMs ?? section.staleAfterMs,
          settings,
          baseUrl,
          fedBy: isAlone ? undefined : feederOf(credential, everyMs, entry, foundBy),
          namesKey: undefined,
          parts: undefined,
        },
        entry,
      );
    };

    /** The key of the listing that reads a target. */
    const feederOf = (credential: string, everyMs: number, entry: SnapshotEntry, foundBy: ListingSpec) => {
      if (isAlone || !resource.readBy) return foundBy.key;
      const demand = { intervalMs: everyMs, isRead: true };
      return addListing(resource.readBy, credential, foundBy.account, entry, demand).key;
    };

    /** Whether another listing than its own decides what is left out: then nothing is known of what was there before. */
    const isAboutThing = resource.listing?.parent !== undefined || resource.listing?.names !== undefined;
    let known: readonly Target[] | undefined;
    /** Keeps what was there below a parent, or of the whole account, and is not listed. */
    const keepBefore = (foundBy: ListingSpec, below: Ids, isListed?: (ids: Ids) => boolean) => {
      known ??= [...before.values()].filter((one) => one.kind === kind && one.baseUrl === baseUrl);
      for (const target of known) {
        if (target.account !== foundBy.account) continue;
        if (!Object.entries(below).every(([label, id]) => target.ids[label] === id)) continue;
        const { key, ids, listedName } = target;
        if (isListed?.(ids)) continue;
        const entry = { ids, name: listedName };
        // The name of a target that was named before is not known yet.
        if (listedName !== undefined && !isSelected(entry)) continue;
        if (isLeftOut && (isAboutThing || listedName === undefined || isOut(foundBy, entry))) continue;
        addListed(key, entry, foundBy, target);
      }
    };

    const select = ([spec, entries]: Visited) => {
      if (!entries) return keepBefore(spec, spec.parent?.ids ?? {});
      let count = 0;
      const excluded: Listed[] = [];
      const isOrphan = isOrphanOf(spec);
      for (const entry of entries) {
        if (isOrphan(entry)) continue;
        if (feature !== undefined && entry.features?.includes(feature) !== true) continue;
        const key = targetKey(kind, entry.ids);
        if (isSelected(entry) && !isOut(spec, entry)) {
          count++;
          addListed(key, entry, spec);
        } else excluded.push(entry);
      }
      if (!isComplete(spec.key)) {
        const listed = new Set(entries.map(({ ids }) => idText(ids)));
        keepBefore(spec, spec.parent?.ids ?? {}, (ids) => listed.has(idText(ids)));
      }
      const ofListing = selections.get(spec.key) ?? [];
      selections.set(spec.key, [...ofListing, { kind, targets: count, excluded }]);
    };

    /** A listing of the account, or one below each selected thing that its parent had. */
    function* walk(account: string, listing: Listing, demand: Demand): Generator<Visited> {
      const { parent } = listing;
      if (!parent) {
        const previous = section.accounts[section.accounts.indexOf(account) - 1];
        const afterKey =
          previous === undefined
            ? undefined
            : listingKey(listing, previous, baseUrlOf(listing.api), undefined);
        const spec = addNames(addListing(listing, account, account, undefined, { ...demand, afterKey }));
        yield [spec, entriesOf(spec)];
        return;
      }
      for (const [parentSpec, parents] of walk(account, parent, auxiliary)) {
        if (!parents) {
          keepBefore(parentSpec, parentSpec.parent?.ids ?? {});
          continue;
        }
        const isOrphan = isOrphanOf(parentSpec);
        // Its next run may end between two steps.
        const isWhole = isComplete(parentSpec.key);
        for (const one of parents) {
          if (!isSelectedParent(one) || isOut(parentSpec, one) || isOrphan(one)) continue;
          const credential = credentialFor(listing.api, parentSpec, one);
          const spec = addListing(listing, credential, account, one, demand);
          yield [spec, entriesOf(spec)];
        }
        if (isWhole) continue;
        const listed = new Set(parents.map(({ ids }) => idText(ids)));
        keepBefore(parentSpec, parentSpec.parent?.ids ?? {}, (ids) =>
          listed.has(idText(parentOf(listing, ids)?.ids ?? {})),
        );
      }
    }

    const demand = isAlone || resource.readBy ? auxiliary : { intervalMs, isRead: true };
    if (section.targets !== 'all') {
      for (const target of section.targets) addNamed(target);
    } else if (isAlone && resource.ofAccount) {
      const { staleAfterMs } = section;
      for (const account of section.accounts) {
        const ids = Object.fromEntries(resource.ids.map(({ label }) => [label, account]));
        addNamed({ ids, name: undefined, credential: account, account, intervalMs, staleAfterMs });
      }
    } else if (resource.listing) {
      for (const account of section.accounts)
        for (const visited of walk(account, resource.listing, demand)) {
          select(visited);
          yield;
        }
    } else throw new Error(`targets of the kind ${kind} cannot be listed`);
  }

  for (const section of input.sections) yield* planSection(section);
  return { listings, targets, selections, orphans, shared: [...shared.values()] };
}
