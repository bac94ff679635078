/**
 * What the status page and its JSON show: everything counted, and what matches the query. The work is done a few milliseconds
 * at a time, so that scrapes and polls go on with any number of targets.
 */

import type { CauseInput } from '../causes/cause.ts';
import { causesOf } from '../causes/causes.ts';
import { unixOf } from '../clock.ts';
import type { ApiCapacity } from '../polling/capacity.ts';
import { unreadSince } from '../polling/health.ts';
import { nameOf } from '../polling/listed-things.ts';
import type { ListingStatus } from '../polling/listing-status.ts';
import { addCounts, type Counts, noCounts, type Tally } from '../polling/tally.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import { type Condition, idText, type Resource } from '../resources/resource.ts';
import { Turns } from '../turns.ts';
import { type SortColumn, type StatusQuery, wordsOf } from './query.ts';

export type KindNames = Pick<Resource, 'kind' | 'noun' | 'api' | 'product'> & {
  readonly condition?: Pick<Condition, 'states'> | undefined;
};

/** Times are Unix times. */
export interface ExporterStatus {
  readonly upMs: number;
  readonly series: (kind: string) => number;
  readonly configuration: {
    readonly loadedAtMs: number;
    /** The last reload, if it failed. */
    readonly refused: { readonly atMs: number; readonly message: string } | undefined;
  };
  readonly capacities: readonly ApiCapacity[];
}

/** What a view is made from. */
export interface StatusSources {
  /** The kinds in the order in which they are shown. */
  readonly kinds: readonly KindNames[];
  readonly telemetryPath: string;
  /** The accounts of the configuration, in its order. */
  readonly accounts: () => readonly string[];
  readonly exporterStatus: () => ExporterStatus;
  readonly causeInput: () => CauseInput;
  readonly targets: () => readonly TargetStatus[];
  readonly listings: () => readonly ListingStatus[];
  /** The targets by kind and account. */
  readonly tallies: () => readonly Tally[];
  /** How long it is until a target is polled: 0 while it is being polled or waits for its turn, undefined where that is not known. */
  readonly nextPollInMs: (status: TargetStatus) => number | undefined;
}

export type KindView = KindNames & {
  readonly counts: Counts;
  /** How many targets the API reports each state of, the worst first. */
  readonly reported: Map<string, number>;
};

/** What an account has. An account of which nothing is known has an entry, too. */
export interface AccountView {
  readonly account: string;
  readonly counts: Counts;
}

export type View = Awaited<ReturnType<typeof buildView>>;

export function sumOf(kinds: readonly { readonly counts: Counts }[]): Counts {
  const sum = noCounts();
  for (const { counts } of kinds) addCounts(sum, counts);
  return sum;
}

/** Makes the view of a query. nowMs: Unix time. Rejects with the signal's reason once it is aborted. */
export async function buildView(
  sources: StatusSources,
  query: StatusQuery,
  nowMs: number,
  signal?: AbortSignal,
) {
  // All of it before the first turn ends: what is asked later is worked out anew if a poll has ended meanwhile.
  const [targets, listings] = [sources.targets(), sources.listings()];
  const [causeInput, exporter] = [sources.causeInput(), sources.exporterStatus()];
  const kinds = sources.kinds.map(
    (kind): KindView => ({
      ...kind,
      counts: noCounts(),
      reported: new Map(Object.keys(kind.condition?.states ?? {}).map((state) => [state, 0])),
    }),
  );
  const byKind = new Map(kinds.map((each) => [each.kind, each]));
  const byAccount = new Map(sources.accounts().map((account) => [account, noCounts()]));
  for (const { kind, account, counts, conditions } of sources.tallies()) {
    const shown = byKind.get(kind);
    const ofAccount = byAccount.get(account);
    if (!shown) continue;
    addCounts(shown.counts, counts);
    if (ofAccount) addCounts(ofAccount, counts);
    for (const [state, n] of conditions) shown.reported.set(state, (shown.reported.get(state) ?? 0) + n);
  }
  const isMatch = matcher(query);
  const found: SortEntry[] = [];
  const turns = new Turns();
  for (const status of targets) {
    if (turns.isOver) {
      await turns.next();
      signal?.throwIfAborted();
    }
    if (isMatch(status))
      found.push([sortKeys[query.sort](status, byKind.get(status.target.kind), sources), status]);
  }
  for (const { reported } of kinds) for (const [state, n] of reported) if (n === 0) reported.delete(state);
  // Sorting is not split into turns: 92,000 targets take 15 ms, and 60 ms by name.
  const matching = found.toSorted(comparison(query.descending)).map(([, status]) => status);
  // Where thousands fail, each of the steps takes its time: what is above, the causes, and what the view becomes.
  await turns.next();
  const causes = causesOf(causeInput);
  await turns.next();
  const listingCounts = { listings: listings.length, ok: 0, lacking: 0, failing: 0, pending: 0 };
  for (const { state } of listings) listingCounts[state]++;
  const unreadMs = unreadSince(causeInput.health);
  return {
    ...sources,
    ...pageOf(matching, query.page),
    query,
    nowMs,
    exporter,
    causes,
    // Since when nothing can be read, as Unix time; undefined while something can be.
    nothingReadSinceMs: unreadMs === undefined ? undefined : unixOf(unreadMs, causeInput),
    kinds,
    accounts: [...byAccount].map(([account, counts]): AccountView => ({ account, counts })),
    // The failing ones first.
    listings: listings.toSorted((a, b) => listingRank(a) - listingRank(b)),
    counts: sumOf(kinds),
    listingCounts,
    hasSeveralAccounts: byAccount.size > 1,
    // The targets match the query, and are in its order.
    matching,
  };
}

