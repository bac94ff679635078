/** Which time a history is of, and which pieces of it each request asks for. Pure. */
import type { Query } from '../resources/resource.ts';
import { dayMs, hourMs, type Range } from '../resources/times.ts';

/** How long ago a history ends at least: an overlap with what Prometheus has in memory would lose samples of all series. */
const leastAgoMs = 3 * hourMs;
/** Where the blocks of Prometheus begin. */
const blockMs = 2 * hourMs;
/** The most days of one request, as with a poll. */
const maxDays = 28;

/** The last even UTC hour that is at least three hours ago. Unix time. */
export function defaultUntilMs(nowMs: number): number {
  return floor(nowMs - leastAgoMs, blockMs);
}

/** The whole hours, or the whole UTC days, within a range, by their length. May be empty. */
export function wholeIn({ fromMs, toMs }: Range, unitMs: number): Range {
  return { fromMs: Math.ceil(fromMs / unitMs) * unitMs, toMs: floor(toMs, unitMs) };
}

export function isEmptyRange({ fromMs, toMs }: Range): boolean {
  return fromMs >= toMs;
}

/** Whether requests ask for days. Otherwise there is one request, which is about no range. */
export function asksForDays(query: Query | undefined): query is Query {
  return query?.requestsFor({ fromMs: 0, toMs: dayMs })[0]?.range !== undefined;
}

/**
 * What each read asks for, the oldest first: one day where the polls ask day by day, else 28 days. Each begins with a UTC day, the
 * first of them before the range if that does not.
 */
export function piecesOf(query: Query, { fromMs, toMs }: Range): readonly Range[] {
  const isDayByDay = query.requestsFor({ fromMs: 0, toMs: 2 * dayMs }).length > 1;
  const pieceMs = (isDayByDay ? 1 : maxDays) * dayMs;
  const firstMs = floor(fromMs, dayMs);
  return Array.from({ length: Math.max(0, Math.ceil((toMs - firstMs) / pieceMs)) }, (_, at) => {
    const startMs = firstMs + at * pieceMs;
    return { fromMs: startMs, toMs: Math.min(startMs + pieceMs, toMs) };
  });
}

/** Puts ranges together that touch, in the order of time. */
export function merged(ranges: readonly Range[]): readonly Range[] {
  const all: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = all.at(-1);
    if (last && range.fromMs <= last.toMs)
      all[all.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, range.toMs) };
    else all.push(range);
  }
  return all;
}

/** What is in the first ranges and in none of the others, in the order of time. None of either touches another of its own. */
export function without(ranges: readonly Range[], others: readonly Range[]): readonly Range[] {
  return others.reduce<readonly Range[]>(
    (left, other) =>
      left
        .flatMap(({ fromMs, toMs }) => [
          { fromMs, toMs: Math.min(toMs, other.fromMs) },
          { fromMs: Math.max(fromMs, other.toMs), toMs },
        ])
        .filter((range) => !isEmptyRange(range)),
    ranges,
  );
}

/** The part of a range that is within another one. May be empty. */
export function cut({ fromMs, toMs }: Range, within: Range): Range {
  return { fromMs: Math.max(fromMs, within.fromMs), toMs: Math.min(toMs, within.toMs) };
}

export function floor(ms: number, unitMs: number): number {
  return Math.floor(ms / unitMs) * unitMs;
}

export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
