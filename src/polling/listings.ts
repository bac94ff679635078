/** Takes over what listings find: first the keys, then the targets, then their readings. Logs what came and went. */
import type { Logger } from 'pino';
import {
  compareListed,
  type Discovered,
  type Discovery,
  describeDiscovery,
  idText,
  keyNameOf,
  singular,
} from '../discovery/discovered.ts';
import type { ListingPoll, Provider, TargetSelection } from '../discovery/provider.ts';
import type { Found } from '../resources/resource.ts';
import type { Loop } from './loop.ts';
import type { Poller } from './poller.ts';
import type { Polls } from './polls.ts';
import type { Failure } from './target-states.ts';
import type { Wanted } from './wanted.ts';

/** The keys that come with listings. */
export interface FoundKeys {
  /** A listing has this key. Returns whether the key in use has changed. */
  learn(credential: string, key: string, listing: string): boolean;
  /** These are all the keys that a listing has now. Returns the credentials whose key has changed. */
  retain(credentials: ReadonlySet<string>, listing: string): readonly string[];
}

export interface ListingStatus {
  readonly poll: ListingPoll;
  readonly state: 'pending' | 'ok' | 'failing';
  /** How many things the last complete listing had. */
  readonly found: number;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  readonly selections: readonly TargetSelection[];
}

export interface ListingsOptions {
  readonly wanted: Wanted;
  readonly polls: Polls;
  readonly poller: Poller;
  readonly foundKeys: FoundKeys;
  readonly log: Logger;
}

export class Listings {
  readonly #options: ListingsOptions;
  /** Listings that brought keys. */
  readonly #withKeys = new Set<string>();

  constructor(options: ListingsOptions) {
    this.#options = options;
  }

  get withKeys(): number {
    return this.#withKeys.size;
  }

  statuses(): readonly ListingStatus[] {
    const { wanted, polls } = this.#options;
    return Array.from(wanted.providers.all(), ({ poll, found, selections }) => {
      const loop = polls.get(poll.key);
      return {
        poll,
        state: loop?.health.lastFailure ? 'failing' : loop?.hasEnded ? 'ok' : 'pending',
        found: found?.length ?? 0,
        lastSuccessMs: loop?.health.lastSuccessMs,
        lastDurationSeconds: loop?.health.lastDurationSeconds,
        lastFailure: loop?.health.lastFailure,
        selections,
      };
    });
  }

  /** Takes over what a complete listing has. */
  async takeOver(loop: Loop, provider: Provider, found: readonly Found[]): Promise<void> {
    const { wanted, poller } = this.#options;
    const { poll, found: before } = provider;
    const discovery = compareListed(before, found);
    this.#learnKeys(poll.key, found);
    this.#log(poll, discovery, before === undefined);
    loop.isTakenOver = true;
    await provider.succeed(discovery.listed).finally(() => {
      loop.isTakenOver = false;
    });
    // First, because what only the previous configuration wanted is not absent, but gone.
    await wanted.settle();
    if (discovery.listed !== before) this.#retainKeys(poll.key, discovery.listed);
    const targets = wanted.targetsOf(provider.poll);
    const byIds = new Map(targets.length > 0 ? found.map((one) => [idText(one.ids), one]) : []);
    for (const target of targets) {
      if (wanted.turns.isOver) await wanted.turns.next();
      if (loop.isStopped) return;
      poller.deliver(poll, target, byIds.get(idText(target.ids)), loop.health.lastDurationSeconds);
    }
  }

  /** A credential has another key: what was refused with the previous one is asked at once. */
  keyChanged(credential: string): void {
    this.#options.log.info({ credential }, `the key of ${credential} changed`);
    this.#options.polls.retry(credential);
  }

  /** Forgets the keys of listings that are no longer wanted, once nothing is asked with them. */
  forgetGone(): void {
    const { wanted } = this.#options;
    if (!wanted.isSettled) return;
    for (const listing of this.#withKeys) {
      if (wanted.providers.get(listing)) continue;
      this.#withKeys.delete(listing);
      this.#retainKeys(listing);
    }
  }

  #learnKeys(listing: string, found: readonly Found[]): void {
    for (const one of found) {
      if (!one.key) continue;
      this.#withKeys.add(listing);
      const credential = keyNameOf(one);
      if (this.#options.foundKeys.learn(credential, one.key(), listing)) this.keyChanged(credential);
    }
  }

  /** Forgets the keys that a listing no longer has, even if what they open is still listed. */
  #retainKeys(listing: string, listed: readonly Discovered[] = []): void {
    const names = new Set(listed.flatMap(({ keyName }) => keyName ?? []));
    for (const credential of this.#options.foundKeys.retain(names, listing)) this.keyChanged(credential);
  }

  #log({ kind, credential, listing, parent }: ListingPoll, discovery: Discovery, isFirst: boolean): void {
    const { added, removed, renamed, listed } = discovery;
    const changes = added + removed + renamed;
    if (changes === 0) return;
    const below = parent && (parent.name ?? idText(parent.ids));
    // There may be many below parents, so their first results, and lists of parts, are at debug.
    const isNews = !parent || (listing.parent !== undefined && !isFirst);
    this.#options.log[isNews ? 'info' : 'debug'](
      { kind, listing_of: credential, parent: below, added, removed, renamed, listed: listed.length },
      `${describeDiscovery(discovery)} ${changes === 1 ? singular(listing.nouns) : listing.nouns}`,
    );
  }
}
