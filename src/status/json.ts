/** The targets as JSON, a few milliseconds at a time. docs/pages.md lists the fields. */

import { nameOf } from '../polling/listed-things.ts';
import { excludedBy, type ListingStatus } from '../polling/listing-status.ts';
import type { Failure } from '../polling/record.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import { Turns } from '../turns.ts';
import type { View } from './view.ts';

function toIso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

function describeFailure(failure: Failure | undefined) {
  return failure ? { result: failure.result, reason: failure.message, at: toIso(failure.atMs) } : null;
}

function describeTarget(status: TargetStatus, { nowMs, nextPollInMs }: View) {
  const { target, state, stale, lastSuccessMs, lastDurationSeconds, lastFailure, lackingSinceMs, condition } =
    status;
  const inMs = nextPollInMs(status);
  return {
    kind: target.kind,
    ids: target.ids,
    name: target.name ?? null,
    account: target.account,
    credential: target.credential,
    state,
    stale,
    interval_seconds: target.intervalMs / 1000,
    stale_after_seconds: target.staleAfterMs / 1000,
    last_success: toIso(lastSuccessMs),
    last_duration_seconds: lastDurationSeconds ?? null,
    next_poll: inMs === undefined ? null : toIso(nowMs + inMs),
    condition: condition ?? null,
    last_failure: describeFailure(lastFailure),
    lacking_since: toIso(lackingSinceMs),
  };
}

/** How many of the excluded targets are named. */
const maxExcluded = 100;

function describeListing(status: ListingStatus) {
  const { poll, state, found, selections, lastSuccessMs, lastDurationSeconds, lastFailure, lackingSinceMs } =
    status;
  const { listing, parent } = poll;
  const excluded = excludedBy(selections);
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
    orphans: status.orphans ?? 0,
    excluded_names: excluded.slice(0, maxExcluded).map(nameOf),
    last_success: toIso(lastSuccessMs),
    last_duration_seconds: lastDurationSeconds ?? null,
    last_failure: describeFailure(lastFailure),
    lacking_since: toIso(lackingSinceMs),
  };
}

/** One JSON object, with a line for each listing and each target. */
export async function* renderJson(view: View): AsyncGenerator<string> {
  const { nowMs, kinds, accounts, counts, listingCounts, matching, page, pages } = view;
  const present = kinds.filter((kind) => kind.counts.targets > 0);
  const reported = kinds.filter((kind) => kind.reported.size > 0);
  const head = {
    time: toIso(nowMs),
    counts: {
      ...counts,
      by_kind: Object.fromEntries(present.map((kind) => [kind.kind, kind.counts])),
      by_account: Object.fromEntries(accounts.map((each) => [each.account, each.counts])),
      conditions: Object.fromEntries(reported.map((kind) => [kind.kind, Object.fromEntries(kind.reported)])),
    },
    listing_counts: listingCounts,
    matching: matching.length,
    page,
    pages,
  };
  yield JSON.stringify(head, undefined, 2).slice(0, -2);
  yield ',\n  "listings": ';
  yield* renderList(view.listings, describeListing);
  yield ',\n  "targets": ';
  yield* renderList(view.shown, (status) => describeTarget(status, view));
  yield '\n}\n';
}

/** A list as JSON, a line for each item, a few milliseconds at a time. */
export async function* renderList<Item>(
  items: readonly Item[],
  describe: (item: Item) => unknown,
): AsyncGenerator<string> {
  const turns = new Turns();
  let text = '[';
  let separator = '\n';
  for (const item of items) {
    if (turns.isOver) {
      yield text;
      text = '';
      await turns.next();
    }
    text += `${separator}    ${JSON.stringify(describe(item))}`;
    separator = ',\n';
  }
  yield items.length > 0 ? `${text}\n  ]` : `${text}]`;
}
