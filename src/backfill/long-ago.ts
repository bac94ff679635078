/**
 * Asks once for each kind with a history whether the API has anything of a day of long ago. The statistics of pull zones, the
 * Optimizer and SafeHop are documented to reach back a year, those of load balancers 90 days; of the others it is documented nowhere.
 */
import { dayMs } from '../resources/times.ts';
import { sourcesOf, TargetHistory } from './history.ts';
import { hasHistory, type PastOptions, PastReader } from './past-reader.ts';
import { asksForDays, floor } from './ranges.ts';

/** Longer ago than the 30 days that the API has wherever no range is asked for, and for which it has hours. */
const daysAgo = 40;
/** How long a report waits for one answer at most. */
const budgetMs = 30_000;

/** The lines of the report have words of our own, and nothing that the API answered. nowMs: Unix time. */
export async function askLongAgo(options: PastOptions, nowMs: number): Promise<readonly string[]> {
  const { resources } = options;
  const kinds = resources.filter(hasHistory).filter(({ query }) => asksForDays(query));
  const past = new PastReader({ ...options, budgetMs });
  try {
    await past.open();
    const { targets } = await past.discover((kind) => kinds.some((one) => one.kind === kind), nowMs);
    const fromMs = floor(nowMs, dayMs) - daysAgo * dayMs;
    const day = { fromMs, toMs: fromMs + dayMs };
    const asked = kinds.map(async (resource) => {
      const { kind } = resource;
      const target = targets.find((one) => one.kind === kind);
      if (!target) return [];
      const answer = await past.read(resource, target, day, nowMs);
      if ('failure' in answer) return [`${kind}, a day ${daysAgo} days ago: ${answer.result}`];
      const history = new TargetHistory(target, day);
      history.add(sourcesOf(kind), answer.reading, day);
      return [`${kind}, a day ${daysAgo} days ago: ${Number.isFinite(history.beginsMs) ? 'points' : 'none'}`];
    });
    return (await Promise.all(asked)).flat();
  } finally {
    await past.close();
  }
}
