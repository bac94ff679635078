/** Finds the targets of a configuration: each listing is read once, as the plan wants it. */
import type { ApiClients } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import type { Config } from '../config/config.ts';
import { leftOutOf } from '../config/selector.ts';
import { compareListed, idText, nameOf, ownKeysOf } from '../polling/discovered.ts';
import { mayLack } from '../polling/listings.ts';
import { plan, plannedSections } from '../polling/plan.ts';
import { type ListingSpec, type Spec, sourceOf, type Target } from '../polling/spec.ts';
import type { Snapshot } from '../polling/task.ts';
import { isNotInPlan } from '../resources/envelope.ts';
import type { Found, Get, Resource } from '../resources/resource.ts';
import { ReadingError, silent } from '../resources/resource.ts';
import type { FoundKeys } from '../secrets/found-keys.ts';
import { safeLine } from '../text.ts';

export interface Reader {
  readonly clients: ApiClients;
  readonly signal: AbortSignal;
  /** How long a request may take, with its turn, retries and the pauses that the API asks for. */
  readonly budgetMs: number;
  /** Where the key of a credential comes from. */
  readonly describeKey: (credential: string) => string;
}

export function getFor(
  { clients, signal, budgetMs }: Reader,
  { api, account, credential, kind, queue }: Spec,
): Get {
  return (path) => clients[api].get({ path, account, credential, kind, queue, budgetMs }, signal);
}

/** How a request or a reading failed. Throws what is no failure of an answer. */
export function failureOf(error: unknown) {
  if (error instanceof ApiError)
    return {
      result: error.result,
      status: error.answer.status,
      errorKey: error.answer.errorKey,
      message: safeLine(error.message),
    };
  if (error instanceof ReadingError)
    return {
      result: error.result,
      status: undefined,
      errorKey: error.errorKey,
      message: safeLine(error.message),
    };
  throw error;
}

/** Why something could not be read, for people. */
export function reasonOf(
  { result, status, message }: Pick<ReturnType<typeof failureOf>, 'result' | 'status' | 'message'>,
  credential: string,
  { describeKey }: Pick<Reader, 'describeKey'>,
): string {
  return result === 'auth' && status === 401
    ? `the API refuses the key of ${credential} (${describeKey(credential)}). Correct it and begin anew`
    : message;
}

export interface Discovered {
  /** In the order of the configuration. */
  readonly targets: readonly Target[];
  /** What a listing found for a target that it feeds. */
  readonly foundFor: (target: Target) => Found | undefined;
  /** Which listings could not be read, and why. */
  readonly failures: readonly string[];
}

interface DiscoverOptions extends Reader {
  readonly config: Config;
  readonly resources: readonly Resource[];
  readonly foundKeys: Pick<FoundKeys, 'learn' | 'idOf'>;
  /** Unix time. */
  readonly nowMs: number;
}

export async function discover(options: DiscoverOptions): Promise<Discovered> {
  const { config, resources, foundKeys } = options;
  const sections = plannedSections(config, resources);
  const isLeftOut = leftOutOf(config.discovery.exclude);
  const asked = new Set<string>();
  /** Of those that were read. */
  const snapshots = new Map<string, Snapshot>();
  const found = new Map<string, ReadonlyMap<string, Found>>();
  const failures: string[] = [];
  /** What may be a product that the account lacks, and the keys that read something of an API. */
  const refusals: { readonly of: string; readonly failure: string }[] = [];
  const reading = new Set<string>();
  for (;;) {
    const { listings, targets } = plan({
      config,
      sections,
      isLeftOut,
      keyIdOf: (credential) => foundKeys.idOf(credential) ?? '',
      snapshotOf: (key) => snapshots.get(key),
      before: new Map(),
    });
    const unread = [...listings.values()].filter(({ key }) => !asked.has(key));
    if (unread.length === 0)
      return {
        targets: [...targets.values()],
        foundFor: ({ fedBy = '', ids }) => found.get(fedBy)?.get(idText(ids)),
        // A key that reads nothing of the API is refused.
        failures: [...failures, ...refusals.flatMap(({ of, failure }) => (reading.has(of) ? [] : [failure]))],
      };
    const runs = await Promise.all(unread.map((spec) => list(spec, options)));
    for (const { spec, entries, failure, mayLack: isRefusal = false } of runs) {
      const of = sourceOf(spec);
      if (failure === undefined) reading.add(of);
      else if (isRefusal) refusals.push({ of, failure });
      else failures.push(failure);
      foundKeys.learn(spec.key, ownKeysOf(spec.listing, entries));
      if (spec.isRead) found.set(spec.key, new Map(entries.map((one) => [idText(one.ids), one])));
      asked.add(spec.key);
      if (failure === undefined)
        snapshots.set(spec.key, { entries: compareListed(undefined, entries).listed, keyId: spec.keyId });
    }
  }
}

interface ListingRun {
  readonly spec: ListingSpec;
  readonly entries: readonly Found[];
  /** Why it could not be read. */
  readonly failure?: string;
  /** Whether the account may lack the product: then there is nothing to list. */
  readonly mayLack?: boolean;
}

/** What one listing has; nothing, with the reason, if it could not be read. */
async function list(spec: ListingSpec, reader: Reader & Pick<DiscoverOptions, 'nowMs'>): Promise<ListingRun> {
  const { listing, parent, account, credential } = spec;
  try {
    const run = await listing.discover(getFor(reader, spec), parent?.ids, silent, reader.nowMs);
    return { spec, entries: [...run.found] };
  } catch (error) {
    reader.signal.throwIfAborted();
    const failure = failureOf(error);
    if (listing.isEmpty?.(failure) || isNotInPlan(listing, failure)) return { spec, entries: [] };
    const of = parent ? nameOf(parent) : account;
    return {
      spec,
      entries: [],
      failure: `the ${listing.nouns} of ${of}: ${reasonOf(failure, credential, reader)}`,
      mayLack: mayLack(listing, failure.status),
    };
  }
}
