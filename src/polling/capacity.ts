/** Whether the pace of each API suffices for the polls that are planned: in numbers, and in a sentence where it does not. */
import type { Config } from '../config/config.ts';
import { type ApiName, apiNames, isReadAlone, type Resource } from '../resources/resource.ts';
import { count, formatDuration, plural } from '../text.ts';
import { type Poll, plan, readPollOf } from './plan.ts';

/** The polls that a configuration needs, as far as they are known before any listing is read. */
export function pollsOf(
  config: Config,
  resources: readonly Resource[],
  owns: (key: string) => boolean,
): readonly Poll[] {
  const { groups, listings } = plan(config, resources, nothingFound, owns);
  const polls: Poll[] = [...listings.values()];
  for (const { resource, entries, toTarget } of groups) {
    if (!isReadAlone(resource)) continue;
    for (const entry of entries) {
      const target = toTarget(entry);
      if (owns(target.key)) polls.push(readPollOf(resource, target));
    }
  }
  return polls;
}

const nothingFound = { get: () => undefined, isAwaited: () => false };

export interface ApiCapacity {
  readonly api: ApiName;
  readonly polls: number;
  /** Without retries; of a listing, one request a poll. */
  readonly neededPerSecond: number;
  readonly allowedPerSecond: number;
  /** Set when the pace does not suffice: the numbers, what follows from them, and what to do. */
  readonly shortfall: string | undefined;
}

interface Tally {
  polls: number;
  neededPerSecond: number;
  readonly neededByKind: Map<string, number>;
  shortestIntervalMs: number;
  longestIntervalMs: number;
  staleAfterMs: number;
}

function tally(polls: Iterable<Poll>): ReadonlyMap<ApiName, Tally> {
  const tallies = new Map<ApiName, Tally>();
  for (const poll of polls) {
    const { api, kind, intervalMs } = poll;
    let sum = tallies.get(api);
    if (!sum) {
      const most = Number.POSITIVE_INFINITY;
      sum = {
        polls: 0,
        neededPerSecond: 0,
        neededByKind: new Map(),
        shortestIntervalMs: most,
        longestIntervalMs: 0,
        staleAfterMs: most,
      };
      tallies.set(api, sum);
    }
    sum.polls++;
    sum.neededPerSecond += 1000 / intervalMs;
    sum.neededByKind.set(kind, (sum.neededByKind.get(kind) ?? 0) + 1000 / intervalMs);
    sum.shortestIntervalMs = Math.min(sum.shortestIntervalMs, intervalMs);
    sum.longestIntervalMs = Math.max(sum.longestIntervalMs, intervalMs);
    if (poll.type === 'read') sum.staleAfterMs = Math.min(sum.staleAfterMs, poll.target.staleAfterMs);
  }
  return tallies;
}

/** For every API that is polled, whether its pace suffices to poll everything at its interval. */
export function capacity(polls: Iterable<Poll>, apis: Config['apis']): readonly ApiCapacity[] {
  const tallies = tally(polls);
  return apiNames.flatMap((api) => {
    const sum = tallies.get(api);
    if (!sum) return [];
    const allowedPerSecond = apis[api].requestsPerSecond;
    const isSufficient = sum.neededPerSecond <= allowedPerSecond * (1 + 1e-9);
    const shortfall = isSufficient ? undefined : describeShortfall(api, sum, allowedPerSecond);
    // Whatever order they were added in, the sum is the same.
    const neededPerSecond = Math.round(sum.neededPerSecond * 1e6) / 1e6;
    return [{ api, polls: sum.polls, neededPerSecond, allowedPerSecond, shortfall }];
  });
}

function describeShortfall(api: ApiName, sum: Tally, allowedPerSecond: number): string {
  const { polls, neededByKind, shortestIntervalMs, longestIntervalMs, staleAfterMs } = sum;
  const shortest = formatDuration(shortestIntervalMs);
  const at =
    shortestIntervalMs === longestIntervalMs
      ? shortest
      : `${shortest} to ${formatDuration(longestIntervalMs)}`;
  const roundMs = Math.ceil(polls / allowedPerSecond) * 1000;
  const stale = Number.isFinite(staleAfterMs)
    ? `, values go stale after ${formatDuration(staleAfterMs)}`
    : '';
  return (
    `${api}: ${plural(polls, 'poll')} at ${at} need ${rateText(sum.neededPerSecond)} requests/s, ` +
    `requests_per_second is ${rateText(allowedPerSecond)}: a round takes ${formatDuration(roundMs)}${stale}; ` +
    `raise the interval of ${neediest(neededByKind)}${roundMs > staleAfterMs ? ', stale_after' : ''} or apis.${api}.requests_per_second`
  );
}

/** `application`, or `rate_limit (it needs most: 6.1)` */
function neediest(neededByKind: ReadonlyMap<string, number>): string {
  const [[kind, needed] = ['', 0], ...others] = [...neededByKind].toSorted(([, a], [, b]) => b - a);
  return others.length === 0 ? kind : `${kind} (it needs most: ${rateText(needed)})`;
}

/** Requests a second: `0`, `<0.01`, `0.25`, `12.5`. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.01) return '<0.01';
  return count(perSecond, perSecond < 1 ? 2 : 1);
}

/** `1m`, or `1m to 1h` */
export function intervalsText(shortestMs: number, longestMs: number): string {
  const shortest = formatDuration(shortestMs);
  return shortestMs === longestMs ? shortest : `${shortest} to ${formatDuration(longestMs)}`;
}
