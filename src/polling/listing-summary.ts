/** The listings of each kind and account taken together: whether they succeed, and what they have found. */
import type { ListingStatus } from './listings.ts';

export interface ListingSummary {
  readonly kind: string;
  /** The credential whose account is listed. */
  readonly credential: string;
  /** Undefined until one of the listings was read, whatever the outcome. */
  readonly isUp: boolean | undefined;
  readonly failing: number;
  /** Unix time: the oldest of the last successes. */
  readonly lastSuccessMs: number | undefined;
  readonly found: number;
  readonly excluded: number;
}

interface Tally {
  readonly kind: string;
  readonly credential: string;
  ended: number;
  failing: number;
  lastSuccessMs: number | undefined;
  isSelected: boolean;
  /** What the listings have that its section selects from. */
  selectable: number;
  /** What the listings have that are named after the kind. */
  listed: number;
  excluded: number;
}

/** A listing counts for the kind that it is named after, and for each kind whose targets it finds. */
export function summarizeListings(listings: readonly ListingStatus[]): readonly ListingSummary[] {
  const tallies = new Map<string, Tally>();
  const tallyOf = (kind: string, credential: string): Tally => {
    const key = `${kind}\n${credential}`;
    const known = tallies.get(key);
    if (known) return known;
    const fresh: Tally = {
      kind,
      credential,
      ended: 0,
      failing: 0,
      lastSuccessMs: undefined,
      isSelected: false,
      selectable: 0,
      listed: 0,
      excluded: 0,
    };
    tallies.set(key, fresh);
    return fresh;
  };
  for (const { poll, state, lastSuccessMs, found, selections } of listings) {
    for (const kind of new Set([poll.kind, ...selections.map((selection) => selection.kind)])) {
      const tally = tallyOf(kind, poll.account);
      if (state !== 'pending') tally.ended++;
      if (state === 'failing') tally.failing++;
      if (lastSuccessMs !== undefined)
        tally.lastSuccessMs = Math.min(lastSuccessMs, tally.lastSuccessMs ?? lastSuccessMs);
      if (kind === poll.kind) tally.listed += found;
    }
    for (const { kind, excluded } of selections) {
      const tally = tallyOf(kind, poll.account);
      tally.isSelected = true;
      tally.selectable += found;
      tally.excluded += excluded.length;
    }
  }
  return [...tallies.values()].map(
    ({ kind, credential, ended, failing, lastSuccessMs, isSelected, selectable, listed, excluded }) => ({
      kind,
      credential,
      isUp: ended === 0 ? undefined : failing === 0,
      failing,
      lastSuccessMs,
      found: isSelected ? selectable : listed,
      excluded,
    }),
  );
}
