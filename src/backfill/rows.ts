/** The series that a history has of one target, family by family, and their samples. Pure. */
import { withAccount } from '../polling/past.ts';
import { catalogue, firstFamilyOf } from '../resources/catalogue.ts';
import type { Family, Labels } from '../resources/resource.ts';
import type { Range } from '../resources/times.ts';
import { counterOf, isName, isStampOfDay, labelsIn, type Source, type TargetHistory } from './history.ts';
import { always, type Emit, type Grid, latestDay, latestDayStamp, total } from './samples.ts';

/** Calls back for each sample of a series, in the order of time. */
export type Fill = (emit: Emit) => void;

/** One series. labels: without those of the target. */
export interface Series {
  readonly labels: Labels | undefined;
  readonly fill: Fill;
}

export function seriesToWrite(
  family: Family,
  sources: ReadonlyMap<Family, Source>,
  history: TargetHistory,
  grid: Grid,
): readonly Series[] {
  const { target, ranges, names } = history;
  const index = catalogue.indexOf(family);
  const row = (labels: Labels | undefined, fill: Fill) => ({ labels, fill });
  if (index === firstFamilyOf(family.kind))
    return withAccount(index, [{ value: 1 }], target).map(({ labels }) =>
      row(labels, (emit) => always(ranges, grid, emit)),
    );
  if (isName(family))
    return labelsIn(names, family).map((labels) =>
      row(labels, (emit) => always(throughout(ranges), grid, emit)),
    );
  if (isStampOfDay(family.name))
    return beginnings(family, history, [...sources.keys()]).map(([labels, beginsMs]) =>
      row(labels, (emit) => latestDayStamp(history.rangesFrom(beginsMs), grid, emit)),
    );
  const source = counterOf(family) ?? family;
  if (!sources.has(source)) return [];
  const write = family.days === undefined ? latestDay : total;
  return history
    .seriesOf(source)
    .map((one) => row(one.labels, (emit) => write(one.figures, one.ranges, grid, emit)));
}

/** The time from the first range to the last. */
export function throughout(ranges: readonly Range[]): readonly Range[] {
  if (ranges.length === 0) return [];
  return [
    {
      fromMs: Math.min(...ranges.map((one) => one.fromMs)),
      toMs: Math.max(...ranges.map((one) => one.toMs)),
    },
  ];
}

/** From when on there are figures for each set of labels that a family has. */
function beginnings(
  { labels: names }: Family,
  history: TargetHistory,
  sources: readonly Family[],
): readonly (readonly [Labels, number])[] {
  const known = new Map<string, readonly [Labels, number]>();
  for (const source of sources)
    for (const { labels, ranges } of history.seriesOf(source)) {
      const beginsMs = ranges[0]?.fromMs ?? Number.POSITIVE_INFINITY;
      if (!names.every((name) => name in labels)) continue;
      const own = Object.fromEntries(names.map((name) => [name, labels[name] ?? '']));
      const key = JSON.stringify(own);
      known.set(key, [own, Math.min(beginsMs, known.get(key)?.[1] ?? Number.POSITIVE_INFINITY)]);
    }
  return [...known.values()];
}
