/** What is read of each account: its targets by kind. Pure: derived from the tasks. */
import type { Spec } from './spec.ts';

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

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
