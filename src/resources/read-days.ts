/**
 * Reads the days of a poll: today first, then each earlier day that may have grown. What becomes of an earlier day holds back neither
 * today nor another day. Knows neither what is read of a day, nor what is counted.
 */
import { isObject } from './fields.ts';
import { askedFor, daysIn } from './queries.ts';
import type { DaysRequest, Query, ReadContext, ReadPart, UntoldDay } from './resource.ts';
import { dayMs, type Range } from './times.ts';

/** What was requested of some days, and the reading of the answer. */
interface Part<Reading> {
  readonly request: DaysRequest;
  readonly reading: Reading;
}

/**
 * Requests days, and reads the answer. isPast: whether they are earlier ones, which another poll asks for again: then nothing is
 * retried.
 */
type Ask<Reading> = (request: DaysRequest, isPast: boolean) => Promise<Reading>;

interface ReadDays<Reading> {
  /** Those of the days that are shown, the oldest first. */
  readonly shown: readonly Reading[];
  /** All, the oldest first. */
  readonly counted: readonly ReadPart<Reading>[];
  readonly untold: readonly UntoldDay[];
}

/** Throws what asking for today throws. Earlier days that fail together are asked for one by one. */
export async function readDays<Reading>(
  ask: Ask<Reading>,
  query: Query,
  context: ReadContext,
): Promise<ReadDays<Reading>> {
  const { range, shownFromMs } = askedFor(context, query);
  // No earlier day matters: an answer about no range is the same for each day, and without counters there is nothing to catch up on.
  if (query.yesterday === undefined) {
    const part = await readLast(ask, query.requestsFor(range));
    return { shown: [part.reading], counted: [countedOf(part)], untold: [] };
  }
  const { lostMs = [], pendingMs = [], hasFailed = false } = context;
  const apart = new Set([...pendingMs, ...lostMs]);
  const todayMs = daysIn(range).at(-1)?.fromMs ?? range.fromMs;
  // A clock that was set back has days to come.
  const [due, toCome] = [pendingMs.filter((ms) => ms < todayMs), pendingMs.filter((ms) => ms >= todayMs)];
  // After a failure today is asked for by itself: it may be another day that fails.
  const isTogether = query.yesterday === 'always' && !hasFailed && apart.size === 0;
  const { parts, fromMs } = await readFirst(ask, query, range, [isTogether ? shownFromMs : todayMs, todayMs]);
  const { untold, ...past } = await readPast(
    ask,
    query,
    newestFirst([
      ...runsOf({ fromMs: range.fromMs, toMs: fromMs }, apart),
      ...due.map((startMs) => ({ fromMs: startMs, toMs: startMs + dayMs })),
    ]),
  );
  const counted = [...past.parts.toReversed(), ...parts];
  const shown = counted.filter(({ request }) => !request.range || request.range.toMs > shownFromMs);
  return {
    shown: shown.map(({ reading }) => reading),
    counted: counted.map(countedOf),
    untold: [...untold, ...toCome.map((startMs): UntoldDay => ({ startMs, how: 'not_asked' }))],
  };
}

function countedOf<Reading>({ request: { range }, reading }: Part<Reading>): ReadPart<Reading> {
  return { reading, range };
}

/**
 * Reads today; with the days from `firstMs` on, if a request that has them is not refused. fromMs: where what was read begins.
 */
async function readFirst<Reading>(
  ask: Ask<Reading>,
  { requestsFor }: Query,
  range: Range,
  [firstMs, todayMs]: readonly [firstMs: number, todayMs: number],
): Promise<{ readonly parts: readonly Part<Reading>[]; readonly fromMs: number }> {
  const read = async (fromMs: number) => ({
    parts: [await readLast(ask, requestsFor({ ...range, fromMs }))],
    fromMs,
  });
  try {
    return await read(firstMs);
  } catch (error) {
    if (firstMs >= todayMs || !isRefusal(error)) throw error;
    return await read(todayMs);
  }
}

/** Asks for what is newest of some requests. */
async function readLast<Reading>(
  ask: Ask<Reading>,
  requests: readonly DaysRequest[],
): Promise<Part<Reading>> {
  const request = requests.at(-1);
  if (!request) throw new Error('there is no request for today');
  return { request, reading: await ask(request, false) };
}

/** Reads pieces of the past, the newest first. */
async function readPast<Reading>(
  ask: Ask<Reading>,
  { requestsFor }: Query,
  pieces: readonly Range[],
): Promise<{ readonly parts: readonly Part<Reading>[]; readonly untold: readonly UntoldDay[] }> {
  const parts: Part<Reading>[] = [];
  const untold: UntoldDay[] = [];
  const left = pieces.flatMap((piece) => requestsFor(piece).toReversed());
  let isStopped = false;
  for (let request = left.shift(); request; request = left.shift()) {
    const days = request.range ? daysIn(request.range) : [];
    if (isStopped) {
      untold.push(...days.map(({ fromMs }): UntoldDay => ({ startMs: fromMs, how: 'not_asked' })));
      continue;
    }
    try {
      parts.push({ request, reading: await ask(request, true) });
    } catch (error) {
      if (!isFailure(error)) throw error;
      isStopped = saysNothing(error);
      if (!isStopped && days.length > 1) {
        left.unshift(...newestFirst(days).flatMap((day) => requestsFor(day)));
        continue;
      }
      const how = isStopped ? 'not_asked' : isRefusal(error) ? 'refused' : 'failed';
      untold.push(...days.map(({ fromMs }): UntoldDay => ({ startMs: fromMs, how, reason: error.message })));
    }
  }
  return { parts, untold };
}

/** The days of a range in runs, without some of them. */
function runsOf(range: Range, without: ReadonlySet<number>): readonly Range[] {
  const runs: Range[] = [];
  for (const day of daysIn(range)) {
    if (without.has(day.fromMs)) continue;
    const last = runs.at(-1);
    if (last?.toMs === day.fromMs) runs.splice(-1, 1, { fromMs: last.fromMs, toMs: day.toMs });
    else runs.push(day);
  }
  return runs;
}

function newestFirst(ranges: readonly Range[]): readonly Range[] {
  return ranges.toSorted((a, b) => b.fromMs - a.fromMs);
}

interface Failure extends Error {
  readonly result: string;
  readonly answer?: { readonly status?: number | undefined };
  readonly isTransient?: boolean;
  readonly isTooLarge?: true;
}

/** Whether it says how a request or a reading failed. Anything else is a bug, or the end of the poll. */
function isFailure(error: unknown): error is Failure {
  return error instanceof Error && isObject(error) && typeof error['result'] === 'string';
}

/** Whether the same request would be refused the next time, too. */
function isRefusal(error: unknown): boolean {
  if (!isFailure(error)) return false;
  const { result, answer, isTooLarge } = error;
  const isForbidden = result === 'auth' && answer?.status === 403;
  return isForbidden || isTooLarge === true || result === 'rejected' || result === 'not_found';
}

/** Whether it says nothing of the days: nothing was sent, or the key is paused. */
function saysNothing({ result, answer, isTransient }: Failure): boolean {
  const isUnsent = (result === 'auth' && answer?.status === undefined) || result === 'timeout';
  return result === 'rate_limited' || (isUnsent && isTransient === false);
}
