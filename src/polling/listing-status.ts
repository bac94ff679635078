/** How a listing is, for people and metrics, and what the log says of what it found. */
import type { Logger } from 'pino';
import { apiDefaults } from '../config/config.ts';
import type { ApiName, Listed, Listing } from '../resources/resource.ts';
import { type Changes, describeDiscovery, nameOf, type SnapshotEntry, singular } from './listed-things.ts';
import type { TargetSelection } from './plan.ts';
import { type Failure, hasEnded, type PollRecord } from './record.ts';
import type { ListingSpec, Spec } from './spec.ts';
import type { ListingTask } from './task.ts';

export interface ListingStatus {
  readonly poll: ListingSpec;
  readonly state: 'pending' | 'ok' | 'lacking' | 'failing';
  /** Whether the account lacks the product: then the listing is refused, which is no failure. */
  readonly lacksProduct: boolean;
  /** Since when the API answers that the plan lacks all of it. Unix time. */
  readonly lackingSinceMs?: number | undefined;
  /** How many things the last run had. */
  readonly found: number;
  /** These things; undefined before the first. */
  readonly entries?: readonly SnapshotEntry[] | undefined;
  /** Whether these are all, and were listed with the key that it has now. */
  readonly areAll?: boolean;
  /** Unix time. */
  readonly lastSuccessMs: number | undefined;
  readonly lastDurationSeconds: number | undefined;
  readonly lastFailure: Failure | undefined;
  readonly selections: readonly TargetSelection[];
  /** How many things are left out because what they are called after was deleted. */
  readonly orphans?: number | undefined;
}

/** The things that some kind leaves out, each once: several kinds select from one listing. */
export function excludedBy(selections: readonly TargetSelection[]): readonly Listed[] {
  if (selections.length === 1) return selections[0]?.excluded ?? [];
  const things = new Map<string, Listed>();
  for (const { excluded } of selections)
    for (const thing of excluded) things.set(Object.values(thing.ids).join('/'), thing);
  return [...things.values()];
}

const refusals: readonly (number | undefined)[] = [401, 403, 404];

/** Whether a failure may only mean that the account lacks the product, which is optional. */
export function mayLack(
  optionalProduct: Listing['optionalProduct'],
  { api, baseUrl }: Pick<Spec, 'api' | 'baseUrl'>,
  status: number | undefined,
): boolean {
  // At an address that was set by hand, nothing may be there.
  if (optionalProduct === 'api')
    return status === 403 || (status === 404 && baseUrl === apiDefaults[api].baseUrl);
  return optionalProduct === true && refusals.includes(status);
}

/** Whether it was read with the key that it has now: another one may be of another account. */
export function wasRead({ lastSuccessMs, readWith }: PollRecord, keyId: string): boolean {
  return lastSuccessMs !== undefined && readWith === keyId;
}

/**
 * Whether a key that reads something of these APIs shows that what it may not read is of a product that its account lacks. Where a whole
 * API is the product, a key that reads something of it lacks only a right.
 */
export function isAccepted(
  optionalProduct: Listing['optionalProduct'],
  { api }: Pick<Spec, 'api'>,
  readAt: Iterable<ApiName>,
): boolean {
  const all = [...readAt];
  return optionalProduct === 'api' ? all.length > 0 && !all.includes(api) : all.includes(api);
}

/**
 * A product that the account lacks is not told apart from one that it may not read: either way it has nothing to list. That holds
 * only until the listing succeeds once with this key, and while the key is accepted, see {@link isAccepted}.
 *
 * @param readAt the APIs of which something was read with the key
 */
export function listingStatus(
  {
    spec,
    record,
    snapshot,
    lackingSinceMs,
    isComplete,
  }: Pick<ListingTask, 'spec' | 'record' | 'snapshot' | 'lackingSinceMs' | 'isComplete'>,
  selections: readonly TargetSelection[],
  readAt: Iterable<ApiName>,
  orphans = 0,
): ListingStatus {
  const { lastSuccessMs, lastDurationSeconds, lastFailure } = record;
  const { optionalProduct } = spec.listing;
  const lacksProduct =
    mayLack(optionalProduct, spec, lastFailure?.status) &&
    !wasRead(record, spec.keyId) &&
    isAccepted(optionalProduct, spec, readAt);
  const goodState = lackingSinceMs === undefined ? 'ok' : 'lacking';
  const isFailing = lastFailure !== undefined && !lacksProduct;
  return {
    poll: spec,
    state: isFailing ? 'failing' : hasEnded(record) ? goodState : 'pending',
    lacksProduct,
    lackingSinceMs,
    found: snapshot?.entries.length ?? 0,
    entries: snapshot?.entries,
    areAll: isComplete && snapshot?.keyId === spec.keyId,
    lastSuccessMs,
    lastDurationSeconds,
    lastFailure: isFailing ? lastFailure : undefined,
    selections,
    orphans,
  };
}

/** `+2 −1 applications`. There may be many below parents, so their first results, and lists of parts, are at debug. */
export function logDiscovery(log: Logger, poll: ListingSpec, changes: Changes, isFirst: boolean): void {
  const { kind, credential, listing, parent } = poll;
  const { added, removed, renamed } = changes;
  const n = added + removed + renamed;
  if (n === 0) return;
  const below = parent && nameOf(parent);
  const isNews = !parent || (listing.parent !== undefined && !isFirst);
  log[isNews ? 'info' : 'debug'](
    { kind, listing_of: credential, parent: below },
    `${describeDiscovery(changes)} ${n === 1 ? singular(listing.nouns) : listing.nouns}`,
  );
}
