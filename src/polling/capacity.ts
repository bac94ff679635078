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
): PollClasses {
  const { groups, listings } = plan(config, resources, nothingFound, owns);
  const classes = new PollClasses(listings.values());
  for (const { resource, entries, toTarget } of groups) {
    if (!isReadAlone(resource)) continue;
    for (const entry of entries) {
      const target = toTarget(entry);
      if (owns(target.key)) classes.count(readPollOf(resource, target), 1);
    }
  }
  return classes;
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

/** Polls of one kind that cost the same. */
interface PollClass {
  readonly api: ApiName;
  readonly kind: string;
  readonly intervalMs: number;
  /** Undefined of listings. */
  readonly staleAfterMs: number | undefined;
  polls: number;
}

/** Polls by what they cost: a great many are a few classes, which are counted while polls come and go. */
export class PollClasses {
  readonly #classes = new Map<string, PollClass>();

  constructor(polls: Iterable<Poll> = []) {
    for (const poll of polls) this.count(poll, 1);
  }

  count(poll: Poll, change: 1 | -1): void {
    const { api, kind, intervalMs } = poll;
    const staleAfterMs = poll.type === 'read' ? poll.target.staleAfterMs : undefined;
    const key = `${api} ${kind} ${intervalMs} ${staleAfterMs}`;
    const known = this.#classes.get(key) ?? { api, kind, intervalMs, staleAfterMs, polls: 0 };
    known.polls += change;
    if (known.polls > 0) this.#classes.set(key, known);
    else this.#classes.delete(key);
  }

  of(api: ApiName): readonly PollClass[] {
    return [...this.#classes.values()].filter((one) => one.api === api);
  }
}

interface Tally {
  readonly polls: number;
  readonly neededPerSecond: number;
  readonly neededByKind: ReadonlyMap<string, number>;
  readonly shortestIntervalMs: number;
  readonly longestIntervalMs: number;
  readonly staleAfterMs: number;
}

function tally(classes: readonly PollClass[]): Tally {
  const neededByKind = new Map<string, number>();
  for (const { kind, intervalMs, polls } of classes)
    neededByKind.set(kind, (neededByKind.get(kind) ?? 0) + (polls * 1000) / intervalMs);
  const intervals = classes.map(({ intervalMs }) => intervalMs);
  return {
    polls: classes.reduce((sum, { polls }) => sum + polls, 0),
    neededPerSecond: [...neededByKind.values()].reduce((sum, needed) => sum + needed, 0),
    neededByKind,
    shortestIntervalMs: Math.min(...intervals),
    longestIntervalMs: Math.max(...intervals),
    staleAfterMs: Math.min(...classes.map(({ staleAfterMs = Number.POSITIVE_INFINITY }) => staleAfterMs)),
  };
}

/** For every API that is polled, whether its pace suffices to poll everything at its interval. */
export function capacity(polls: PollClasses, apis: Config['apis']): readonly ApiCapacity[] {
  return apiNames.flatMap((api) => {
    const classes = polls.of(api);
    if (classes.length === 0) return [];
    const sum = tally(classes);
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
