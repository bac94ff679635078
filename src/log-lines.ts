/** What the log says of the exporter as a whole: requests, the plan, series that are left out, rounds and reloads. */
import type { Logger } from 'pino';
import type { ClientObserver } from './api/client.ts';
import type { Config } from './config/config.ts';
import { compareListed, describeDiscovery, singular } from './discovery/discovered.ts';
import { type ApiCapacity, rateText } from './polling/capacity.ts';
import type { ListingStatus } from './polling/listings.ts';
import type { TargetStatus } from './polling/target-states.ts';
import type { Exchange } from './report/report.ts';
import { type ApiName, products, type Resource } from './resources/resource.ts';
import type { Telemetry } from './telemetry.ts';
import { count, durationInWords, plural } from './text.ts';

/** Counts what the clients do, and logs it: every request at debug, and when an API begins to be paused. */
export function observeRequests(
  telemetry: Pick<Telemetry, 'requested' | 'paused'>,
  log: Logger,
  onExchange: ((exchange: Exchange) => void) | undefined,
): ClientObserver {
  const pausedUntilMs = new Map<ApiName, number>();
  return {
    requested(api, code, seconds, path, answer) {
      onExchange?.({ api, path, code, durationMs: seconds * 1000, answer });
      telemetry.requested(api, code, seconds);
      if (log.isLevelEnabled('debug'))
        log.debug({ api, path, code, duration_seconds: Number(seconds.toFixed(3)) }, 'asked the API');
    },
    paused(api, untilMs) {
      telemetry.paused(api, untilMs);
      const isNew = Date.now() > (pausedUntilMs.get(api) ?? 0);
      pausedUntilMs.set(api, untilMs);
      if (!isNew) return;
      const until = new Date(untilMs).toISOString();
      log.warn({ api }, `the API answered 429; it is asked nothing until ${until}`);
    },
  };
}

/**
 * Says what the plan costs once everything was listed, and again whenever an API needs a tenth more or less. A pace that does
 * not suffice is reported at once, and again when the numbers change.
 */
export function planTeller(
  isListed: () => boolean,
  log: Logger,
): (capacities: readonly ApiCapacity[]) => void {
  let told: readonly ApiCapacity[] | undefined;
  let warned = new Map<ApiName, string>();
  const hasChanged = (capacities: readonly ApiCapacity[]) => {
    const needs = new Map(told?.map(({ api, neededPerSecond }) => [api, neededPerSecond]));
    return (
      capacities.length !== needs.size ||
      capacities.some(({ api, neededPerSecond }) => {
        const before = needs.get(api);
        return before === undefined || Math.abs(neededPerSecond - before) > before / 10;
      })
    );
  };
  return (capacities) => {
    if (told === capacities) return;
    const isTold = told ? hasChanged(capacities) : isListed();
    if (isTold) {
      told = capacities;
      const costs = capacities.map(
        ({ api, neededPerSecond, allowedPerSecond }) =>
          `${api} ${rateText(neededPerSecond)} of ${rateText(allowedPerSecond)}`,
      );
      if (costs.length > 0) log.info(`planned requests/s: ${costs.join(', ')}`);
    }
    const short = new Map<ApiName, string>();
    for (const { api, shortfall } of capacities) {
      if (shortfall === undefined) continue;
      const before = warned.get(api);
      const isNews = before === undefined || (isTold && before !== shortfall);
      if (isNews) log.warn({ api }, shortfall);
      short.set(api, isNews ? shortfall : before);
    }
    warned = short;
  };
}

/** Says once that limits.max_series leaves something out, and once that it no longer does. */
export function droppedTeller(log: Logger): (dropped: number, maxSeries: number) => void {
  let wasDropping = false;
  return (dropped, maxSeries) => {
    if (dropped > 0 === wasDropping) return;
    wasDropping = dropped > 0;
    if (wasDropping)
      log.warn({ dropped }, `${dropped} series are left out, because limits.max_series is ${maxSeries}`);
    else log.info('no series is left out any more');
  };
}

/** What has changed of the targets: `+2 −1, 1 renamed`; nothing where they are the same. */
export function describeChange(before: readonly TargetStatus[], after: readonly TargetStatus[]): string {
  const found = ({ target: { key, name } }: TargetStatus) => ({ ids: { key }, name });
  return describeDiscovery(compareListed(before.map(found), after.map(found)));
}

/** What a configuration wants: the products that are looked through, and how many targets it names. */
export function logWanted(
  log: Logger,
  { sections }: Config,
  resources: readonly Pick<Resource, 'kind' | 'product'>[],
  countOf: (kind: string) => number,
): void {
  const named = sections.filter(({ targets }) => targets !== 'all').map(({ kind }) => kind);
  const all = sections.flatMap((section) => (section.targets === 'all' ? [section.kind] : []));
  const searched = products.filter((product) =>
    resources.some((one) => one.product === product && all.includes(one.kind)),
  );
  const targets = named.reduce((sum, kind) => sum + countOf(kind), 0);
  const parts = [
    targets > 0 || all.length === 0 ? `polling ${plural(targets, 'target')} of the configuration` : '',
    searched.length > 0 ? `looking for everything of ${listed(searched)}` : '',
  ];
  log.debug({ named, all }, 'the kinds of the configuration');
  log.info(parts.filter(Boolean).join(', and '));
}

/** `a, b and c` */
function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** What the account has, by what is listed: `45 applications, 30 pull zones, 12 listings failing`. */
function foundText(listings: readonly ListingStatus[]): string {
  const found = new Map<string, number>();
  for (const { poll, found: n, state } of listings) {
    if (poll.parent || state !== 'ok') continue;
    found.set(poll.listing.nouns, Math.max(found.get(poll.listing.nouns) ?? 0, n));
  }
  const failing = listings.filter(({ state }) => state === 'failing').length;
  const parts = [...found]
    .filter(([, n]) => n > 0)
    .map(([nouns, n]) => `${count(n)} ${n === 1 ? singular(nouns) : nouns}`);
  if (failing > 0) parts.push(`${plural(failing, 'listing')} failing`);
  return parts.length > 0 ? `; found ${parts.join(', ')}` : '';
}

/** How a round of polls went: `first round: 4,998 ok, 2 failing, 12 s; found 45 applications, 30 pull zones`. */
export function roundText(
  targets: readonly TargetStatus[],
  listings: readonly ListingStatus[],
  durationMs: number,
): string {
  const ok = targets.filter(({ state }) => state === 'ok').length;
  const parts = [`${count(ok)} ok`, `${count(targets.length - ok)} failing`, durationInWords(durationMs)];
  return `first round: ${parts.join(', ')}${foundText(listings)}`;
}
