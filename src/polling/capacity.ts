/** Whether the pace of each API is high enough for its polls. */
import type { Config } from '../config/config.ts';
import { type ApiName, apiNames, type Resource } from '../resources/resource.ts';
import { count, formatDuration, plural } from '../text.ts';
import { plan, wantedBy } from './plan.ts';
import type { Spec } from './spec.ts';

/** What a configuration polls, as far as it is known before any listing is read. */
export function specsOf(config: Config, resources: readonly Resource[]): readonly Spec[] {
  const { listings, targets } = plan({
    ...wantedBy(config, resources),
    keyIdOf: () => '',
    snapshotOf: () => undefined,
    isComplete: () => true,
    before: new Map(),
  });
  return [...listings.values(), ...[...targets.values()].filter(({ fedBy }) => fedBy === undefined)];
}

export interface ApiCapacity {
  readonly api: ApiName;
  readonly polls: number;
  /** Without retries and further pages. */
  readonly neededPerSecond: number;
  readonly allowedPerSecond: number;
  /** If the pace is too low: the numbers, what follows, and what to do. */
  readonly shortfall: string | undefined;
}

export function capacity(polls: readonly Spec[], apis: Config['apis']): readonly ApiCapacity[] {
  const byApi = new Map<ApiName, Spec[]>();
  for (const poll of polls) {
    const ofApi = byApi.get(poll.api);
    if (ofApi) ofApi.push(poll);
    else byApi.set(poll.api, [poll]);
  }
  return apiNames.flatMap((api) => {
    const ofApi = byApi.get(api);
    if (!ofApi) return [];
    const allowedPerSecond = apis[api].requestsPerSecond;
    const needed = ofApi.reduce((sum, { intervalMs }) => sum + 1000 / intervalMs, 0);
    // Rounded, so that it does not depend on the order of the polls.
    const neededPerSecond = Math.round(needed * 1e6) / 1e6;
    const isShort = neededPerSecond > allowedPerSecond;
    const shortfall = isShort ? describeShortfall(api, ofApi, neededPerSecond, allowedPerSecond) : undefined;
    return [{ api, polls: ofApi.length, neededPerSecond, allowedPerSecond, shortfall }];
  });
}

function describeShortfall(
  api: ApiName,
  polls: readonly Spec[],
  neededPerSecond: number,
  allowedPerSecond: number,
): string {
  const neededByKind = new Map<string, number>();
  for (const { kind, intervalMs } of polls)
    neededByKind.set(kind, (neededByKind.get(kind) ?? 0) + 1 / intervalMs);
  const [neediest] = [...neededByKind].toSorted(([, a], [, b]) => b - a);
  const round = formatDuration(Math.ceil(polls.length / allowedPerSecond) * 1000);
  return (
    `${api}: ${plural(polls.length, 'poll')} ${polls.length === 1 ? 'needs' : 'need'} ${rateText(neededPerSecond)} requests/s, ` +
    `requests_per_second is ${rateText(allowedPerSecond)}: a round takes ${round}; raise ` +
    `interval_factor, apis.${api}.requests_per_second, or interval and stale_after (${neediest?.[0]} needs most)`
  );
}

/** Requests a second: `0`, `<0.01`, `0.25`, `12.5`. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.01) return '<0.01';
  return count(perSecond, perSecond < 1 ? 2 : 1);
}
