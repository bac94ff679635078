/** The listings of each kind and account taken together: whether they succeed, and what they found. */
import type { ListingStatus } from './listings.ts';

export interface ListingSummary {
  readonly kind: string;
  readonly account: string;
  /** Undefined until one of the listings was read, whatever the outcome. */
  readonly isUp: boolean | undefined;
  readonly failing: number;
  /** Unix time: the oldest of the last successes. */
  readonly lastSuccessMs: number | undefined;
  /** Whether it is known what there is: a listing was complete, or the account lacks the product. */
  readonly isKnown: boolean;
  readonly found: number;
  readonly excluded: number;
}

/** What is listed below a thing that does not exist is not there, either. */
function isFailing({ state, poll, lastFailure }: ListingStatus): boolean {
  return state === 'failing' && !(poll.parent && lastFailure?.result === 'not_found');
}

/** A listing counts for the kind that it is named after, and for each kind whose targets it finds. */
export function summarizeListings(listings: readonly ListingStatus[]): readonly ListingSummary[] {
  const groups = new Map<string, { kind: string; account: string; listings: ListingStatus[] }>();
  for (const listing of listings) {
    const { poll, selections } = listing;
    const { account } = poll;
    for (const kind of new Set([poll.kind, ...selections.map((selection) => selection.kind)])) {
      const key = `${kind}\n${account}`;
      const group = groups.get(key) ?? { kind, account, listings: [] };
      groups.set(key, group);
      group.listings.push(listing);
    }
  }
  return Array.from(groups.values(), ({ kind, account, listings: ofKind }) => {
    const selected = ofKind.flatMap(({ found, selections }) =>
      selections.filter((selection) => selection.kind === kind).map(({ excluded }) => ({ found, excluded })),
    );
    // What the section selects from. Without a section: what the listings named after the kind have.
    const listed = selected.length > 0 ? selected : ofKind.filter(({ poll }) => poll.kind === kind);
    const successes = ofKind.flatMap(({ lastSuccessMs }) => lastSuccessMs ?? []);
    const failing = ofKind.filter(isFailing).length;
    return {
      kind,
      account,
      isUp: ofKind.every(({ state }) => state === 'pending') ? undefined : failing === 0,
      failing,
      lastSuccessMs: successes.reduce<number | undefined>(earlier, undefined),
      isKnown: successes.length > 0 || ofKind.some(({ isLacking }) => isLacking),
      found: listed.reduce((sum, { found }) => sum + found, 0),
      excluded: selected.reduce((sum, { excluded }) => sum + excluded.length, 0),
    };
  });
}

function earlier(a: number | undefined, b: number): number {
  return a === undefined ? b : Math.min(a, b);
}
