/**
 * Takes over what the polls of listings bring: first the keys, then the targets, then their readings. It knows the state of each
 * listing, and logs what came and went.
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
import type { Polls } from './polls.ts';
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

export interface ListingStatus {
  readonly poll: ListingPoll;
  readonly state: 'pending' | 'ok' | 'failing';
  /** How many things the last complete listing had. */
  readonly found: number;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  /** What the sections made of it. */
  readonly selections: readonly TargetSelection[];
}

export interface ListingsOptions {
  readonly wanted: Wanted;
  readonly polls: Polls;
  readonly foundKeys: FoundKeys;
  readonly log: Logger;
  /** Unix time. */
  readonly now: () => number;
  readonly onKeyChanged: (credential: string) => void;
  /** Notices keys that have changed. */
  readonly lookAtKeys: () => Promise<void>;
  /** Carries out a change when those before it are done. */
  readonly inTurn: (change: () => Promise<void>) => Promise<void>;
}

export class Listings {
  readonly #options: ListingsOptions;
  /** Providers that were stopped, whose keys may still be in use. */
  #gone: readonly Provider[] = [];

  constructor(options: ListingsOptions) {
    this.#options = options;
  }

  /** How many providers were stopped and are still remembered. */
  get gone(): number {
    return this.#gone.length;
  }

  statuses(): readonly ListingStatus[] {
    const { wanted, polls } = this.#options;
    const selections = new Map<string, TargetSelection[]>();
    for (const selection of wanted.selections()) {
      const known = selections.get(selection.listingKey);
      if (known) known.push(selection);
      else selections.set(selection.listingKey, [selection]);
    }
    return Array.from(wanted.providers.all(), ({ poll, found, lastSuccessMs, lastDurationSeconds }) => {
      const loop = polls.loops.get(poll.key);
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

  /** The poll of a listing ended. found: undefined when it failed. */
  async follow(loop: Loop, found: readonly Found[] | undefined, durationSeconds: number): Promise<void> {
    const { wanted, polls, inTurn, lookAtKeys, now } = this.#options;
    const provider = wanted.providers.get(loop.poll.key);
    if (!provider) return;
    if (!found) {
      if (!provider.hasEnded) await inTurn(() => provider.fail());
      return;
    }
    provider.lastSuccessMs = now();
    provider.lastDurationSeconds = durationSeconds;
    await provider.namesKnown(polls.loops.signal);
    // If the key changed meanwhile, the pages may be those of two accounts. Then this stops the loop.
    await lookAtKeys();
    await inTurn(async () => {
      if (!loop.isStopped) await this.#takeOver(loop, provider, found, durationSeconds);
    });
  }

  /** A provider is no longer wanted. */
  leave(provider: Provider): void {
    this.#gone = [...this.#gone, provider];
  }

  /** Forgets the keys from stopped providers, once nothing is asked with them any more. */
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
    const { wanted, polls } = this.#options;
    const { poll, found: before } = provider;
    const discovery = compareListed(before, found);
    this.#learnKeys(poll.key, found);
    this.#log(poll, discovery, before === undefined);
    loop.isTakenOver = true;
    await provider.succeed(discovery.listed).finally(() => {
      loop.isTakenOver = false;
    });
    // First, so that targets which only the previous configuration wanted are not reported as absent.
    await wanted.settle();
    if (discovery.listed !== before) this.#retainKeys(poll.key, discovery.listed);
    const targets = wanted.targetsOf(provider.poll);
    const byIds = new Map(targets.length > 0 ? found.map((one) => [idText(one.ids), one]) : []);
    for (const target of targets) {
      if (wanted.turns.isOver) await wanted.turns.next();
      if (loop.isStopped) return;
      polls.poller.deliver(poll, target, byIds.get(idText(target.ids)), durationSeconds);
    }
  }

  #learnKeys(listing: string, found: readonly Found[]): void {
    const { foundKeys, onKeyChanged } = this.#options;
    for (const one of found) {
      const credential = one.key && keyNameOf(one);
      if (one.key && credential && foundKeys.learn(credential, one.key(), listing)) onKeyChanged(credential);
    }
  }

  /** Forgets the keys that a listing no longer has, even if what they open is still listed. */
  #retainKeys(listing: string, listed: readonly Discovered[] = []): void {
    const { foundKeys, onKeyChanged } = this.#options;
    const names = new Set(listed.flatMap(({ keyName }) => keyName ?? []));
    for (const credential of foundKeys.retain(names, listing)) onKeyChanged(credential);
  }

  #log({ kind, credential, listing, parent }: ListingPoll, discovery: Discovery, isFirst: boolean): void {
    const { added, removed, renamed, listed } = discovery;
    const changes = added + removed + renamed;
    if (changes === 0) return;
    const below = parent && (parent.name ?? idText(parent.ids));
    // Parts, and the first listing below each of many parents, are logged at debug.
    const isNews = !parent || (listing.parent !== undefined && !isFirst);
    this.#options.log[isNews ? 'info' : 'debug'](
      { kind, listing_of: credential, parent: below, added, removed, renamed, listed: listed.length },
      `${describeDiscovery(discovery)} ${changes === 1 ? singular(listing.nouns) : listing.nouns}`,
    );
  }
}
