/** Counts and filters the listings, in slices; what is too much for a page is taken together. */
import type { ListingStatus } from '../polling/listings.ts';
import type { StatusQuery } from './query.ts';
import { inSlices } from './query-targets.ts';

export interface ListingCounts {
  listings: number;
  ok: number;
  failing: number;
  pending: number;
}

/** The listings of one sort below many parents: the endpoints of each zone. */
export interface ListingGroup {
  readonly nouns: string;
  /** What the parents are, for people. */
  readonly parents: string;
  readonly account: string;
  readonly listings: readonly ListingStatus[];
}

export interface ListingQueryResult {
  /** Of all listings. */
  readonly counts: ListingCounts;
  /** Those that match the query, the failing first. */
  readonly matching: readonly ListingStatus[];
  /** The same for a page: those that fail, and the others, where there are many of a sort in one row. */
  readonly failing: readonly ListingStatus[];
  readonly others: readonly (ListingStatus | ListingGroup)[];
}

/** So many listings of one sort have a row each. */
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
export async function queryListings(
  statuses: readonly ListingStatus[],
  query: Pick<StatusQuery, 'kinds' | 'listings'>,
): Promise<ListingQueryResult> {
  const counts: ListingCounts = { listings: 0, ok: 0, failing: 0, pending: 0 };
  const failing: ListingStatus[] = [];
  const good: ListingStatus[] = [];
  const groups = new Map<string, ListingStatus[]>();
  for await (const slice of inSlices(statuses)) {
    for (const status of slice) {
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
  }
  const others = [...groups.values()].flatMap((listings): readonly (ListingStatus | ListingGroup)[] => {
    const [first] = listings;
    if (!first || listings.length <= maxRowsOfGroup) return listings;
    const { listing, account } = first.poll;
    return [{ nouns: listing.nouns, parents: listing.parent?.nouns ?? 'targets', account, listings }];
  });
  return { counts, matching: [...failing, ...good], failing, others };
}
