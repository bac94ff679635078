/** Whether the APIs' paces suffice: how many requests a configuration needs against how many it allows, in numbers and in words. */
import type { Config, SectionConfig } from '../config/config.ts';
import { type ApiName, apiNames, type Resource } from '../resources/resource.ts';
import { formatDuration, plural } from '../text.ts';

export interface KindCapacity {
  readonly kind: string;
  /** undefined: all, so that only the listing tells how many. */
  readonly targets: number | undefined;
  readonly shortestIntervalMs: number;
  readonly longestIntervalMs: number;
  /** Without retries; for a listing, its first page alone. */
  readonly requestsPerSecond: number;
}

export interface ApiCapacity {
  readonly api: ApiName;
  readonly kinds: readonly KindCapacity[];
  readonly neededPerSecond: number;
  readonly allowedPerSecond: number;
  /** Set when the pace does not suffice: how long it takes to poll every target once, in milliseconds. */
  readonly roundMs: number | undefined;
  /** Set when the pace does not suffice: the numbers, what follows from them, and what to do. */
  readonly message: string | undefined;
}

/** For every API that is asked, whether its pace suffices to poll the listed targets at their intervals. */
export function capacity(config: Config, resources: readonly Resource[]): readonly ApiCapacity[] {
  return apiNames.flatMap((api) => {
    const ofApi = resources.filter((resource) => resource.api === api);
    const sections = config.sections.flatMap((section) => {
      const resource = ofApi.find(({ kind }) => kind === section.kind);
      return resource === undefined ? [] : [{ section, resource, polls: pollsOf(section, resource) }];
    });
    if (sections.length === 0) return [];
    const kinds = sections.map(({ section, polls }) => kindCapacity(section, polls));
    const neededPerSecond = kinds.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
    const allowedPerSecond = config.apis[api].requestsPerSecond;
    const polls = sections.flatMap((each) => each.polls);
    const sufficient = neededPerSecond <= allowedPerSecond * (1 + 1e-9);
    const roundMs = sufficient ? undefined : (polls.length / allowedPerSecond) * 1000;
    const message =
      roundMs === undefined ? undefined : shortfall(api, polls, neededPerSecond, allowedPerSecond, roundMs);
    return [{ api, kinds, neededPerSecond, allowedPerSecond, roundMs, message }];
  });
}

interface Poll {
  readonly intervalMs: number;
  readonly staleAfterMs: number;
}

/** What is asked again and again: every target, or, of a listing, the listing of every credential. */
function pollsOf(section: SectionConfig, resource: Resource): readonly Poll[] {
  if (section.targets === 'all') return resource.mode === 'listing' ? [section] : [];
  if (resource.mode === 'single') return section.targets;
  const listings = new Map<string, Poll>();
  for (const target of section.targets) {
    const known = listings.get(target.credential);
    if (known === undefined || target.intervalMs < known.intervalMs) listings.set(target.credential, target);
  }
  return [...listings.values()];
}

function kindCapacity(section: SectionConfig, polls: readonly Poll[]): KindCapacity {
  const targets = section.targets === 'all' ? [section] : section.targets;
  return {
    kind: section.kind,
    targets: section.targets === 'all' ? undefined : targets.length,
    ...range(targets.length === 0 ? [section] : targets),
    requestsPerSecond: polls.reduce((sum, { intervalMs }) => sum + 1000 / intervalMs, 0),
  };
}

function range(polls: readonly Poll[]): { shortestIntervalMs: number; longestIntervalMs: number } {
  let shortestIntervalMs = Number.POSITIVE_INFINITY;
  let longestIntervalMs = 0;
  for (const { intervalMs } of polls) {
    shortestIntervalMs = Math.min(shortestIntervalMs, intervalMs);
    longestIntervalMs = Math.max(longestIntervalMs, intervalMs);
  }
  return { shortestIntervalMs, longestIntervalMs };
}

function shortfall(
  api: ApiName,
  polls: readonly Poll[],
  neededPerSecond: number,
  allowedPerSecond: number,
  roundMs: number,
): string {
  const at = intervals(range(polls));
  const staleAfterMs = polls.reduce(
    (least, poll) => Math.min(least, poll.staleAfterMs),
    Number.POSITIVE_INFINITY,
  );
  const round = `a round takes ${formatDuration(Math.ceil(roundMs / 1000) * 1000)}`;
  const stale = `values go stale after ${formatDuration(staleAfterMs)}`;
  return (
    `${api}: ${plural(polls.length, 'target')} at ${at} need ${rate(neededPerSecond)} requests/s, ` +
    `requests_per_second is ${rate(allowedPerSecond)}: ${round}, ${stale}; ` +
    `raise the interval${roundMs > staleAfterMs ? ', stale_after' : ''} or apis.${api}.requests_per_second`
  );
}

/** `30s to 1m` */
export function intervals({ shortestIntervalMs, longestIntervalMs }: ReturnType<typeof range>): string {
  const shortest = formatDuration(shortestIntervalMs);
  return shortestIntervalMs === longestIntervalMs
    ? shortest
    : `${shortest} to ${formatDuration(longestIntervalMs)}`;
}

/** `0.05`: requests a second, for people. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return '0';
  return perSecond < 0.01
    ? '<0.01'
    : perSecond.toLocaleString('en-US', { maximumFractionDigits: perSecond < 1 ? 2 : 1 });
}
