/**
 * A section of the configuration at work: it subscribes to the listings it needs and makes groups of targets from what they
 * find.
 *
 * - Targets that are named are one group.
 * - `targets: all` is a group for each listing: the account's, or one below each selected thing that the parent listing has.
 * - Where parts of a target have names, each target is a group of its own, which comes once its parts were listed.
 */
import type { TargetConfig } from '../config/config.ts';
import { type Discovered, idText } from '../discovery/discovered.ts';
import {
  type ListingOf,
  listingKey,
  type Provider,
  type Providers,
  type Subscriber,
} from '../discovery/provider.ts';
import { selectorOf } from '../discovery/selector.ts';
import { mapEach } from '../resources/pages.ts';
import { isReadAlone, type Listed, type Listing } from '../resources/resource.ts';
import type { Turns } from '../turns.ts';
import type { Pool } from './pool.ts';
import {
  credentialFor,
  listedTarget,
  namedTarget,
  type Target,
  type TargetRules,
  targetKey,
} from './target.ts';

export interface SectionContext extends TargetRules {
  readonly providers: Providers;
  readonly pool: Pool;
  /** How often a listing is read that only finds things. */
  readonly discoveryIntervalMs: number;
  readonly owns: (key: string) => boolean;
  readonly turns: Turns;
}

/** A listing that a section follows, and those below what it finds. */
interface Branch {
  readonly provider: Provider;
  readonly subscriber: Subscriber;
  readonly below: Branches;
  /** What it is below, as this section knows it. */
  parent: Discovered | undefined;
}

/** By the keys of the listings. */
type Branches = Map<string, Branch>;

/** entries: undefined when the first try failed. */
type OnFound = (entries: readonly Discovered[] | undefined, branch: Branch) => Promise<void>;

/** parts: those that have a name, once they were listed. */
type MakeTarget = (entry: Discovered, parts?: readonly Listed[]) => Target;

/** A listing to follow, and what to do with what it finds. */
interface Following {
  readonly listing: Listing;
  readonly onFound: OnFound;
  /** How often its readings are wanted. Default: never, because it only finds things. */
  readonly readIntervalMs?: number | undefined;
}

function areSettled(branches: Branches): boolean {
  return [...branches.values()].every(({ provider, below }) => provider.isSettled && areSettled(below));
}

function outermost(listing: Listing): Listing {
  return listing.parent ? outermost(listing.parent) : listing;
}

export class Section {
  readonly kind: string;
  readonly #of: SectionContext;
  readonly #isSelected: (entry: Listed) => boolean;
  readonly #isSelectedParent: (entry: Listed) => boolean;
  readonly #branches: Branches = new Map();
  /** Listings of names, or with the readings of named targets. They neither add nor remove targets. */
  readonly #aside: Branches = new Map();

  constructor(context: SectionContext) {
    const { kind, selection, parents } = context.section;
    this.kind = kind;
    this.#of = context;
    this.#isSelected = selectorOf(selection);
    this.#isSelectedParent = selectorOf(parents);
  }

