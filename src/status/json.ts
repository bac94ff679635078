/** The targets as JSON, in slices, so that others have their turn. docs/pages.md lists the fields. */
import type { ListingStatus } from '../polling/listings.ts';
import type { Failure, TargetStatus } from '../polling/target-states.ts';
import type { ListingQueryResult } from './query-listings.ts';
import { inSlices, type NextPoll, type TargetQueryResult } from './query-targets.ts';

function toIso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

function describeTarget(status: TargetStatus, nextPollInMs: number | undefined, nowMs: number) {
  const { target, state, stale, lastSuccessMs, lastDurationSeconds, lastFailure, condition } = status;
  return {
    kind: target.kind,
    ids: target.ids,
    name: target.name ?? null,
    credential: target.credential,
    state,
    stale,
    interval_seconds: target.intervalMs / 1000,
    stale_after_seconds: target.staleAfterMs / 1000,
    last_success: toIso(lastSuccessMs),
    last_duration_seconds: lastDurationSeconds ?? null,
    next_poll: nextPollInMs === undefined ? null : toIso(nowMs + nextPollInMs),
    condition: condition ?? null,
    last_failure: describeFailure(lastFailure),
  };
}

function describeFailure(failure: Failure | undefined) {
  return failure ? { result: failure.result, reason: failure.message, at: toIso(failure.atMs) } : null;
}

/** How many of what a listing leaves out are named. */
const maxExcluded = 100;

function describeListing(status: ListingStatus) {
  const { poll, state, found, selections, lastSuccessMs, lastDurationSeconds, lastFailure } = status;
  const { listing, parent } = poll;
  const excluded = selections.flatMap((selection) => selection.excluded);
  return {
    listing: listing.nouns,
    kind: poll.kind,
    credential: poll.credential,
    account: poll.account,
    parent: parent ? { ids: parent.ids, name: parent.name ?? null } : null,
    state,
    interval_seconds: poll.intervalMs / 1000,
    found,
    targets: Object.fromEntries(selections.map(({ kind, targets }) => [kind, targets])),
    excluded: excluded.length,
    excluded_names: excluded
      .slice(0, maxExcluded)
      .map(({ ids, name }) => name ?? Object.values(ids).join('/')),
    last_success: toIso(lastSuccessMs),
    last_duration_seconds: lastDurationSeconds ?? null,
    last_failure: describeFailure(lastFailure),
  };
}

/** How many targets or listings are written before the event loop has its turn: a few milliseconds, less than half a megabyte. */
const sliceTargets = 1000;

/** One JSON object, with a line for each listing and each target. */
export async function* renderTargets(
  { byKind, total, conditions, matching }: TargetQueryResult,
  shown: { readonly items: readonly TargetStatus[]; readonly page: number; readonly pages: number },
  listings: ListingQueryResult,
  nextPollInMs: NextPoll,
  nowMs: number,
): AsyncGenerator<string> {
  const kinds = Object.fromEntries([...byKind].filter(([, counts]) => counts.targets > 0));
  const { page, pages } = shown;
  const head = {
    time: toIso(nowMs),
    counts: { ...total, by_kind: kinds, conditions: describeConditions(conditions) },
    listing_counts: listings.counts,
    matching: matching.length,
    page,
    pages,
  };
  yield JSON.stringify(head, undefined, 2).slice(0, -2);
  yield* renderList('listings', listings.matching, describeListing);
  yield* renderList('targets', shown.items, (status) => describeTarget(status, nextPollInMs(status), nowMs));
  yield '\n}\n';
}

function describeConditions(conditions: TargetQueryResult['conditions']) {
  return Object.fromEntries([...conditions].map(([kind, states]) => [kind, Object.fromEntries(states)]));
}

/** A further field, a line for each item of it. */
async function* renderList<Item>(
  name: string,
  items: readonly Item[],
  describe: (item: Item) => unknown,
): AsyncGenerator<string> {
  yield `,\n  "${name}": [`;
  let separator = '\n';
  for await (const slice of inSlices(items, sliceTargets)) {
    let text = '';
    for (const item of slice) {
      text += `${separator}    ${JSON.stringify(describe(item))}`;
      separator = ',\n';
    }
    yield text;
  }
  yield items.length > 0 ? '\n  ]' : ']';
}
