/**
 * What is wanted: the listings to poll and the groups of targets, from a configuration and from what the listings have
 * found. Pure functions; who polls, and when, is decided elsewhere.
 */
import type { Config, SectionConfig, TargetConfig } from '../config/config.ts';
import type { Discovered } from '../discovery/discovered.ts';
import { type Selector, selectorOf } from '../discovery/selector.ts';
import {
  type ApiName,
  type Ids,
  isReadAlone,
  type Listed,
  type Listing,
  type ReadResource,
  type Resource,
} from '../resources/resource.ts';
import { atOnce } from '../slices.ts';

/** One thing that a kind is read for. */
export interface Target extends TargetConfig {
  /** Unique among all targets: the kind and the ids. */
  readonly key: string;
  readonly kind: string;
  /** The poll that reads it: its own, or that of a listing. */
  readonly pollKey: string;
  /** Its parts that have a name. */
  readonly parts?: readonly Listed[] | undefined;
  readonly settings: unknown;
  /** Where it is read; values read elsewhere are not its own. */
  readonly baseUrl: string;
}

interface PollBase {
  readonly key: string;
  /** The kind read, or that the listing is named after. */
  readonly kind: string;
  readonly api: ApiName;
  /** Its queue at the pacer of its API. */
  readonly queue: string;
  readonly credential: string;
  readonly intervalMs: number;
}

/** Reads one target. */
export interface ReadPoll extends PollBase {
  readonly type: 'read';
  readonly resource: ReadResource;
  readonly target: Target;
}

/** Asks one listing what there is. */
export interface ListingPoll extends PollBase {
  readonly type: 'listing';
  readonly listing: Listing;
  /** The listing poll that has the names of what this one finds. */
  readonly namesKey: string | undefined;
  /** What of the parent listing it is asked for. */
  readonly parent: Listed | undefined;
  /** The credential that the outermost listing is asked with: whose account it is. */
  readonly account: string;
  /** Whether its readings are wanted: then it is the poll of all the targets that it feeds. */
  readonly isRead: boolean;
}

export type Poll = ReadPoll | ListingPoll;

/** What a target is made of. */
export interface Entry extends Discovered {
  readonly parts?: readonly Listed[] | undefined;
}

/** Targets of one section and one source: the configuration's own list, or one listing. */
export interface Group {
  readonly key: string;
  readonly resource: Resource;
  /** The key of the listing poll that it follows, if it does. */
  readonly listingKey: string | undefined;
  /** Where it is the same, equal entries make equal targets. */
  readonly signature: string;
  readonly entries: readonly Entry[];
  /** Leaves out what the section does not select. */
  readonly selector: Selector | undefined;
  readonly toTarget: (entry: Entry) => Target;
}

export interface Plan {
  readonly groups: readonly Group[];
  readonly listings: ReadonlyMap<string, ListingPoll>;
}

/** What the listings have found so far, by the keys of their polls. */
export interface Discoveries {
  /** What the last complete listing has. */
  get(listingKey: string): readonly Discovered[] | undefined;
  /** Whether names are still expected of it: what is called after them waits for that long. */
  isAwaited(listingKey: string): boolean;
}

/** The ids of a target as one text. */
export function idText(ids: Ids): string {
  let text = '';
  for (const label in ids) text += text === '' ? ids[label] : `/${ids[label]}`;
  return text;
}

export function targetKey(kind: string, ids: Ids): string {
  return `${kind}/${idText(ids)}`;
}

/** The poll of a target that is read alone. */
export function readPollOf(resource: ReadResource, target: Target): ReadPoll {
  const { kind, api } = resource;
  const { key, credential, intervalMs } = target;
  return { type: 'read', key, kind, api, queue: kind, credential, intervalMs, resource, target };
}

/** Another address is another account: a listing is known by its credential, its address and its parent. */
function listingKey(
  listing: Listing,
  credential: string,
  baseUrl: string,
  parent: Listed | undefined,
): string {
  const { kind, nouns } = listing;
  return `${kind} ${nouns}#${credential}@${baseUrl}${parent ? `#${idText(parent.ids)}` : ''}`;
}

