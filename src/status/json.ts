/** The targets as JSON, in slices, so that others have their turn. docs/pages.md lists the fields. */
import type { TargetStatus } from '../polling/target-states.ts';
import { inSlices, type NextPoll, type TargetQueryResult } from './query-targets.ts';

function toIso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

function describeTarget(status: TargetStatus, nextPollInMs: number | undefined, nowMs: number) {
  const { target, state, stale, lastSuccessMs, lastDurationSeconds, lastFailure } = status;
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
    last_failure: lastFailure
      ? { result: lastFailure.result, reason: lastFailure.message, at: toIso(lastFailure.atMs) }
      : null,
  };
}

/** How many targets are written before the event loop has its turn: a few milliseconds, less than half a megabyte. */
const sliceTargets = 1000;

/** One JSON object, with a line for each target. */
export async function* renderTargets(
  { byKind, total, matching }: TargetQueryResult,
  shown: { readonly items: readonly TargetStatus[]; readonly page: number; readonly pages: number },
  nextPollInMs: NextPoll,
  nowMs: number,
): AsyncGenerator<string> {
  const kinds = Object.fromEntries([...byKind].filter(([, counts]) => counts.targets > 0));
  const { page, pages } = shown;
  const head = {
    time: toIso(nowMs),
    counts: { ...total, by_kind: kinds },
    matching: matching.length,
    page,
    pages,
  };
  yield `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "targets": [`;
  let separator = '\n';
  for await (const slice of inSlices(shown.items, sliceTargets)) {
    let text = '';
    for (const status of slice) {
      text += `${separator}    ${JSON.stringify(describeTarget(status, nextPollInMs(status), nowMs))}`;
      separator = ',\n';
    }
    yield text;
  }
  yield shown.items.length > 0 ? '\n  ]\n}\n' : ']\n}\n';
}
