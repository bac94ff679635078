/**
 * What is wanted: the listings to poll and the groups of targets, from a configuration and from what the listings have
 * found. Pure functions; who polls, and when, is decided elsewhere.
 */
import type { Config, SectionConfig, TargetConfig } from '../config/config.ts';
import {
  type ApiName,
  type Ids,
  isReadAlone,
  type Listed,
  type Listing,
  type ReadResource,
  type Resource,
} from '../resources/resource.ts';

/** One thing that a kind is read for. */
export interface Target extends TargetConfig {
  /** Unique among all targets: the kind and the ids. */
  readonly key: string;
  readonly kind: string;
  /** The poll that reads it: its own, or that of a listing. */
  readonly pollKey: string;
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
  /** What of the parent listing it is asked for. */
  readonly parent: Listed | undefined;
  /** Whether its readings are wanted: then it is the poll of all the targets that it feeds. */
  readonly isRead: boolean;
}

export type Poll = ReadPoll | ListingPoll;

/** Targets of one section and one source: the configuration's own list, or one listing. */
export interface Group {
  readonly key: string;
  readonly resource: Resource;
  /** Where it is the same, equal entries make equal targets. */
  readonly signature: string;
  readonly entries: readonly Listed[];
  toTarget(entry: Listed): Target;
}

export interface Plan {
  readonly groups: readonly Group[];
  readonly listings: ReadonlyMap<string, ListingPoll>;
}

/** What complete listings have found, by the key of their poll. */
export type Discovered = ReadonlyMap<string, readonly Listed[]>;

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
  { kind }: Listing,
  credential: string,
  baseUrl: string,
  parent: Listed | undefined,
): string {
  return `${kind}#${credential}@${baseUrl}${parent ? `#${idText(parent.ids)}` : ''}`;
}

/** The listing polls that are wanted so far; what wants one more often has its way. */
class ListingPolls {
  readonly polls = new Map<string, ListingPoll>();
  readonly #config: Config;
  readonly #resources: readonly Resource[];

  constructor(config: Config, resources: readonly Resource[]) {
    this.#config = config;
    this.#resources = resources;
  }

  /** intervalMs: undefined where nobody reads the answers, and only what exists is of interest. */
  want(
    listing: Listing,
    credential: string,
    parent: Listed | undefined,
    intervalMs: number | undefined,
  ): ListingPoll {
    const { kind, api } = listing;
    const key = listingKey(listing, credential, this.#config.apis[api].baseUrl, parent);
    const known = this.polls.get(key);
    const wantedMs = intervalMs ?? this.#defaultIntervalMs(kind);
    const isRead = intervalMs !== undefined || known?.isRead === true;
    const poll: ListingPoll = {
      type: 'listing',
      key,
      kind,
      api,
      queue: isRead ? kind : `${kind} listing`,
      credential,
      // What is read sets the pace; a longer interval of others is served by it too.
      intervalMs: Math.min(wantedMs, known?.intervalMs ?? wantedMs),
      listing,
      parent,
      isRead,
    };
    this.polls.set(key, poll);
    return poll;
  }

  #defaultIntervalMs(kind: string): number {
    const resource = this.#resources.find((one) => one.kind === kind);
    return (resource?.defaultIntervalSeconds ?? 600) * 1000;
  }
}

/** Every poll of a listing for a credential: one, or one for each thing that its parent has found. */
function* pollsOf(
  polls: ListingPolls,
  listing: Listing,
  credential: string,
  intervalMs: number | undefined,
  discovered: Discovered,
): Generator<ListingPoll> {
  if (!listing.parent) {
    yield polls.want(listing, credential, undefined, intervalMs);
    return;
  }
  for (const { key } of pollsOf(polls, listing.parent, credential, undefined, discovered)) {
    for (const parent of discovered.get(key) ?? []) yield polls.want(listing, credential, parent, intervalMs);
  }
}

function listedGroup(
  config: Config,
  resource: Resource,
  section: SectionConfig,
  entries: readonly Listed[],
  poll: ListingPoll,
): Group {
  const { kind, api } = resource;
  const { settings, intervalMs, staleAfterMs } = section;
  const { credential } = poll;
  const { baseUrl } = config.apis[api];
  const ownKey = isReadAlone(resource) ? undefined : poll.key;
  return {
    key: `${kind}<${poll.key}`,
    resource,
    signature: JSON.stringify([baseUrl, settings, credential, intervalMs, staleAfterMs]),
    entries,
    toTarget({ ids, name }) {
      const key = targetKey(kind, ids);
      return {
        key,
        kind,
        ids,
        name,
        credential,
        intervalMs,
        staleAfterMs,
        settings,
        baseUrl,
        pollKey: ownKey ?? key,
      };
    },
  };
}

function namedGroup(
  config: Config,
  resource: Resource,
  section: SectionConfig,
  entries: readonly TargetConfig[],
): Group {
  const { kind, api } = resource;
  const { settings } = section;
  const { baseUrl } = config.apis[api];
  const pollKeyOf = (credential: string) =>
    isReadAlone(resource) ? undefined : listingKey(resource.listing, credential, baseUrl, undefined);
  return {
    key: kind,
    resource,
    signature: JSON.stringify([baseUrl, settings]),
    entries,
    toTarget(entry) {
      const of = entry as TargetConfig;
      const key = targetKey(kind, of.ids);
      return { ...of, key, kind, settings, baseUrl, pollKey: pollKeyOf(of.credential) ?? key };
    },
  };
}

/** @param owns whether the target of a key belongs to this process (sharding) */
export function plan(
  config: Config,
  resources: readonly Resource[],
  discovered: Discovered,
  owns: (key: string) => boolean,
): Plan {
  const polls = new ListingPolls(config, resources);
  const groups: Group[] = [];
  for (const section of config.sections) {
    const resource = resources.find(({ kind }) => kind === section.kind);
    if (!resource) throw new Error(`no resource of the kind ${section.kind}`);
    const isAlone = isReadAlone(resource);
    if (section.targets !== 'all') {
      groups.push(namedGroup(config, resource, section, section.targets));
      if (isAlone) continue;
      for (const { ids, credential, intervalMs } of section.targets) {
        if (owns(targetKey(resource.kind, ids)))
          polls.want(resource.listing, credential, undefined, intervalMs);
      }
      continue;
    }
    const { listing } = resource;
    if (!listing) throw new Error(`targets of the kind ${resource.kind} cannot be listed`);
    const intervalMs = isAlone ? undefined : section.intervalMs;
    for (const poll of pollsOf(polls, listing, section.credential, intervalMs, discovered)) {
      const entries = discovered.get(poll.key);
      if (entries) groups.push(listedGroup(config, resource, section, entries, poll));
    }
  }
  return { groups, listings: polls.polls };
}

/** A configuration less the named targets of other shards; what `all` stands for is not known yet. */
export function ownConfig(config: Config, owns: (key: string) => boolean): Config {
  const sections = config.sections.map((section) =>
    section.targets === 'all'
      ? section
      : { ...section, targets: section.targets.filter(({ ids }) => owns(targetKey(section.kind, ids))) },
  );
  return { ...config, sections };
}