/** Entries with what other listings know of them, made anew only where those have changed. */
const completed = new WeakMap<readonly Entry[], { with: readonly unknown[]; entries: readonly Entry[] }>();

function complete(
  entries: readonly Entry[],
  additions: readonly unknown[],
  add: (entry: Entry, index: number) => Entry | undefined,
): readonly Entry[] {
  const known = completed.get(entries);
  if (known?.with.length === additions.length && additions.every((one, i) => one === known.with[i])) {
    return known.entries;
  }
  const made = entries.map(add).filter((entry) => entry !== undefined);
  completed.set(entries, { with: additions, entries: made });
  return made;
}

/** Called after what `namedBy` points to. */
function withNames(entries: readonly Entry[], names: readonly Listed[] | undefined): readonly Entry[] {
  if (!names) return entries;
  return complete(entries, [names], addNames(names));
}

function addNames(names: readonly Listed[]): (entry: Entry) => Entry {
  let byId: Map<string, string | undefined> | undefined;
  return (entry) => {
    byId ??= new Map(names.map(({ ids, name }) => [idText(ids), name]));
    const name = entry.namedBy === undefined ? undefined : byId.get(entry.namedBy);
    return name === undefined || entry.name !== undefined ? entry : { ...entry, name };
  };
}

const featured = new WeakMap<readonly Entry[], Map<string, readonly Entry[]>>();

/** The entries with a feature; the very array of before where the entries are. */
function withFeature(entries: readonly Entry[], feature: string): readonly Entry[] {
  const known = featured.get(entries) ?? new Map<string, readonly Entry[]>();
  const having = known.get(feature) ?? entries.filter(({ features }) => features?.includes(feature));
  featured.set(entries, known.set(feature, having));
  return having;
}

/** Stands for names that are being asked for. */
const notYet: readonly Listed[] = [];

class Planner {
  readonly listings = new Map<string, ListingPoll>();
  readonly groups: Group[] = [];
  readonly #config: Config;
  readonly #resources: readonly Resource[];
  readonly #discovered: Discoveries;
  readonly #owns: (key: string) => boolean;

  constructor(
    config: Config,
    resources: readonly Resource[],
    discovered: Discoveries,
    owns: (key: string) => boolean,
  ) {
    this.#config = config;
    this.#resources = resources;
    this.#discovered = discovered;
    this.#owns = owns;
  }

  *steps(): Generator<void, Plan> {
    for (const section of this.#config.sections) yield* this.#planSection(section);
    return this;
  }

  *#planSection(section: SectionConfig): Generator<void> {
    const resource = this.#resources.find(({ kind }) => kind === section.kind);
    if (!resource) throw new Error(`no resource of the kind ${section.kind}`);
    if (section.targets !== 'all') yield* this.#planNamed(resource, section, section.targets);
    else if (isReadAlone(resource) && resource.ofAccount) yield* this.#planAccount(resource, section);
    else yield* this.#planListed(resource, section);
  }

  *#planListed(resource: Resource, section: SectionConfig): Generator<void> {
    const { listing } = resource;
    if (!listing) throw new Error(`targets of the kind ${resource.kind} cannot be listed`);
    const intervalMs = isReadAlone(resource) ? undefined : section.intervalMs;
    const feature = isReadAlone(resource) ? resource.feature : undefined;
    for (const poll of this.#pollsOf(section, listing, intervalMs)) {
      const found = this.#entriesOf(poll);
      const entries = found && feature !== undefined ? withFeature(found, feature) : found;
      if (entries) this.groups.push(yield* this.#listedGroup(resource, section, poll, entries));
      yield;
    }
  }