  /** Whether all its listings have been read, so that its targets are known. */
  get isSettled(): boolean {
    return areSettled(this.#branches);
  }

  /** Subscribes to its listings. When it resolves, the pool has what they already know. */
  async start(): Promise<void> {
    const { section, resource } = this.#of;
    const { targets, credential, intervalMs, staleAfterMs } = section;
    const isAlone = isReadAlone(resource);
    if (targets !== 'all') await this.#name(targets);
    else if (isAlone && resource.ofAccount) {
      const ids = Object.fromEntries(resource.ids.map(({ label }) => [label, credential]));
      await this.#name([{ ids, name: undefined, credential, intervalMs, staleAfterMs }]);
    } else if (resource.listing) {
      const { listing } = resource;
      const readIntervalMs = isAlone ? undefined : intervalMs;
      await this.#follow({
        listing,
        readIntervalMs,
        onFound: (found, branch) => this.#select(found, branch),
      });
    } else throw new Error(`targets of the kind ${resource.kind} cannot be listed`);
  }

  /** Unsubscribes from everything. Its targets stay in the pool. */
  end(): void {
    for (const branch of [...this.#branches.values(), ...this.#aside.values()]) this.#unsubscribe(branch);
  }

  /** Adapts a target of the previous configuration, until listings tell whether it still exists. */
  adopt(target: Target): Target | undefined {
    const { section, resource, baseUrlOf } = this.#of;
    if (target.baseUrl !== baseUrlOf(resource.api)) return undefined;
    if (section.targets !== 'all' || !resource.listing) return target;
    const of = this.#ofAccount(outermost(resource.listing));
    const foundBy = { api: of.listing.api, credential: of.credential, key: listingKey(of, this.#of) };
    // With its previous key: if that has changed, it is polled at once when it is listed again.
    return { ...listedTarget(this.#of, target, foundBy, target.parts), keyId: target.keyId };
  }

  /** A listing of the account. */
  #ofAccount(listing: Listing): ListingOf {
    const { listingCredential, credential } = this.#of.section;
    const account = listingCredential ?? credential;
    return { listing, credential: account, parent: undefined, account };
  }

  async #name(targets: readonly TargetConfig[]): Promise<void> {
    const { resource, owns } = this.#of;
    const own = targets.filter(({ ids }) => owns(targetKey(resource.kind, ids)));
    if (!isReadAlone(resource)) await this.#readNamed(resource.listing, own);
    const byIds = new Map(own.map((target) => [idText(target.ids), target]));
    await this.#put('named', this.#branches, own, ({ ids }, parts) =>
      namedTarget(this.#of, byIds.get(idText(ids)) as TargetConfig, parts),
    );
  }

  /** Subscribes to the readings that named targets get from a listing. */
  async #readNamed(listing: Listing, targets: readonly TargetConfig[]): Promise<void> {
    const intervals = new Map<string, number>();
    for (const { credential, intervalMs } of targets)
      intervals.set(credential, Math.min(intervalMs, intervals.get(credential) ?? intervalMs));
    for (const [credential, readIntervalMs] of intervals) {
      const of = { listing, credential, parent: undefined, account: credential };
      await this.#subscribe(this.#aside, of, () => Promise.resolve(), readIntervalMs);
    }
  }

  /** Makes targets: all at once or, if their parts have names, each when those were listed. */
  async #put(
    source: string,
    below: Branches,
    entries: readonly Discovered[],
    make: MakeTarget,
  ): Promise<void> {
    const { resource, pool } = this.#of;
    const partNames = isReadAlone(resource) ? resource.partNames : undefined;
    if (!partNames) {
      await pool.sync(
        source,
        mapEach(entries, (entry) => make(entry)),
      );
      return;
    }
    const onFound: OnFound = async (parts, { parent, provider: { poll } }) => {
      if (parent) await pool.sync(poll.key, [make(parent, parts)]);
    };
    await this.#followEach(below, { listing: partNames, onFound }, entries, (one) => make(one).credential);
  }

  /** Follows a listing: the account's, or one below each selected thing that its parent listing has. */
  async #follow(following: Following): Promise<void> {
    const { listing, onFound, readIntervalMs } = following;
    const { parent, names } = listing;
    if (parent) {
      await this.#follow({
        listing: parent,
        onFound: async (entries, { provider, below }) => {
          if (!entries) return;
          const parents = entries.filter(this.#isSelectedParent);
          await this.#followEach(below, following, parents, (one) =>
            credentialFor(this.#of.section, listing.api, provider.poll, one),
          );
        },
      });
      return;
    }
    const of = this.#ofAccount(listing);
    const { provider } = await this.#subscribe(this.#branches, of, onFound, readIntervalMs);
    if (!names) return;
    const named = await this.#subscribe(this.#aside, this.#ofAccount(names), (known) =>
      provider.nameAfter(known),
    );
    provider.namedBy = named.provider;
  }

  /** Follows a listing below each of the parents, and no longer below others. */
  async #followEach(
    branches: Branches,
    { listing, onFound, readIntervalMs }: Following,
    parents: readonly Discovered[],
    credentialOf: (parent: Discovered) => string,
  ): Promise<void> {
    const { turns, providers } = this.#of;
    const { account } = this.#ofAccount(listing);
    const gone = new Map(branches);
    for (const parent of parents) {
      if (turns.isOver) await turns.next();
      const of = { listing, credential: credentialOf(parent), parent, account };
      const key = listingKey(of, this.#of);
      const branch = branches.get(key);
      gone.delete(key);
      if (!branch) await this.#subscribe(branches, of, onFound, readIntervalMs);
      else if (branch.parent?.name !== parent.name) {
        branch.parent = parent;
        providers.renameParent(branch.provider, parent);
        await branch.provider.tell(branch.subscriber);
      }
    }
    for (const [key, branch] of gone) {
      branches.delete(key);
      this.#unsubscribe(branch);
      await this.#forget(branch);
    }
  }

  async #subscribe(
    branches: Branches,
    of: ListingOf,
    onFound: OnFound,
    readIntervalMs?: number,
  ): Promise<Branch> {
    const { providers, discoveryIntervalMs } = this.#of;
    const subscriber: Subscriber = {
      intervalMs: readIntervalMs ?? discoveryIntervalMs,
      isRead: readIntervalMs !== undefined,
      found: (entries) => onFound(entries, branch),
    };
    const key = listingKey(of, this.#of);
    const provider = providers.subscribe(key, of, subscriber);
    const branch: Branch = { provider, subscriber, below: new Map(), parent: of.parent };
    branches.set(key, branch);
    await provider.tell(subscriber);
    return branch;
  }

  #unsubscribe({ provider, subscriber, below }: Branch): void {
    for (const branch of below.values()) this.#unsubscribe(branch);
    this.#of.providers.unsubscribe(provider, subscriber);
  }

  /** Removes what a branch has added. */
  async #forget({ provider, below }: Branch): Promise<void> {
    for (const branch of below.values()) await this.#forget(branch);
    await this.#of.pool.drop(provider.poll.key);
  }

  /** Makes targets of what a listing has. */
  async #select(entries: readonly Discovered[] | undefined, branch: Branch): Promise<void> {
    if (!entries) return;
    const { resource, owns } = this.#of;
    const { kind } = resource;
    const feature = isReadAlone(resource) ? resource.feature : undefined;
    const { subscriber, below } = branch;
    const { poll } = branch.provider;
    const selected: Discovered[] = [];
    const excluded: Discovered[] = [];
    for (const entry of entries) {
      if (this.#of.turns.isOver) await this.#of.turns.next();
      const hasFeature = feature === undefined || entry.features?.includes(feature) === true;
      if (hasFeature && owns(targetKey(kind, entry.ids)))
        (this.#isSelected(entry) ? selected : excluded).push(entry);
    }
    subscriber.selection = { kind, targets: selected.length, excluded };
    await this.#put(poll.key, below, selected, (entry, parts) => listedTarget(this.#of, entry, poll, parts));
  }
}
