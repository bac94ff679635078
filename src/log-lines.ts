/** Log lines about the exporter as a whole: requests, the plan, lacking products, orphans, rounds and reloads. */
import type { Logger } from 'pino';
import type { ClientObserver } from './api/client.ts';
import type { Config } from './config/config.ts';
import { type ApiCapacity, rateText } from './polling/capacity.ts';
import { describeDiscovery, singular } from './polling/listed-things.ts';
import type { ListingStatus } from './polling/listing-status.ts';
import type { Target } from './polling/spec.ts';
import type { TargetStatus } from './polling/target-task.ts';
import type { Exchange } from './report/report.ts';
import { type ApiName, apiNames, products, type Resource } from './resources/resource.ts';
import type { Telemetry } from './telemetry.ts';
import { andList, count, durationInWords, plural } from './text.ts';

/** Counts what the clients do, and logs every request at debug. */
export function observeRequests(
  telemetry: Pick<Telemetry, 'requested'>,
  log: Logger,
  onExchange: ((exchange: Exchange) => void) | undefined,
): ClientObserver {
  return {
    requested(api, code, seconds, path, answer) {
      onExchange?.({ api, path, code, durationMs: seconds * 1000, answer });
      telemetry.requested(api, code, seconds);
      if (log.isLevelEnabled('debug'))
        log.debug({ api, path, code, duration_seconds: Number(seconds.toFixed(3)) }, 'asked the API');
    },
  };
}

/** Logs the requests a second of each API once everything was listed, and again when one needs a tenth more or less. */
export function planLog(isListed: () => boolean, log: Logger): (capacities: readonly ApiCapacity[]) => void {
  let logged: readonly ApiCapacity[] | undefined;
  return (capacities) => {
    const isNew = logged ? differByATenth(logged, capacities) : isListed();
    if (!isNew) return;
    logged = capacities;
    if (capacities.length > 0) log.info(`planned requests/s: ${planText(capacities)}`);
  };
}

/** `application 0.4 of 10, shield 1.2 of 10` */
function planText(capacities: readonly ApiCapacity[]): string {
  const rates = capacities.map(
    ({ api, neededPerSecond, allowedPerSecond }) =>
      `${api} ${rateText(neededPerSecond)} of ${rateText(allowedPerSecond)}`,
  );
  return rates.join(', ');
}

function differByATenth(before: readonly ApiCapacity[], after: readonly ApiCapacity[]): boolean {
  const needed = (capacities: readonly ApiCapacity[], api: ApiName) =>
    capacities.find((one) => one.api === api)?.neededPerSecond ?? 0;
  return apiNames.some(
    (api) => Math.abs(needed(after, api) - needed(before, api)) > needed(before, api) / 10,
  );
}

/**
 * Logs once of each listing that the account lacks its product, or that the key may not read it, with the setting that leaves it out;
 * again if it leaves the plan and comes back.
 */
export function lackingLog(
  log: Logger,
  resources: readonly Pick<Resource, 'kind' | 'api' | 'listing'>[],
): (listings: readonly ListingStatus[]) => void {
  let logged: ReadonlySet<string> = new Set();
  return (listings) => {
    const before = logged;
    const isSaid = ({ poll, lacksProduct, found }: ListingStatus) =>
      lacksProduct || (found === 0 && before.has(poll.key));
    logged = new Set(listings.flatMap((listing) => (isSaid(listing) ? listing.poll.key : [])));
    for (const { poll } of listings) {
      if (before.has(poll.key) || !logged.has(poll.key)) continue;
      const { kind, listing, credential } = poll;
      const isOfIt = (one: Pick<Resource, 'api' | 'listing'>) =>
        one.listing === listing || (listing.optionalProduct === 'api' && one.api === listing.api);
      const kinds = resources.filter(isOfIt).map((one) => one.kind);
      log.info(
        { kind, credential },
        `no ${listing.nouns}: the account lacks the product, or the key of ${credential} may not read it. \`discovery: { except: [${kinds.join(', ')}] }\` leaves them out`,
      );
    }
  };
}