  /** Every poll of a listing for a section: one, or one for each selected thing that its parent has found. */
  *#pollsOf(
    section: SectionConfig,
    listing: Listing,
    intervalMs: number | undefined,
  ): Generator<ListingPoll> {
    const account = section.listingCredential ?? section.credential;
    if (!listing.parent) {
      const poll = this.#want(listing, account, undefined, account, intervalMs);
      const names = listing.names && this.#want(listing.names, account, undefined, account, undefined);
      const named = { ...poll, namesKey: names?.key };
      this.listings.set(poll.key, named);
      yield named;
      return;
    }
    const selector = section.parents && selectorOf(section.parents);
    for (const poll of this.#pollsOf(section, listing.parent, undefined)) {
      for (const parent of this.#entriesOf(poll) ?? []) {
        if (selector && !selector.selects(parent)) continue;
        yield this.#want(
          listing,
          credentialOf(section, listing.api, poll, parent),
          parent,
          account,
          intervalMs,
        );
      }
    }
  }

  /** intervalMs: undefined where nobody reads the answers, and only what exists is of interest. */
  #want(
    listing: Listing,
    credential: string,
    parent: Entry | undefined,
    account: string,
    intervalMs: number | undefined,
  ): ListingPoll {
    const { kind, api } = listing;
    const key = listingKey(listing, credential, this.#config.apis[api].baseUrl, parent);
    const known = this.listings.get(key);
    const wantedMs = intervalMs ?? this.#config.discovery.intervalMs;
    const isRead = intervalMs !== undefined || known?.isRead === true;
    const poll: ListingPoll = {
      type: 'listing',
      key,
      kind,
      api,
      queue: isRead ? kind : `${kind} listing`,
      credential,
      // What wants it most often has its way.
      intervalMs: Math.min(wantedMs, known?.intervalMs ?? wantedMs),
      listing,
      namesKey: known?.namesKey,
      parent,
      account,
      isRead,
    };
    this.listings.set(key, poll);
    return poll;
  }

  /** What a listing has found, with the names that another listing has. */
  #entriesOf(poll: ListingPoll): readonly Entry[] | undefined {
    const { key, namesKey } = poll;
    const entries = this.#discovered.get(key);
    if (!entries || namesKey === undefined) return entries;
    return this.#discovered.isAwaited(namesKey)
      ? undefined
      : withNames(entries, this.#discovered.get(namesKey));
  }

  *#listedGroup(
    resource: Resource,
    section: SectionConfig,
    poll: ListingPoll,
    found: readonly Entry[],
  ): Generator<void, Group> {
    const { kind, api } = resource;
    const { settings, intervalMs, staleAfterMs, overrides } = section;
    const { baseUrl } = this.#config.apis[api];
    const ownKey = isReadAlone(resource) ? undefined : poll.key;
    return {
      key: `${kind}<${poll.key}`,
      resource,
      listingKey: poll.key,
      signature: signatureOf(section, baseUrl, poll.credential),
      entries: yield* this.#withParts(resource, section, found, (entry) =>
        credentialOf(section, api, poll, entry),
      ),
      selector: section.selection && selectorOf(section.selection),
      toTarget(entry) {
        const { ids, name, parts } = entry;
        const key = targetKey(kind, ids);
        const override = overrides?.get(idText(ids));
        const ownIntervalMs = override?.intervalMs ?? intervalMs;
        return {
          key,
          kind,
          ids,
          name: override?.name ?? name,
          parts,
          credential: credentialOf(section, api, poll, entry),
          intervalMs: ownIntervalMs,
          staleAfterMs: override?.staleAfterMs ?? staleAfterMs,
          settings,
          baseUrl,
          pollKey: ownKey ?? key,
        };
      },
    };
  }

  *#planNamed(resource: Resource, section: SectionConfig, targets: readonly TargetConfig[]): Generator<void> {
    const { kind, api } = resource;
    const { settings } = section;
    const { baseUrl } = this.#config.apis[api];
    const isAlone = isReadAlone(resource);
    const ownedOnly = (of: TargetConfig) => this.#owns(targetKey(kind, of.ids));
    for (const of of isAlone ? [] : targets.filter(ownedOnly)) {
      this.#want(resource.listing as Listing, of.credential, undefined, of.credential, of.intervalMs);
    }
    const pollKeyOf = (credential: string) =>
      isAlone ? undefined : listingKey(resource.listing, credential, baseUrl, undefined);
    this.groups.push({
      key: kind,
      resource,
      listingKey: undefined,
      signature: signatureOf(section, baseUrl, ''),
      entries: yield* this.#withParts(
        resource,
        section,
        targets,
        (entry) => (entry as TargetConfig).credential,
      ),
      selector: undefined,
      toTarget(entry) {
        const of = entry as TargetConfig & Entry;
        const key = targetKey(kind, of.ids);
        return { ...of, key, kind, settings, baseUrl, pollKey: pollKeyOf(of.credential) ?? key };
      },
    });
  }

  /** The one target of a credential's account. */
  *#planAccount(resource: ReadResource, section: SectionConfig): Generator<void> {
    const { kind, ids } = resource;
    const { credential, intervalMs, staleAfterMs } = section;
    const [account] = ids;
    if (!account) throw new Error(`the kind ${kind} has no label for the account`);
    const target = {
      ids: { [account.label]: credential },
      name: undefined,
      credential,
      intervalMs,
      staleAfterMs,
    };
    yield* this.#planNamed(resource, section, [target]);
  }

  /** Where the parts of a target have names, their listing is polled for each target. */
  *#withParts(
    resource: Resource,
    section: SectionConfig,
    entries: readonly Entry[],
    credentialFor: (entry: Entry) => string,
  ): Generator<void, readonly Entry[]> {
    const listing = isReadAlone(resource) ? resource.partNames : undefined;
    if (!listing) return entries;
    const account = section.listingCredential ?? section.credential;
    const parts: (readonly Listed[] | undefined)[] = [];
    for (const entry of entries) {
      yield;
      if (!this.#owns(targetKey(resource.kind, entry.ids))) {
        parts.push(notYet);
        continue;
      }
      const { key } = this.#want(listing, credentialFor(entry), entry, account, undefined);
      parts.push(this.#discovered.isAwaited(key) ? notYet : this.#discovered.get(key));
    }
    return complete(entries, parts, (entry, i) =>
      parts[i] === notYet ? undefined : { ...entry, parts: parts[i] },
    );
  }
}

