/** How the listings are, for people and metrics: derived from their polls and from what they had. */
import type { Logger } from 'pino';
import { type Discovery, describeDiscovery, nameOf, singular } from '../discovery/discovered.ts';
import { type Failure, hasEnded, type Loop, neverPolled } from './loop.ts';
import type { Plan, Snapshot, TargetSelection } from './plan.ts';
import type { Polls } from './polls.ts';
import type { ListingPoll, Poll } from './target.ts';

export interface ListingStatus {
  readonly poll: ListingPoll;
  readonly state: 'pending' | 'ok' | 'failing';
  /** Whether the account lacks the product: then the listing is refused, which is no failure. */
  readonly isLacking: boolean;
  /** How many things the last complete listing had. */
  readonly found: number;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  readonly selections: readonly TargetSelection[];
}

const refusals: readonly (number | undefined)[] = [401, 403, 404];

/**
 * The status of each listing. A product that the account lacks is not told apart from one that it may not read: either way it
 * has nothing to list. That holds only until the listing succeeds once, and while the key reads something else of the API.
 */
export function listingStatuses(
  polls: Pick<Polls, 'get' | 'all'>,
  { listings, selections }: Pick<Plan, 'listings' | 'selections'>,
  snapshots: ReadonlyMap<string, Pick<Snapshot, 'entries'>>,
): readonly ListingStatus[] {
  return Array.from(listings.values(), (poll) => {
    const record = polls.get(poll.key)?.record ?? neverPolled;
    const { lastSuccessMs, lastDurationSeconds, lastFailure } = record;
    const isLacking =
      poll.listing.optionalProduct === true &&
      lastSuccessMs === undefined &&
      refusals.includes(lastFailure?.status) &&
      readsAnything(poll, polls.all());
    const isFailing = lastFailure !== undefined && !isLacking;
    return {
      poll,
      state: isFailing ? 'failing' : hasEnded(record) ? 'ok' : 'pending',
      isLacking,
      found: snapshots.get(poll.key)?.entries?.length ?? 0,
      lastSuccessMs,
      lastDurationSeconds,
      lastFailure: isFailing ? lastFailure : undefined,
      selections: selections.get(poll.key) ?? [],
    };
  });
}

function readsAnything({ api, credential }: Poll, loops: Iterable<Pick<Loop, 'poll' | 'record'>>): boolean {
  for (const { poll, record } of loops)
    if (record.lastSuccessMs !== undefined && poll.api === api && poll.credential === credential) return true;
  return false;
}

/** `+2 −1 applications`. There may be many below parents, so their first results, and lists of parts, are at debug. */
export function logDiscovery(log: Logger, poll: ListingPoll, discovery: Discovery, isFirst: boolean): void {
  const { kind, credential, listing, parent } = poll;
  const { added, removed, renamed } = discovery;
  const changes = added + removed + renamed;
  if (changes === 0) return;
  const below = parent && nameOf(parent);
  const isNews = !parent || (listing.parent !== undefined && !isFirst);
  log[isNews ? 'info' : 'debug'](
    { kind, listing_of: credential, parent: below },
    `${describeDiscovery(discovery)} ${changes === 1 ? singular(listing.nouns) : listing.nouns}`,
  );
}