/** Logs how many things are left out because what they are called after was deleted; again where that changes. */
export function orphanLog(log: Logger): (listings: readonly ListingStatus[]) => void {
  let logged: ReadonlyMap<string, number> = new Map();
  return (listings) => {
    const before = logged;
    logged = new Map(listings.map(({ poll, orphans = 0 }) => [poll.key, orphans]));
    for (const { poll, orphans = 0 } of listings) {
      if (orphans === 0 || orphans === before.get(poll.key)) continue;
      const { kind, account, listing } = poll;
      const of = `${orphans === 1 ? singular(listing.nouns) : listing.nouns} of ${account}`;
      const nouns = listing.names?.nouns ?? '';
      const why = orphans === 1 ? `its ${singular(nouns)} is gone` : `their ${nouns} are gone`;
      log.info(
        { kind, account, orphans },
        `${count(orphans)} ${of} ${orphans === 1 ? 'is' : 'are'} left out: ${why}, and the API lists ${orphans === 1 ? 'it' : 'them'} for ever`,
      );
    }
  };
}

/** What has changed of the targets, by key: `+2 −1, 1 renamed`; empty if they are the same. */
export function describeChange(
  before: ReadonlyMap<string, Pick<Target, 'name'>>,
  after: ReadonlyMap<string, Pick<Target, 'name'>>,
): string {
  let common = 0;
  let renamed = 0;
  for (const [key, { name }] of after) {
    const old = before.get(key);
    if (old) common++;
    if (old && old.name !== name) renamed++;
  }
  return describeDiscovery({ added: after.size - common, removed: before.size - common, renamed });
}

/** Logs how many targets the configuration names, and in which products it looks for more. */
export function logWanted(
  log: Logger,
  { sections }: Config,
  resources: readonly Pick<Resource, 'kind' | 'product'>[],
  countOf: (kind: string) => number,
): void {
  const named = sections.filter(({ targets }) => targets !== 'all').map(({ kind }) => kind);
  const all = sections.filter(({ targets }) => targets === 'all').map(({ kind }) => kind);
  const found = new Set(resources.filter(({ kind }) => all.includes(kind)).map(({ product }) => product));
  const searched = products.filter((product) => found.has(product));
  const targets = named.reduce((sum, kind) => sum + countOf(kind), 0);
  const parts: string[] = [];
  if (targets > 0 || all.length === 0)
    parts.push(`polling ${plural(targets, 'target')} of the configuration`);
  if (searched.length > 0) parts.push(`looking for targets in ${andList(searched)}`);
  log.debug({ named, all }, 'the kinds of the configuration');
  log.info(parts.join(', and '));
}

/** `the first round of polls took 12 s: 4,998 ok, 2 failing; it found 45 applications, 30 pull zones` */
export function roundText(
  targets: readonly TargetStatus[],
  listings: readonly ListingStatus[],
  durationMs: number,
): string {
  const counts = { ok: 0, failing: 0, absent: 0, stale: 0, pending: 0, lacking: 0 };
  for (const { state } of targets) counts[state]++;
  const { ok, failing: failingTargets, ...others } = counts;
  const rest = Object.entries(others).flatMap(([state, n]) =>
    n > 0 ? [`${count(n)} ${state === 'lacking' ? 'not in the plan' : state}`] : [],
  );
  const states = [`${count(ok)} ok`, `${count(failingTargets)} failing`, ...rest].join(', ');
  const found = new Map<string, number>();
  const seen = new Set<string>();
  for (const { poll, found: n, state } of listings) {
    const { nouns, ids } = poll.listing;
    // Another listing may read the same things in more detail.
    const things = `${ids?.at(-1)?.label ?? nouns} of ${poll.account}`;
    if (poll.parent || state !== 'ok' || n === 0 || seen.has(things)) continue;
    seen.add(things);
    found.set(nouns, (found.get(nouns) ?? 0) + n);
  }
  const parts = Array.from(found, ([nouns, n]) => `${count(n)} ${n === 1 ? singular(nouns) : nouns}`);
  const failing = listings.filter(({ state }) => state === 'failing').length;
  const foundText = parts.length > 0 ? `; it found ${parts.join(', ')}` : '';
  const failingText = failing > 0 ? `; ${plural(failing, 'listing')} failed` : '';
  return `the first round of polls took ${durationInWords(durationMs)}: ${states}${foundText}${failingText}`;
}