/** The credential named in the configuration, else the key that was found with the thing, else that of the listing. */
function credentialOf(section: SectionConfig, api: ApiName, poll: ListingPoll, entry: Entry): string {
  if (api === poll.api) return poll.credential;
  return section.isCredentialNamed ? section.credential : (entry.keyName ?? poll.credential);
}

const signatures = new WeakMap<SectionConfig, Map<string, string>>();

function signatureOf(section: SectionConfig, baseUrl: string, credential: string): string {
  const known = signatures.get(section) ?? new Map<string, string>();
  signatures.set(section, known);
  const of = `${credential}@${baseUrl}`;
  const signature = known.get(of) ?? makeSignature(section, baseUrl, credential);
  known.set(of, signature);
  return signature;
}

function makeSignature(section: SectionConfig, baseUrl: string, credential: string): string {
  const { settings, intervalMs, staleAfterMs, isCredentialNamed, selection, overrides } = section;
  const own = section.targets === 'all' ? [intervalMs, staleAfterMs, isCredentialNamed, credential] : [];
  return JSON.stringify([baseUrl, settings, own, selection, overrides && [...overrides]]);
}

/**
 * The plan in steps, for an account with many listings.
 *
 * @param owns whether the target of a key belongs to this process (sharding)
 */
export function planInSteps(
  config: Config,
  resources: readonly Resource[],
  discovered: Discoveries,
  owns: (key: string) => boolean,
): Generator<void, Plan> {
  return new Planner(config, resources, discovered, owns).steps();
}

/** The same at once. */
export function plan(...args: Parameters<typeof planInSteps>): Plan {
  return atOnce(planInSteps(...args));
}
