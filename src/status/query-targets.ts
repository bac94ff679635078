/** Counts and filters the targets in slices, so that scrapes and polls go on whatever their number, and sorts them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TargetStatus } from '../polling/target-states.ts';
import type { ApiName, Condition } from '../resources/resource.ts';
import type { SortColumn, StateFilter, StatusQuery } from './query.ts';

/** Milliseconds until the next poll; 0 while the target is being polled or waits for it, undefined when not known. */
export type NextPoll = (status: TargetStatus) => number | undefined;

export interface Counts {
  targets: number;
  ok: number;
  failing: number;
  absent: number;
  pending: number;
  stale: number;
}

/** A kind, what one of its targets is called, and the states that the API reports of them. */
export interface KindNames {
  readonly kind: string;
  readonly noun: string;
  readonly api: ApiName;
  readonly product: string;
  readonly condition?: Pick<Condition, 'states'> | undefined;
}

export interface TargetQueryResult {
  /** Of all targets, by kind, in the order in which the kinds were given. */
  readonly byKind: ReadonlyMap<string, Counts>;
  /** Of all targets. */
  readonly total: Counts;
  /** How many targets of a kind the API reports each state of, the worst first; kinds without one are left out. */
  readonly conditions: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The targets that match the query, in its order. */
  readonly matching: readonly TargetStatus[];
}

/** How many targets are handled before the event loop has its turn: a few milliseconds. */
const sliceTargets = 2000;

/** Lets the event loop have its turn between two slices. */
export async function* inSlices<Item>(
  items: readonly Item[],
  sliceItems = sliceTargets,
): AsyncGenerator<readonly Item[]> {
  for (let from = 0; from < items.length; from += sliceItems) {
    if (from > 0) await nextTurn();
    yield items.slice(from, from + sliceItems);
  }
}

const noCounts = (): Counts => ({ targets: 0, ok: 0, failing: 0, absent: 0, pending: 0, stale: 0 });

function count(counts: Counts, { state, stale }: TargetStatus): void {
  counts.targets++;
  counts[state]++;
  if (stale) counts.stale++;
}

/** The text that a search looks through, in lower case. */
function searchText({ target, lastFailure, condition }: TargetStatus): string {
  const { kind, name = '', ids, credential } = target;
  const { result, message } = lastFailure ?? {};
  return [name, Object.values(ids).join('/'), kind, credential, condition, result, message]
    .join('\n')
    .toLowerCase();
}

function isIn(states: readonly StateFilter[], { state, stale }: TargetStatus): boolean {
  return states.length === 0 || states.includes(state) || (stale && states.includes('stale'));
}

type Key = number | string | undefined;

interface Keyed {
  readonly status: TargetStatus;
  readonly key: Key;
}

const severity = { failing: 0, absent: 2, pending: 4, ok: 6 } as const;

/** Where a state stands among those that the API may report: 0 for the worst, near 1 for the best and for none. */
type Rank = (status: TargetStatus) => number;

function ranking(kinds: readonly KindNames[]): Rank {
  const ranks = new Map(
    kinds.map(({ kind, condition }) => {
      const states = Object.keys(condition?.states ?? {});
      return [kind, new Map(states.map((state, at) => [state, at / states.length]))];
    }),
  );
  return ({ target, condition }) => ranks.get(target.kind)?.get(condition ?? '') ?? 0.99;
}

/** The value that each column is sorted by. */
const keys: Readonly<Record<SortColumn, (status: TargetStatus, nextPollInMs: NextPoll, rank: Rank) => Key>> =
  {
    state: (status, _, rank) => severity[status.state] + (status.stale ? 0 : 1) + rank(status),
    name: ({ target }) => (target.name ?? Object.values(target.ids).join('/')).toLowerCase(),
    kind: ({ target }) => target.kind,
    last_success: ({ lastSuccessMs }) => lastSuccessMs,
    duration: ({ lastDurationSeconds }) => lastDurationSeconds,
    next_poll: (status, nextPollInMs) => nextPollInMs(status),
  };

/** A target without a value comes last in either direction. */
function comparison(descending: boolean): (a: Keyed, b: Keyed) => number {
  const sign = descending ? -1 : 1;
  return ({ key: a }, { key: b }) => {
    if (a === b) return 0;
    if (a === undefined) return 1;
    if (b === undefined) return -1;
    return a < b ? -sign : sign;
  };
}

/** Counts all targets, and finds those that match the query. */
export async function queryTargets(
  statuses: readonly TargetStatus[],
  kinds: readonly KindNames[],
  query: Pick<StatusQuery, 'kinds' | 'states' | 'conditions' | 'text' | 'sort' | 'descending'>,
  nextPollInMs: NextPoll,
): Promise<TargetQueryResult> {
  const byKind = new Map(kinds.map(({ kind }) => [kind, noCounts()]));
  const reported = new Map(
    kinds.map(({ kind, condition }) => [
      kind,
      new Map(Object.keys(condition?.states ?? {}).map((state) => [state, 0])),
    ]),
  );
  const rank = ranking(kinds);
  const total = noCounts();

  const words = query.text.toLowerCase().split(/\s+/).filter(Boolean);
  const keyOf = keys[query.sort];
  const found: Keyed[] = [];
  for await (const slice of inSlices(statuses)) {
    for (const status of slice) {
      const { condition, target } = status;
      const { kind } = target;
      count(total, status);
      const ofKind = byKind.get(kind);
      if (ofKind) count(ofKind, status);
      const ofCondition = condition === undefined ? undefined : reported.get(kind);
      if (condition !== undefined) ofCondition?.set(condition, (ofCondition.get(condition) ?? 0) + 1);
      if (query.kinds.length > 0 && !query.kinds.includes(kind)) continue;
      if (!isIn(query.states, status)) continue;
      if (query.conditions.length > 0 && !query.conditions.includes(condition ?? '')) continue;
      if (words.length > 0) {
        const text = searchText(status);
        if (!words.every((word) => text.includes(word))) continue;
      }
      found.push({ status, key: keyOf(status, nextPollInMs, rank) });
    }
  }
  // At once: 92,000 take 15 ms, by name 60.
  const sorted = found.toSorted(comparison(query.descending));
  const conditions = new Map(
    [...reported].flatMap(([kind, states]) => {
      const present = [...states].filter(([, targets]) => targets > 0);
      return present.length > 0 ? [[kind, new Map(present)] as const] : [];
    }),
  );
  return { byKind, total, conditions, matching: sorted.map(({ status }) => status) };
}

/** One page of the matching targets; a page beyond the last is the last. */
export function pageOf<Item>(
  items: readonly Item[],
  page: number,
  pageItems: number,
): { readonly items: readonly Item[]; readonly page: number; readonly pages: number } {
  const pages = Math.max(1, Math.ceil(items.length / pageItems));
  const shown = Math.min(page, pages);
  return { items: items.slice((shown - 1) * pageItems, shown * pageItems), page: shown, pages };
}
