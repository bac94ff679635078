/**
 * What is wanted: the targets and the polls that follow from a configuration and from what the listings have shown. Pure
 * functions; who polls, and when, is decided elsewhere.
 */
import type { Config, SectionConfig, TargetConfig } from '../config/config.ts';
import type { Ids, ListingResource, Resource } from '../resources/resource.ts';

/** One thing that a resource is read for. */
export interface Target extends TargetConfig {
  /** Unique among all targets: the kind and the ids. */
  readonly key: string;
  readonly kind: string;
  /** The poll that reads it. */
  readonly pollKey: string;
  readonly settings: unknown;
  /** Where it is read; values read elsewhere are not its own. */
  readonly baseUrl: string;
}

/** One thing to ask the API regularly; a listing feeds many targets, any other poll one. */
export interface Poll {
  readonly key: string;
  readonly kind: string;
  readonly resource: Resource;
  readonly credential: string;
  readonly intervalMs: number;
  readonly targets: readonly Target[];
}

export interface Plan {
  readonly targets: ReadonlyMap<string, Target>;
  readonly polls: readonly Poll[];
}

/** The ids that complete listings have shown, by credential. */
export type Listings = ReadonlyMap<string, readonly string[]>;

export function targetKey(kind: string, ids: Ids): string {
  return `${kind}/${Object.values(ids).join('/')}`;
}

function listingKey(kind: string, credential: string): string {
  return `${kind}#${credential}`;
}

function isListing(resource: Resource): resource is ListingResource {
  return resource.mode === 'listing';
}

function toTarget(config: Config, resource: Resource, section: SectionConfig, of: TargetConfig): Target {
  const { kind } = resource;
  const key = targetKey(kind, of.ids);
  return {
    ...of,
    key,
    kind,
    pollKey: isListing(resource) ? listingKey(kind, of.credential) : key,
    settings: section.settings,
    baseUrl: config.apis[resource.api].baseUrl,
  };
}

/** The targets that `all` stands for: those of the credential's last complete listing. */
function listedTargets(resource: Resource, section: SectionConfig, listings: Listings): TargetConfig[] {
  const label = resource.ids[0]?.label ?? '';
  return (listings.get(section.credential) ?? []).map((id) => ({
    ids: { [label]: id },
    name: undefined,
    credential: section.credential,
    intervalMs: section.intervalMs,
    staleAfterMs: section.staleAfterMs,
  }));
}

/** A configuration less the listed targets of other shards; what `all` stands for is not known yet. */
export function ownConfig(config: Config, owns: (key: string) => boolean): Config {
  const sections = config.sections.map((section) =>
    section.targets === 'all'
      ? section
      : { ...section, targets: section.targets.filter(({ ids }) => owns(targetKey(section.kind, ids))) },
  );
  return { ...config, sections };
}

function pollOf(resource: Resource, target: Target): Poll {
  const { key, kind, credential, intervalMs } = target;
  return { key, kind, resource, credential, intervalMs, targets: [target] };
}

/** Whether two wanted targets are so alike that nothing has to be done. */
function isSame(a: Target, b: Target): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * The targets and polls for a configuration.
 *
 * @param listings what `targets: all` stands for so far
 * @param owns whether a target belongs to this process (sharding)
 * @param previous the plan before: its targets that did not change are kept as the same objects
 */
export function plan(
  config: Config,
  resources: readonly Resource[],
  listings: Listings,
  owns: (key: string) => boolean,
  previous?: Plan,
): Plan {
  const targets = new Map<string, Target>();
  const polls: Poll[] = [];
  /** The listings that are wanted, by credential, with the zones that they feed here. */
  const listingPolls = new Map<string, { intervalMs: number; targets: Target[] }>();

  const wantListing = (credential: string, intervalMs: number) => {
    const wanted = listingPolls.get(credential) ?? { intervalMs, targets: [] };
    wanted.intervalMs = Math.min(wanted.intervalMs, intervalMs);
    listingPolls.set(credential, wanted);
    return wanted;
  };

  for (const section of config.sections) {
    const resource = resources.find(({ kind }) => kind === section.kind);
    if (!resource) throw new Error(`no resource of the kind ${section.kind}`);
    if (section.targets === 'all' && isListing(resource)) wantListing(section.credential, section.intervalMs);
    const wanted = section.targets === 'all' ? listedTargets(resource, section, listings) : section.targets;
    for (const one of wanted) {
      const fresh = toTarget(config, resource, section, one);
      const feed = isListing(resource) ? wantListing(fresh.credential, fresh.intervalMs) : undefined;
      if (!owns(fresh.key)) continue;
      const known = previous?.targets.get(fresh.key);
      const target = known && isSame(known, fresh) ? known : fresh;
      targets.set(target.key, target);
      if (feed) feed.targets.push(target);
      else polls.push(pollOf(resource, target));
    }
  }

  const listing = resources.find(isListing);
  if (listing) {
    for (const section of config.sections) {
      const follows = section.targets === 'all' && section.kind !== listing.kind;
      if (follows && !listingPolls.has(section.credential)) {
        wantListing(section.credential, listing.defaultIntervalSeconds * 1000);
      }
    }
    for (const [credential, wanted] of listingPolls) {
      polls.push({
        key: listingKey(listing.kind, credential),
        kind: listing.kind,
        resource: listing,
        credential,
        ...wanted,
      });
    }
  }
  return { targets, polls };
}
