/** Everything that people and metrics ask about the tasks, from one pass over them. */

import type { ApiCapacity } from './capacity.ts';
import { type Health, health, readAt } from './health.ts';
import { type ListingStatus, listingStatus } from './listing-status.ts';
import type { Plan } from './plan.ts';
import { Tallies, type Tally } from './tally.ts';
import { TargetTask, type Task } from './target-task.ts';
import type { ListingTask } from './task.ts';

export interface Overview {
  /** Every target in the order in which it came. */
  readonly targets: readonly TargetTask[];
  /** By kind and account. */
  readonly tallies: readonly Tally[];
  readonly listings: readonly ListingStatus[];
  /** What two accounts list. */
  readonly shared: Plan['shared'];
  readonly health: Health;
  /** What the polls of each API need, and whether its pace is enough. */
  readonly capacities: readonly ApiCapacity[];
  /** Whether the last poll of every target and of every listing succeeded, and no value is stale. */
  readonly isHealthy: boolean;
  /** When the oldest counter of a target began; undefined where nothing is counted. Unix time. */
  readonly countingSinceMs: number | undefined;
  /** When the next value becomes stale, by the machine's uptime; infinite if none will. */
  readonly nextStaleMs: number;
}

/** What a plan says beyond its tasks. */
export interface PlanFacts extends Pick<Plan, 'selections' | 'shared' | 'orphans'> {
  readonly capacities: readonly ApiCapacity[];
}

/**
 * @param plan the one that the tasks are those of
 * @param uptimeMs now, by the machine's uptime
 * @param keyIdOf the id of the key that a credential has now
 */
export function overviewOf(
  tasks: Iterable<Task>,
  { selections, shared, orphans, capacities }: PlanFacts,
  uptimeMs: number,
  keyIdOf: (credential: string) => string,
): Overview {
  const targets: TargetTask[] = [];
  const listingTasks: ListingTask[] = [];
  const polled: Task[] = [];
  const tallies = new Tallies();
  let nextStaleMs = Number.POSITIVE_INFINITY;
  let countingSinceMs: number | undefined;
  let areTargetsHealthy = true;
  for (const task of tasks) {
    if (!(task instanceof TargetTask)) {
      listingTasks.push(task);
      polled.push(task);
      continue;
    }
    targets.push(task);
    tallies.count(task);
    if (task.countingSinceMs !== undefined)
      countingSinceMs = Math.min(countingSinceMs ?? Number.POSITIVE_INFINITY, task.countingSinceMs);
    if (task.poller === task) polled.push(task);
    if (!task.stale) nextStaleMs = Math.min(nextStaleMs, task.staleAtMs);
    if (task.state !== 'ok' && task.state !== 'lacking') areTargetsHealthy = false;
  }
  const healthNow = health(polled, uptimeMs, keyIdOf);
  const listings = listingTasks.map((task) =>
    listingStatus(
      task,
      selections.get(task.spec.key) ?? [],
      readAt(healthNow, task.spec.credential, task.record.askedWith === keyIdOf(task.spec.credential)),
      orphans.get(task.spec.key)?.length,
    ),
  );
  tallies.list(listings);
  return {
    targets,
    tallies: tallies.all,
    listings,
    shared,
    health: healthNow,
    capacities,
    isHealthy: areTargetsHealthy && listings.every(({ state }) => state === 'ok' || state === 'lacking'),
    countingSinceMs,
    nextStaleMs,
  };
}