/** How many targets one page shows. */
const targetsPerPage = 100;

/** The targets of a page: all of them where no page was requested. A page beyond the last is the last. */
function pageOf(matching: readonly TargetStatus[], requested: number | undefined) {
  if (requested === undefined) return { shown: matching, page: 1, pages: 1 };
  const pages = Math.max(1, Math.ceil(matching.length / targetsPerPage));
  const page = Math.min(requested, pages);
  return { shown: matching.slice((page - 1) * targetsPerPage, page * targetsPerPage), page, pages };
}

function matcher({
  kinds,
  accounts,
  states,
  conditions,
  text,
}: StatusQuery): (status: TargetStatus) => boolean {
  const words = wordsOf(text);
  const isIn = <Value>(chosen: readonly Value[], value: Value) =>
    chosen.length === 0 || chosen.includes(value);
  return (status) => {
    const { target, state, stale, condition = '' } = status;
    if (!isIn(kinds, target.kind) || !isIn(accounts, target.account)) return false;
    if (!isIn(conditions, condition)) return false;
    if (!isIn(states, state) && !(stale && states.includes('stale'))) return false;
    if (words.length === 0) return true;
    const searched = searchText(status);
    return words.every((word) => searched.includes(word));
  };
}

function searchText({ target, lastFailure, condition }: TargetStatus): string {
  const { kind, name, ids, credential, account } = target;
  const { result, message } = lastFailure ?? {};
  return [name, idText(ids), kind, credential, account, condition, result, message].join('\n').toLowerCase();
}

const severity = { failing: 0, absent: 2, stale: 3, pending: 4, lacking: 5, ok: 6 };

/** How bad a target is, the lowest number being the worst: by the state of its polls, then stale before fresh, then by the state that the API reports. */
function rankOf({ state, stale, condition }: TargetStatus, kind: KindNames | undefined): number {
  const at = condition === undefined ? -1 : Object.keys(kind?.condition?.states ?? {}).indexOf(condition);
  return severity[state] + (stale ? 0 : 1) + (at < 0 ? 0.99 : at / 100);
}

type Key = number | string | undefined;
type SortEntry = readonly [key: Key, status: TargetStatus];

/** What each column is sorted by. */
const sortKeys: Readonly<
  Record<SortColumn, (status: TargetStatus, kind: KindNames | undefined, sources: StatusSources) => Key>
> = {
  state: rankOf,
  name: ({ target }) => nameOf(target).toLowerCase(),
  kind: ({ target }) => target.kind,
  last_success: ({ lastSuccessMs }) => lastSuccessMs,
  duration: ({ lastDurationSeconds }) => lastDurationSeconds,
  next_poll: (status, _, { nextPollInMs }) => nextPollInMs(status),
};

/** A target without a value comes last in either direction. */
function comparison(descending: boolean): (a: SortEntry, b: SortEntry) => number {
  const sign = descending ? -1 : 1;
  return ([a], [b]) => {
    if (a === b) return 0;
    if (a === undefined) return 1;
    if (b === undefined) return -1;
    return a < b ? -sign : sign;
  };
}

/** Listings that fail come first, then those of an account. */
function listingRank({ state, poll }: ListingStatus): number {
  if (state === 'failing') return 0;
  return poll.parent ? 2 : 1;
}
