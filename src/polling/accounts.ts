/** What is read of each account: its targets by kind, and whether nothing of it can be read. Pure: derived from the tasks. */

import type { PollRecord } from './record.ts';
import { isFoundKey, type Spec } from './spec.ts';

/** The targets of a kind that one account has. */
export interface TargetCounts {
  readonly kind: string;
  readonly account: string;
  targets: number;
  stale: number;
  /** How many fail, by the result of their last poll. */
  readonly failing: Map<string, number>;
}

interface Counted {
  readonly spec: Pick<Spec, 'kind' | 'account'>;
  readonly stale: boolean;
  readonly lastFailure: { readonly result: string } | undefined;
}

/** In the order in which the targets came. */
export function countTargets(targets: Iterable<Counted>): readonly TargetCounts[] {
  const counts: TargetCounts[] = [];
  // By account, then by kind: to make one key of both for each target would be most of the work.
  const accounts = new Map<string, Map<string, TargetCounts>>();
  for (const { spec, stale, lastFailure } of targets) {
    const { kind, account } = spec;
    let byKind = accounts.get(account);
    if (!byKind) {
      byKind = new Map();
      accounts.set(account, byKind);
    }
    let own = byKind.get(kind);
    if (!own) {
      own = { kind, account, targets: 0, stale: 0, failing: new Map() };
      byKind.set(kind, own);
      counts.push(own);
    }
    own.targets++;
    if (stale) own.stale++;
    if (lastFailure) add(own.failing, lastFailure.result);
  }
  return counts;
}

export interface AccountState {
  readonly account: string;
  /**
   * Why nothing can be read with the key of the account: the commonest result of the polls that failed since its last success, or
   * `late` where none failed and none was made in time, as in a long pause. Undefined while something is read.
   */
  readonly unreadable: string | undefined;
}

/** The accounts at a Unix time: a reading that is due and does not come says as much as one that fails. */
export type AccountsAt = (nowMs: number) => readonly AccountState[];

interface Polled {
  readonly spec: Pick<Spec, 'account' | 'credential' | 'intervalMs'>;
  readonly record: Pick<PollRecord, 'lastSuccessMs' | 'failingSinceMs' | 'lastFailure'>;
}

/** For so long a reading may come later than the interval says: a poll takes some time, and waits for its turn. */
const graceMs = 60_000;

/** What is read with a key that came with a listing, as that of a library, says nothing of the key of the account. */
export function accountsOf(polls: Iterable<Polled>): AccountsAt {
  const accounts = new Map<string, Polled[]>();
  for (const polled of polls) {
    const { account, credential } = polled.spec;
    if (isFoundKey(credential)) continue;
    const own = accounts.get(account);
    if (own) own.push(polled);
    else accounts.set(account, [polled]);
  }
  const expectations = Array.from(accounts, ([account, own]) => ({ account, ...nextOf(own) }));
  return (nowMs) =>
    expectations.map(({ account, expectedMs, reason }) => ({
      account,
      unreadable: nowMs > expectedMs + graceMs ? reason : undefined,
    }));
}

/** When the first reading after the last one was to be expected (infinite if none is), and why there was none. */
function nextOf(polls: readonly Polled[]): { readonly expectedMs: number; readonly reason: string } {
  const lastMs = polls.reduce(
    (last, { record }) => Math.max(last, record.lastSuccessMs ?? last),
    Number.NEGATIVE_INFINITY,
  );
  let expectedMs = Number.POSITIVE_INFINITY;
  const results = new Map<string, number>();
  for (const { spec, record } of polls) {
    const { lastSuccessMs, failingSinceMs, lastFailure } = record;
    // What was never read promises nothing, unless nothing ever was.
    const isNew = lastMs === Number.NEGATIVE_INFINITY;
    const dueMs = lastSuccessMs === undefined ? isNew && failingSinceMs : lastSuccessMs + spec.intervalMs;
    if (dueMs && dueMs > lastMs) expectedMs = Math.min(expectedMs, dueMs);
    if (lastFailure && lastFailure.atMs >= lastMs) add(results, lastFailure.result);
  }
  const [reason = 'late'] = [...results].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return { expectedMs, reason };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
