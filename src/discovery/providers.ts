/** The providers there are, by what makes a listing that listing. They come with their first subscriber and go with the last. */
import type { ApiName } from '../resources/resource.ts';
import { type Discovered, idText } from './discovered.ts';
import { type ListingOf, Provider, type Subscriber } from './provider.ts';

/** Told when a listing is to be asked, how to ask it changes, or it is wanted no more. */
export interface ListingLoops {
  start(provider: Provider): void;
  update(provider: Provider): void;
  stop(provider: Provider): void;
}

/** What the configuration in force says of keys and addresses. */
export interface Whereabouts {
  readonly baseUrlOf: (api: ApiName) => string;
  /** An id for the current key of a credential: another key may open another account. */
  readonly keyIdOf: (credential: string) => string;
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

  /** The provider of a listing, which tells the subscriber of all that changes from now on. */
  subscribe(key: string, of: ListingOf, subscriber: Subscriber): Provider {
    const known = this.#providers.get(key);
    const provider = known ?? new Provider(key, of);
    const { poll } = provider;
    provider.add(subscriber);
    if (!known) {
      this.#providers.set(key, provider);
      this.#loops.start(provider);
    } else if (poll !== provider.poll) this.#loops.update(provider);
    return provider;
  }

  unsubscribe(provider: Provider, subscriber: Subscriber): void {
    const { poll } = provider;
    provider.remove(subscriber);
    if (!provider.isWanted) {
      this.#providers.delete(poll.key);
      this.#loops.stop(provider);
    } else if (poll !== provider.poll) this.#loops.update(provider);
  }

  renameParent(provider: Provider, parent: Discovered): void {
    provider.renameParent(parent);
    this.#loops.update(provider);
  }
}

/** What tells one listing from another. */
export function listingKey({ listing, credential, parent }: ListingOf, where: Whereabouts): string {
  const { kind, nouns, api } = listing;
  const of = parent ? `#${idText(parent.ids)}` : '';
  return `${kind} ${nouns}#${credential}@${where.baseUrlOf(api)}${of}${where.keyIdOf(credential)}`;
}
