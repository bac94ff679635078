/**
 * Takes over what the polls of listings bring: first the keys, then the targets, then their readings. It knows the state of
 * each listing, and says in the log what came and went.
 */
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
import type { ListingPoll, Provider } from '../discovery/provider.ts';
import type { Found } from '../resources/resource.ts';
import type { Loop } from './loop.ts';
import type { Loops } from './loops.ts';
import type { Poller } from './poller.ts';
import type { TargetSelection } from './section.ts';
import type { Failure } from './target-states.ts';
import type { Wanted } from './wanted.ts';

/** The keys that come with listings, each for one thing. */
export interface FoundKeys {
  /** A listing has this key. Returns whether the key in use has changed. */
  learn(credential: string, key: string, listing: string): boolean;
  /** These are all the keys that a listing has now. Returns the credentials whose key has changed. */
  retain(credentials: ReadonlySet<string>, listing: string): readonly string[];
}

/** The state of a listing. */
export interface ListingStatus {
  readonly poll: ListingPoll;
  readonly state: 'pending' | 'ok' | 'failing';
  /** How many things the last complete listing had. */
  readonly found: number;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  /** How many targets the sections made of it, and what they left out. */
  readonly selections: readonly TargetSelection[];
}

export interface ListingsOptions {
  readonly wanted: Wanted;
  readonly loops: Loops;
  readonly poller: Poller;
  readonly foundKeys: FoundKeys;
  readonly log: Logger;
  /** Unix time. */
  readonly now: () => number;
  /** The key of a credential has changed. */
  readonly onKeyChanged: (credential: string) => void;
  /** Notices keys that have changed. */
  readonly lookAtKeys: () => Promise<void>;
  /** Carries out a change when those before it are done. */
  readonly inTurn: (change: () => Promise<void>) => Promise<void>;
}

export class Listings {
  readonly #options: ListingsOptions;
  /** The listing whose targets are being put in place: they get their readings next. */
  #following: string | undefined;
  /** Providers that have left, whose keys may still be in use. */
  #gone: readonly Provider[] = [];

  constructor(options: ListingsOptions) {
    this.#options = options;
  }

  /** How many have left and are still remembered. */
  get gone(): number {
    return this.#gone.length;
  }

  statuses(): readonly ListingStatus[] {
    const { wanted, loops } = this.#options;
    const selections = new Map<string, TargetSelection[]>();
    for (const selection of wanted.selections()) {
      const known = selections.get(selection.listingKey);
      if (known) known.push(selection);
      else selections.set(selection.listingKey, [selection]);
    }
    return Array.from(wanted.providers.all(), ({ poll, found, lastSuccessMs, lastDurationSeconds }) => {
      const loop = loops.get(poll.key);
      const lastFailure = loop?.health.lastFailure;
      return {
        poll,
        state: lastFailure ? 'failing' : loop?.hasEnded ? 'ok' : 'pending',
        found: found?.length ?? 0,
        lastSuccessMs,
        lastDurationSeconds,
        lastFailure,
        selections: selections.get(poll.key) ?? [],
      };
    });
  }

  /** Whether the target gets its reading from the next end of the listing anyway, without asking again. */
  feeds(loop: Loop): boolean {
    return !loop.hasEnded || this.#following === loop.poll.key;
  }

  /** A poll of a listing has ended. found: undefined when it failed. */
  async follow(loop: Loop, found: readonly Found[] | undefined, durationSeconds: number): Promise<void> {
    const { wanted, loops, inTurn, lookAtKeys, now } = this.#options;
    const provider = wanted.providers.get(loop.poll.key);
    if (!provider) return;
    if (!found) {
      if (!provider.hasEnded) await inTurn(() => provider.fail());
      return;
    }
    provider.lastSuccessMs = now();
    provider.lastDurationSeconds = durationSeconds;
    await provider.namesKnown(loops.signal);
    // If the key changed meanwhile, the pages may be those of two accounts; then the loop has been stopped.
    await lookAtKeys();
    await inTurn(async () => {
      if (!loop.isStopped) await this.#takeOver(loop, provider, found, durationSeconds);
    });
  }

  /** A provider is wanted no more. */
  leave(provider: Provider): void {
    this.#gone = [...this.#gone, provider];
  }

  /** Forgets the keys of providers that have left, once nothing is asked with them any more. */
  forgetGone(): void {
    const { wanted } = this.#options;
    if (this.#gone.length === 0 || !wanted.isSettled) return;
    for (const { poll } of this.#gone) this.#retainKeys(poll.key, wanted.providers.get(poll.key)?.found);
    this.#gone = [];
  }

  async #takeOver(
    loop: Loop,
    provider: Provider,
    found: readonly Found[],
    durationSeconds: number,
  ): Promise<void> {
    const { poll, found: before } = provider;
    const discovery = compareListed(before, found);
    this.#learnKeys(poll.key, found);
    this.#tell(poll, discovery, before === undefined);
    this.#following = poll.key;
    await provider.keep(discovery.listed);
    this.#following = undefined;
    // Targets that only the previous configuration wanted are not reported as absent.
    await this.#options.wanted.settle();
    if (discovery.listed !== before) this.#retainKeys(poll.key, discovery.listed);
    await this.#deliver(loop, poll, found, durationSeconds);
  }

  async #deliver(
    loop: Loop,
    poll: ListingPoll,
    found: readonly Found[],
    durationSeconds: number,
  ): Promise<void> {
    const { poller, wanted } = this.#options;
    if (loop.fed.size === 0) return;
    const byIds = new Map(found.map((one) => [idText(one.ids), one]));
    for (const [ids, target] of loop.fed) {
      if (wanted.turns.isOver) await wanted.turns.next();
      if (loop.isStopped) return;
      poller.deliver(poll, target, byIds.get(ids), durationSeconds);
    }
  }

  #learnKeys(listing: string, found: readonly Found[]): void {
    const { foundKeys, onKeyChanged } = this.#options;
    for (const one of found) {
      const credential = one.key && keyNameOf(one);
      if (one.key && credential && foundKeys.learn(credential, one.key(), listing)) onKeyChanged(credential);
    }
  }

  /** Forgets the keys that a listing no longer has, also where what they open is still listed. */
  #retainKeys(listing: string, listed: readonly Discovered[] = []): void {
    const { foundKeys, onKeyChanged } = this.#options;
    const names = new Set(listed.flatMap(({ keyName }) => keyName ?? []));
    for (const credential of foundKeys.retain(names, listing)) onKeyChanged(credential);
  }

  #tell({ kind, credential, listing, parent }: ListingPoll, discovery: Discovery, isFirst: boolean): void {
    const { added, removed, renamed, listed } = discovery;
    if (added + removed + renamed === 0) return;
    const of = parent && (parent.name ?? idText(parent.ids));
    // Parts, and the first listing below each of many parents, are logged at debug only.
    const isTold = !parent || (listing.parent !== undefined && !isFirst);
    this.#options.log[isTold ? 'info' : 'debug'](
      { kind, listing_of: credential, parent: of, added, removed, renamed, listed: listed.length },
      `${describeDiscovery(discovery)} ${added + removed + renamed === 1 ? singular(listing.nouns) : listing.nouns}`,
    );
  }
}
