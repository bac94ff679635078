/** What a history has counted, as the state from which an exporter goes on. Pure. */

import type { CountState, FamilyState, SeriesState, TargetState } from '../counting/state-form.ts';
import type { CounterBound, Family } from '../resources/resource.ts';
import { dayMs } from '../resources/times.ts';
import type { History, TargetHistory } from './history.ts';
import { floor } from './ranges.ts';
import { sumOf } from './samples.ts';

/**
 * The state of a target whose history was written. It was last read where its history ends: the exporter asks for the days since, and
 * for the day before. Undefined if nothing was written.
 *
 * @param counters the families of its kind that are counters
 */
export function stateOf(history: TargetHistory, counters: readonly Family[]): TargetState | undefined {
  const { target, ranges } = history;
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (!first || !last) return undefined;
  const { kind, ids, baseUrl, account } = target;
  const states = counters.flatMap((family) => {
    const series = history.seriesOf(family);
    return series.length === 0 ? [] : [[family.name, familyState(series, family.bound, last.toMs)] as const];
  });
  return {
    kind,
    ids,
    base_url: baseUrl,
    account,
    // Not the start of the next day, of which nothing is known.
    last_read: (last.toMs - 1) / 1000,
    counting_since: first.fromMs / 1000,
    counters: Object.fromEntries(states),
  };
}

function familyState(all: readonly History[], bound: CounterBound | undefined, endMs: number): FamilyState {
  const isRest = ({ labels }: History) =>
    bound !== undefined && Object.entries(bound.rest).every(([label, value]) => labels[label] === value);
  const rest = all.find(isRest);
  const series = all
    .filter((one) => !isRest(one))
    .map((one): SeriesState => ({ labels: one.labels, ...countState(one, endMs) }));
  return { series, ...(rest && { rest: countState(rest, endMs) }) };
}

/** The counter at the end of the history, with what the API had of the last two days. */
function countState(series: History, endMs: number): CountState {
  const lastMs = floor(endMs - 1, dayMs);
  const days = [lastMs, lastMs - dayMs]
    .filter((startMs) => startMs >= series.toldFromMs)
    .map((startMs): [number, number] => [startMs / 1000, series.ofDay(startMs)])
    .filter(([, figure]) => figure > 0);
  return {
    value: sumOf(series.figures),
    from: Math.max(lastMs - dayMs, series.toldFromMs) / 1000,
    days,
  };
}
