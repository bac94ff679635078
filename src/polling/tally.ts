/**
 * How many targets of each kind an account has and how they are, and what its listings found: the one count that the exporter's own
 * metrics, the status page and the log read. Pure.
 */
import type { ListingStatus } from './listing-status.ts';
import type { TargetStateName, TargetStatus } from './target-task.ts';

/** stale: those whose values are too old, whatever their state. */
export type Counts = Record<'targets' | TargetStateName, number>;

/** What the listings that a kind selects from, or that are named after it, say together. */
export interface ListedTally {
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

/** Of one kind and one account. */
export interface Tally {
  readonly kind: string;
  readonly account: string;
  readonly counts: Counts;
  /** How many fail, by the result of their last poll. */
  readonly failing: Map<string, number>;
  /** How many the API reports each state of. */
  readonly conditions: Map<string, number>;
  /** Undefined without a listing. */
  listed: ListedTally | undefined;
}

export function noCounts(): Counts {
  return { targets: 0, ok: 0, lacking: 0, failing: 0, absent: 0, pending: 0, stale: 0 };
}

/** Adds what another has. */
export function addCounts(counts: Counts, more: Counts): void {
  for (const name of Object.keys(more) as (keyof Counts)[]) counts[name] += more[name];
}

export class Tallies {
  /** In the order in which the targets came, then that of the listings. */
  readonly all: Tally[] = [];
  // By account, then by kind: to make one key of both for each target would be most of the work.
  readonly #accounts = new Map<string, Map<string, Tally>>();

  count({ target, state, stale, lastFailure, condition }: TargetStatus): void {
    const { counts, failing, conditions } = this.#of(target.kind, target.account);
    counts.targets++;
    if (state !== 'stale') counts[state]++;
    if (stale) counts.stale++;
    if (lastFailure) add(failing, lastFailure.result);
    if (condition !== undefined) add(conditions, condition);
  }

  /** A listing counts for the kind that it is named after, and for each kind whose targets it finds. */
  list(listings: readonly ListingStatus[]): void {
    const groups = new Map<Tally, ListingStatus[]>();
    for (const listing of listings) {
      const { poll, selections } = listing;
      for (const kind of new Set([poll.kind, ...selections.map((selection) => selection.kind)])) {
        const tally = this.#of(kind, poll.account);
        const group = groups.get(tally);
        if (group) group.push(listing);
        else groups.set(tally, [listing]);
      }
    }
    for (const [tally, group] of groups) tally.listed = listedOf(tally.kind, group);
  }

  #of(kind: string, account: string): Tally {
    let byKind = this.#accounts.get(account);
    if (!byKind) {
      byKind = new Map();
      this.#accounts.set(account, byKind);
    }
    let own = byKind.get(kind);
    if (!own) {
      const counts = noCounts();
      own = { kind, account, counts, failing: new Map(), conditions: new Map(), listed: undefined };
      byKind.set(kind, own);
      this.all.push(own);
    }
    return own;
  }
}

function listedOf(kind: string, listings: readonly ListingStatus[]): ListedTally {
  let [isPending, isSelected, isKnown] = [true, false, false];
  let [failing, named, selectable, excluded] = [0, 0, 0, 0];
  let lastSuccessMs: number | undefined;
  for (const listing of listings) {
    if (listing.state !== 'pending') isPending = false;
    if (isFailing(listing)) failing++;
    if (listing.lastSuccessMs !== undefined) lastSuccessMs = earlier(lastSuccessMs, listing.lastSuccessMs);
    if (listing.lastSuccessMs !== undefined || listing.lacksProduct) isKnown = true;
    if (listing.poll.kind === kind) named += listing.found;
    for (const selection of listing.selections) {
      if (selection.kind !== kind) continue;
      isSelected = true;
      selectable += listing.found;
      excluded += selection.excluded.length;
    }
  }
  return {
    isUp: isPending ? undefined : failing === 0,
    failing,
    lastSuccessMs,
    isKnown,
    // What the section selects from. Without a section: what the listings named after the kind have.
    found: isSelected ? selectable : named,
    excluded,
  };
}

/** What is listed below a thing that does not exist is not there, either. */
function isFailing({ state, poll, lastFailure }: ListingStatus): boolean {
  return state === 'failing' && !(poll.parent && lastFailure?.result === 'not_found');
}

function earlier(a: number | undefined, b: number): number {
  return a === undefined ? b : Math.min(a, b);
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
