/**
 * A provider is one listing that is asked again and again. It keeps what the last complete listing had and tells its
 * subscribers: a new one at once, all of them when something changes.
 *
 * - Subscribers to the same listing share a provider. A listing is the same while its kind, credential, key, address and
 *   parent are. Another key may open another account, so it gets a provider of its own.
 * - It is asked as often as its most eager subscriber wants, and ends with the last subscriber.
 * - A listing that fails or is incomplete changes nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiName, Listed, Listing } from '../resources/resource.ts';
import { type Discovered, idText, withNames } from './discovered.ts';

export interface ListingOf {
  readonly listing: Listing;
  readonly credential: string;
  /** The item of the parent listing that it is below. */
  readonly parent: Discovered | undefined;
  /** The credential of the outermost listing: whose account this is. */
  readonly account: string;
}

export interface ListingPoll extends ListingOf {
  readonly type: 'listing';
  readonly key: string;
  /** The kind that the listing is named after. */
  readonly kind: string;
  readonly api: ApiName;
  /** Its queue at the pacer of its API. */
  readonly queue: string;
  readonly intervalMs: number;
  /** Whether its readings are wanted: then this is the poll of all the targets in it. */
  readonly isRead: boolean;
}

/** What a section selected from a listing, in this shard. */
export interface TargetSelection {
  readonly kind: string;
  readonly targets: number;
  readonly excluded: readonly Listed[];
}

export interface Subscriber {
  readonly intervalMs: number;
  /** Whether it wants the readings that come with the listing. */
  readonly isRead: boolean;
  /** Of what it received last. */
  selection?: TargetSelection;
  /** Receives what there is, or undefined when the first try failed. */
  found(entries: readonly Discovered[] | undefined): Promise<void>;
}

/** How long the first result waits for the names from another listing. */
const namesPatienceMs = 5000;

export class Provider {
  /** The last complete listing, without the names from another listing. */
  found: readonly Discovered[] | undefined;
  /** The listing that has the names. */
  namedBy: Provider | undefined;
  poll: ListingPoll;
  #names: readonly Discovered[] | undefined;
  readonly #subscribers = new Set<Subscriber>();
  /** Aborted when it was asked once, or is no longer wanted. */
  readonly #firstEnd = new AbortController();

  constructor(key: string, of: ListingOf) {
    const { kind, api } = of.listing;
    this.poll = { ...of, type: 'listing', key, kind, api, queue: kind, intervalMs: 0, isRead: false };
  }

  get isWanted(): boolean {
    return this.#subscribers.size > 0;
  }

  /** Whether it was asked once, whatever the outcome. */
  get hasEnded(): boolean {
    return this.#firstEnd.signal.aborted;
  }

  /** Whether subscribers know what there is. Below a parent, one failure is enough. */
  get isSettled(): boolean {
    return this.found !== undefined || (this.hasEnded && this.poll.parent !== undefined);
  }

  /** One for each kind. During a reload, the new section's. */
  get selections(): readonly TargetSelection[] {
    const selections = [...this.#subscribers].flatMap(({ selection }) => selection ?? []);
    return [...new Map(selections.map((selection) => [selection.kind, selection])).values()];
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    this.#fit();
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.isWanted) this.#fit();
    else this.#firstEnd.abort();
  }

  /** Tells one subscriber what is known so far. */
  async tell(subscriber: Subscriber): Promise<void> {
    if (this.found) await subscriber.found(withNames(this.found, this.#names));
    else if (this.hasEnded) await subscriber.found(undefined);
  }

  async succeed(listed: readonly Discovered[]): Promise<void> {
    const isNew = listed !== this.found;
    this.found = listed;
    if (isNew) await this.#tellAll();
    this.#firstEnd.abort();
  }

  /** Only the first failure matters. */
  async fail(): Promise<void> {
    if (this.hasEnded) return;
    this.#firstEnd.abort();
    await this.#tellAll();
  }

  /** Only changes are passed on: a subscriber may be about to leave. */
  async nameAfter(names: readonly Discovered[] | undefined): Promise<void> {
    if (names === this.#names) return;
    this.#names = names;
    if (this.found) await this.#tellAll();
  }

  /** Waits at most five seconds for the first result of the listing that has the names. */
  async namesKnown(signal: AbortSignal): Promise<void> {
    if (!this.namedBy || this.namedBy.hasEnded) return;
    const enough = AbortSignal.any([signal, this.namedBy.#firstEnd.signal]);
    await sleep(namesPatienceMs, undefined, { signal: enough, ref: false }).catch(() => undefined);
  }

  async #tellAll(): Promise<void> {
    for (const subscriber of this.#subscribers) await this.tell(subscriber);
  }

  #fit(): void {
    const { kind } = this.poll;
    const subscribers = [...this.#subscribers];
    const intervalMs = subscribers.reduce(
      (least, one) => Math.min(least, one.intervalMs),
      Number.POSITIVE_INFINITY,
    );
    const isRead = subscribers.some((one) => one.isRead);
    this.poll = { ...this.poll, intervalMs, isRead, queue: isRead ? kind : `${kind} listing` };
  }
}

export interface ListingLoops {
  add(poll: ListingPoll): void;
  /** It is asked at another interval, or its parent has another name. */
  change(poll: ListingPoll): void;
  remove(key: string): void;
}

export class Providers {
  readonly #loops: ListingLoops;
  readonly #providers = new Map<string, Provider>();

  constructor(loops: ListingLoops) {
    this.#loops = loops;
  }

  get(key: string): Provider | undefined {
    return this.#providers.get(key);
  }

  all(): Iterable<Provider> {
    return this.#providers.values();
  }

  get size(): number {
    return this.#providers.size;
  }

  subscribe(key: string, of: ListingOf, subscriber: Subscriber): Provider {
    const known = this.#providers.get(key);
    const provider = known ?? new Provider(key, of);
    provider.add(subscriber);
    this.#providers.set(key, provider);
    if (known) this.#loops.change(provider.poll);
    else this.#loops.add(provider.poll);
    return provider;
  }

  unsubscribe(provider: Provider, subscriber: Subscriber): void {
    provider.remove(subscriber);
    if (provider.isWanted) {
      this.#loops.change(provider.poll);
    } else {
      this.#providers.delete(provider.poll.key);
      this.#loops.remove(provider.poll.key);
    }
  }

  renameParent(provider: Provider, parent: Discovered): void {
    provider.poll = { ...provider.poll, parent };
    this.#loops.change(provider.poll);
  }
}

/** What the current configuration says about keys and addresses. */
export interface Whereabouts {
  readonly baseUrlOf: (api: ApiName) => string;
  /** An id for the current key of a credential. */
  readonly keyIdOf: (credential: string) => string;
}

/** What tells one listing from another. */
export function listingKey({ listing, credential, parent }: ListingOf, where: Whereabouts): string {
  const { kind, nouns, api } = listing;
  const below = parent ? `#${idText(parent.ids)}` : '';
  return `${kind} ${nouns}#${credential}@${where.baseUrlOf(api)}${below}${where.keyIdOf(credential)}`;
}
