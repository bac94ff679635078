/**
 * A provider is one listing that is asked again and again. It keeps what it has found and tells its subscribers: a new one at
 * once, all of them whenever something has changed. It knows neither how the listing is asked nor what others make of it.
 *
 * - Subscribers that want the same listing share one provider: the same of kind, credential and key, address and parent.
 *   Another key may open another account, so it has another provider.
 * - It runs as often as its most eager subscriber wants, and ends with the last of them.
 * - What it finds is passed on with the names that another listing has of it. The first time it waits for those until they
 *   are known or have failed, but no longer than five seconds.
 * - A listing that fails, or is incomplete, changes nothing of what was found.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiName, Listing } from '../resources/resource.ts';
import { type Discovered, withNames } from './discovered.ts';

/** Which listing is wanted. */
export interface ListingOf {
  readonly listing: Listing;
  readonly credential: string;
  /** The thing of the parent listing that it is asked for. */
  readonly parent: Discovered | undefined;
  /** The credential that the outermost listing is asked with: whose account it is. */
  readonly account: string;
}

/** Asks one listing what there is. */
export interface ListingPoll extends ListingOf {
  readonly type: 'listing';
  readonly key: string;
  /** The kind that the listing is named after. */
  readonly kind: string;
  readonly api: ApiName;
  /** Its queue at the pacer of its API. */
  readonly queue: string;
  readonly intervalMs: number;
  /** Whether its readings are wanted: then it is the poll of all the targets that it feeds. */
  readonly isRead: boolean;
}

export interface Subscriber {
  readonly intervalMs: number;
  /** Whether it wants the readings that come with the listing. */
  readonly isRead: boolean;
  /** Called with what there is; with undefined when the first try has failed. */
  found(entries: readonly Discovered[] | undefined): Promise<void>;
}

/** How long to wait for the names that another listing has. */
const namesPatienceMs = 5000;

export class Provider {
  /** What the last complete listing had, without the names that another listing has. */
  found: readonly Discovered[] | undefined;
  /** Whether it was asked once, whatever the outcome. */
  hasEnded = false;
  /** Unix time. */
  lastSuccessMs: number | undefined;
  lastDurationSeconds: number | undefined;
  /** The provider of the names. */
  namedBy: Provider | undefined;
  #poll: ListingPoll;
  #names: readonly Discovered[] | undefined;
  readonly #subscribers = new Set<Subscriber>();
  #resolveEnded: (() => void) | undefined;
  readonly #ended = new Promise<void>((resolve) => {
    this.#resolveEnded = resolve;
  });

  constructor(key: string, of: ListingOf) {
    const { kind, api } = of.listing;
    this.#poll = { ...of, type: 'listing', key, kind, api, queue: kind, intervalMs: 0, isRead: false };
  }

  get poll(): ListingPoll {
    return this.#poll;
  }

  get isWanted(): boolean {
    return this.#subscribers.size > 0;
  }

  /** Whether its subscribers were told what there is. Below a parent a failed try is enough. */
  get isSettled(): boolean {
    return this.found !== undefined || (this.hasEnded && this.#poll.parent !== undefined);
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    this.#fit();
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.isWanted) this.#fit();
    else this.#resolveEnded?.();
  }

  /** Tells one subscriber what is known so far. */
  async tell(subscriber: Subscriber): Promise<void> {
    if (this.found) await subscriber.found(withNames(this.found, this.#names));
    else if (this.hasEnded) await subscriber.found(undefined);
  }

  /** A complete listing has ended with this. */
  async keep(listed: readonly Discovered[]): Promise<void> {
    const isNew = listed !== this.found;
    this.found = listed;
    if (isNew) await this.#tellAll();
    this.#end();
  }

  /** A try has failed. */
  async fail(): Promise<void> {
    if (this.hasEnded) return;
    this.#end();
    if (!this.found) await this.#tellAll();
  }

  /** Another listing has these names. */
  async nameAfter(names: readonly Discovered[] | undefined): Promise<void> {
    if (names === this.#names) return;
    this.#names = names;
    if (this.found) await this.#tellAll();
  }

  /** The parent has another name. */
  renameParent(parent: Discovered): void {
    this.#poll = { ...this.#poll, parent };
  }

  /** Resolves when the names are known that another listing has, or when they have kept it waiting for too long. */
  async namesKnown(signal: AbortSignal): Promise<void> {
    if (!this.namedBy || this.namedBy.hasEnded) return;
    const patience = sleep(namesPatienceMs, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race([this.namedBy.#ended, patience]);
  }

  #end(): void {
    this.hasEnded = true;
    this.#resolveEnded?.();
  }

  async #tellAll(): Promise<void> {
    for (const subscriber of this.#subscribers) await this.tell(subscriber);
  }

  /** The poll that its subscribers want. */
  #fit(): void {
    const { kind } = this.#poll;
    const intervalMs = Math.min(...[...this.#subscribers].map((one) => one.intervalMs));
    const isRead = [...this.#subscribers].some((one) => one.isRead);
    if (intervalMs === this.#poll.intervalMs && isRead === this.#poll.isRead) return;
    this.#poll = { ...this.#poll, intervalMs, isRead, queue: isRead ? kind : `${kind} listing` };
  }
}
