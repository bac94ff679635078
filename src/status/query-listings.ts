/** Counts and filters the listings, and groups those that would take too many rows. */
import type { ListingStatus } from '../polling/listings.ts';
import type { StatusQuery } from './query.ts';

/** Listings of one sort, one for each parent: the endpoints of each zone. */
export interface ListingGroup {
  readonly nouns: string;
  /** What the parents are, for people. */
  readonly parents: string;
  readonly account: string;
  readonly listings: readonly ListingStatus[];
}

export interface ListingQueryResult {
  /** Of all listings. */
  readonly counts: Readonly<Record<'listings' | ListingStatus['state'], number>>;
  /** Those that match the query, the failing first. */
  readonly matching: readonly ListingStatus[];
  /** The same as rows: those that fail, and the others, many of one sort in one row. */
  readonly failing: readonly ListingStatus[];
  readonly others: readonly (ListingStatus | ListingGroup)[];
}

/** How many listings of one sort get a row each; more share one. */
const maxRowsOfGroup = 5;

export function isGroup(row: ListingStatus | ListingGroup): row is ListingGroup {
  return 'listings' in row;
}

function isOfKinds(kinds: readonly string[], { poll, selections }: ListingStatus): boolean {
  return (
    kinds.length === 0 ||
    kinds.includes(poll.kind) ||
    selections.some((selection) => kinds.includes(selection.kind))
  );
}

/** Counts all listings, and finds those that match the query. */
export function queryListings(
  statuses: readonly ListingStatus[],
  query: Pick<StatusQuery, 'kinds' | 'listings'>,
): ListingQueryResult {
  const counts = { listings: 0, ok: 0, failing: 0, pending: 0 };
  const failing: ListingStatus[] = [];
  const good: ListingStatus[] = [];
  const groups = new Map<string, ListingStatus[]>();
  for (const status of statuses) {
    const { poll, state } = status;
    counts.listings++;
    counts[state]++;
    if (!isOfKinds(query.kinds, status)) continue;
    if (state === 'failing') failing.push(status);
    else if (query.listings !== 'failing') {
      good.push(status);
      const key = `${poll.listing.nouns}\n${poll.account}\n${poll.parent ? 'below' : poll.key}`;
      const group = groups.get(key);
      if (group) group.push(status);
      else groups.set(key, [status]);
    }
  }
  const others = [...groups.values()].flatMap((listings): readonly (ListingStatus | ListingGroup)[] => {
    const [first] = listings;
    if (!first || listings.length <= maxRowsOfGroup) return listings;
    const { listing, account } = first.poll;
    return [{ nouns: listing.nouns, parents: listing.parent?.nouns ?? 'targets', account, listings }];
  });
  return { counts, matching: [...failing, ...good], failing, others };
}
