/**
 * A section of the configuration at work: it subscribes to the listings that it wants, and makes groups of targets of what they
 * find. It never asks the API itself.
 *
 * - Targets that are named are one group.
 * - `targets: all` is a group for each listing: that of the account, or one below each selected thing that its parent finds.
 * - Where the parts of a target have names, each target is a group of its own, which comes once its parts were listed.
 */
import type { TargetConfig } from '../config/config.ts';
import { type Discovered, idText } from '../discovery/discovered.ts';
import type { ListingOf, Provider, Subscriber } from '../discovery/provider.ts';
import { listingKey, type Providers } from '../discovery/providers.ts';
import { type Selection, selectorOf } from '../discovery/selector.ts';
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
  /** How often a listing is asked whose readings nobody wants. */
  readonly discoveryIntervalMs: number;
  /** Whether the target of a key belongs to this process (sharding). */
  readonly owns: (key: string) => boolean;
  readonly turns: Turns;
}

/** What a section has made of a listing, this shard's part alone. */
export interface TargetSelection {
  readonly kind: string;
  readonly listingKey: string;
  readonly targets: number;
  readonly excluded: readonly Listed[];
}

/** A listing that a section follows, and those that follow from what it finds. */
interface Branch {
  readonly provider: Provider;
  readonly subscriber: Subscriber;
  readonly below: Branches;
  /** What of the parent listing it is below. */
  parent: Discovered | undefined;
}

type Branches = Map<string, Branch>;
/** entries: undefined when the first try has failed. */
type OnFound = (entries: readonly Discovered[] | undefined, branch: Branch) => Promise<void>;

function areSettled(branches: Branches): boolean {
  for (const { provider, below } of branches.values())
    if (!provider.isSettled || !areSettled(below)) return false;
  return true;
}

function outermost(listing: Listing): Listing {
  return listing.parent ? outermost(listing.parent) : listing;
}

export class Section {
  readonly kind: string;
  readonly #of: SectionContext;
  readonly #branches: Branches = new Map();
  /** Listings that bring names, or the readings of named targets: no target comes or goes with what they find. */
  readonly #aside: Branches = new Map();
  readonly #selections = new Map<string, TargetSelection>();

  constructor(context: SectionContext) {
    this.kind = context.section.kind;
    this.#of = context;
  }

  /** Whether everything is known that it takes to say which targets there are. */
  get isSettled(): boolean {
    return areSettled(this.#branches);
  }

  /** What it has made of each listing. */
  selections(): Iterable<TargetSelection> {
    return this.#selections.values();
  }

  /** Subscribes to what it wants. What is known of that is in the pool when this resolves. */
  async start(): Promise<void> {
    const { section, resource } = this.#of;
    const { targets, credential, intervalMs, staleAfterMs } = section;
    if (targets !== 'all') await this.#name(targets);
    else if (isReadAlone(resource) && resource.ofAccount) {
      const ids = Object.fromEntries(resource.ids.map(({ label }) => [label, credential]));
      await this.#name([{ ids, name: undefined, credential, intervalMs, staleAfterMs }]);
    } else if (resource.listing) await this.#follow(resource.listing, this.#select, this.#ownIntervalMs);
    else throw new Error(`targets of the kind ${resource.kind} cannot be listed`);
  }

  /** Unsubscribes from everything; its targets stay in the pool. */
  end(): void {
    for (const branch of [...this.#branches.values(), ...this.#aside.values()]) this.#unsubscribe(branch);
  }

  /** What becomes of a target of the previous configuration until the listings have said whether it is still there. */
  adopt(target: Target): Target | undefined {
    const { section, resource, baseUrlOf } = this.#of;
    if (target.baseUrl !== baseUrlOf(resource.api)) return undefined;
    if (section.targets !== 'all' || !resource.listing) return target;
    const listing = outermost(resource.listing);
    const of = { listing, credential: this.#account, parent: undefined, account: this.#account };
    const foundBy = { api: listing.api, credential: this.#account, key: listingKey(of, this.#of) };
    // Known by the key that it was asked with: where that is another now, it is asked at once when the listing has it.
    return { ...listedTarget(this.#of, target, foundBy, target.parts), keyId: target.keyId };
  }

  get #account(): string {
    const { listingCredential, credential } = this.#of.section;
    return listingCredential ?? credential;
  }

  /** How often the listing of its targets is asked, where the readings come with it. */
  get #ownIntervalMs(): number | undefined {
    return isReadAlone(this.#of.resource) ? undefined : this.#of.section.intervalMs;
  }

  async #name(targets: readonly TargetConfig[]): Promise<void> {
    const { resource, pool, owns } = this.#of;
    const own = targets.filter(({ ids }) => owns(targetKey(resource.kind, ids)));
    if (isReadAlone(resource) && resource.partNames) {
      const byIds = new Map(own.map((target) => [idText(target.ids), target]));
      const targetOf = ({ ids }: Discovered) => byIds.get(idText(ids)) as TargetConfig;
      const credentialOf = (one: Discovered) => targetOf(one).credential;
      await this.#followEach(this.#branches, resource.partNames, own, credentialOf, async (parts, branch) => {
        const { parent, provider } = branch;
        if (parent) await pool.sync(provider.poll.key, [namedTarget(this.#of, targetOf(parent), parts)]);
      });
      return;
    }
    if (!isReadAlone(resource)) {
      const intervals = new Map<string, number>();
      for (const { credential, intervalMs } of own)
        intervals.set(credential, Math.min(intervalMs, intervals.get(credential) ?? intervalMs));
      for (const [credential, intervalMs] of intervals) {
        const of = { listing: resource.listing, credential, parent: undefined, account: credential };
        await this.#subscribe(this.#aside, of, () => Promise.resolve(), intervalMs);
      }
    }
    await pool.sync(
      'named',
      own.map((target) => namedTarget(this.#of, target)),
    );
  }

  /** Follows a listing: that of the account, or one below each selected thing that its parent finds. */
  async #follow(listing: Listing, onFound: OnFound, readIntervalMs?: number): Promise<void> {
    const account = this.#account;
    const { parent, names } = listing;
    if (!parent) {
      const of = { listing, credential: account, parent: undefined, account };
      const { provider } = await this.#subscribe(this.#branches, of, onFound, readIntervalMs);
      if (!names) return;
      const named = await this.#subscribe(this.#aside, { ...of, listing: names }, (known) =>
        provider.nameAfter(known),
      );
      provider.namedBy = named.provider;
      return;
    }
    await this.#follow(parent, async (entries, { provider, below }) => {
      if (!entries) return;
      const [parents] = await this.#choose(entries, () => true, this.#of.section.parents);
      const credentialOf = (one: Discovered) =>
        credentialFor(this.#of.section, listing.api, provider.poll, one);
      await this.#followEach(below, listing, parents, credentialOf, onFound, readIntervalMs);
    });
  }

  /** Follows a listing below each of the parents, and no longer below others. */
  async #followEach(
    branches: Branches,
    listing: Listing,
    parents: readonly Discovered[],
    credentialOf: (parent: Discovered) => string,
    onFound: OnFound,
    readIntervalMs?: number,
  ): Promise<void> {
    const { turns, providers } = this.#of;
    const gone = new Map(branches);
    for (const parent of parents) {
      if (turns.isOver) await turns.next();
      const of = { listing, credential: credentialOf(parent), parent, account: this.#account };
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
    const key = listingKey(of, this.#of);
    const subscriber: Subscriber = {
      intervalMs: readIntervalMs ?? discoveryIntervalMs,
      isRead: readIntervalMs !== undefined,
      found: (entries) => onFound(entries, branch),
    };
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

  /** Takes away what a branch has brought. */
  async #forget({ provider, below }: Branch): Promise<void> {
    for (const branch of below.values()) await this.#forget(branch);
    this.#selections.delete(provider.poll.key);
    await this.#of.pool.drop(provider.poll.key);
  }

  /** Makes targets of what a listing has found. */
  readonly #select: OnFound = async (entries, { provider, below }) => {
    if (!entries) return;
    const { section, resource, pool, owns } = this.#of;
    const { kind } = resource;
    const { feature, partNames } = isReadAlone(resource) ? resource : {};
    const { poll } = provider;
    const isOwn = ({ ids, features }: Discovered) =>
      (feature === undefined || features?.includes(feature) === true) && owns(targetKey(kind, ids));
    const [selected, excluded] = await this.#choose(entries, isOwn, section.selection);
    this.#selections.set(poll.key, { kind, listingKey: poll.key, targets: selected.length, excluded });
    if (!partNames) {
      await pool.sync(
        poll.key,
        mapEach(selected, (entry) => listedTarget(this.#of, entry, poll)),
      );
      return;
    }
    const credentialOf = (one: Discovered) => credentialFor(section, resource.api, poll, one);
    await this.#followEach(below, partNames, selected, credentialOf, async (parts, branch) => {
      const { parent, provider: partsOf } = branch;
      if (parent) await pool.sync(partsOf.poll.key, [listedTarget(this.#of, parent, poll, parts)]);
    });
  };

  /** Those of a selection, and those that it leaves out. */
  async #choose(
    entries: readonly Discovered[],
    isCandidate: (entry: Discovered) => boolean,
    selection: Selection | undefined,
  ): Promise<readonly [selected: readonly Discovered[], excluded: readonly Discovered[]]> {
    const { turns } = this.#of;
    const selector = selection && selectorOf(selection);
    const selected: Discovered[] = [];
    const excluded: Discovered[] = [];
    for (const entry of entries) {
      if (turns.isOver) await turns.next();
      if (isCandidate(entry)) (selector?.selects(entry) === false ? excluded : selected).push(entry);
    }
    return [selected, excluded];
  }
}

function* mapEach<Item, Mapped>(items: readonly Item[], map: (item: Item) => Mapped): Iterable<Mapped> {
  for (const item of items) yield map(item);
}
