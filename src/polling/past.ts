/**
 * What a history needs of polling, and its only way in: which targets there are, by the plan, with each listing read once; whether a 401
 * is about an id or about the key; and what names a target. It makes no request itself.
 */
import type { Config } from '../config/config.ts';
import { type ApiName, type Found, type Get, idText, type Resource } from '../resources/resource.ts';
import { isKeyGood, listingBehind, mayBeAboutId } from './doubts.ts';
import { compareListed, ownKeysOf } from './listed-things.ts';
import { isAccepted, mayLack } from './listing-status.ts';
import { plan, wantedBy } from './plan.ts';
import { type Failure, isBare401 } from './record.ts';
import type { ListingSpec, Spec, Target } from './spec.ts';
import type { Snapshot } from './task.ts';

export { enoughMovedRuns, nameOf } from './listed-things.ts';
export { addressOf, type ListingSpec, type Spec, type Target } from './spec.ts';
export { type FamilyRows, namedRowsOf, withAccount } from './target-rows.ts';

/** What came of a listing: all that it has, or why it could not be read. */
export type ListingOutcome =
  | { readonly entries: readonly Found[] }
  | { readonly failure: string; readonly status: number | undefined };

export interface FoundTargets {
  /** In the order of the configuration. */
  readonly targets: readonly Target[];
  /** What a listing found for a target that it feeds. */
  readonly foundFor: (target: Target) => Found | undefined;
  /** Which listings could not be read, and why. */
  readonly failures: readonly string[];
}

export interface FindOptions {
  readonly config: Config;
  readonly resources: readonly Resource[];
  /** The keys that listings have of what they list. */
  readonly foundKeys: {
    learn(listing: string, keys: ReturnType<typeof ownKeysOf>): void;
    idOf(credential: string): string | undefined;
  };
  /** Reads a listing. */
  readonly list: (spec: ListingSpec) => Promise<ListingOutcome>;
}

/** Finds the targets of a configuration: each listing is read once, as the plan wants it. */
export async function findTargets({
  config,
  resources,
  foundKeys,
  list,
}: FindOptions): Promise<FoundTargets> {
  const wanted = wantedBy(config, resources);
  const asked = new Set<string>();
  /** Of those that were read. */
  const snapshots = new Map<string, Snapshot>();
  const found = new Map<string, ReadonlyMap<string, Found>>();
  const failures: string[] = [];
  /** What may be a product that the account lacks, and the keys that read something of an API. */
  const refusals: { readonly spec: ListingSpec; readonly failure: string }[] = [];
  const readAt = new Map<string, Set<ApiName>>();
  for (;;) {
    const { listings, targets } = plan({
      ...wanted,
      keyIdOf: (credential) => foundKeys.idOf(credential) ?? '',
      snapshotOf: (key) => snapshots.get(key),
      isComplete: () => true,
      before: new Map(),
    });
    const unread = [...listings.values()].filter(({ key }) => !asked.has(key));
    if (unread.length === 0)
      return {
        targets: [...targets.values()],
        foundFor: ({ fedBy = '', ids }) => found.get(fedBy)?.get(idText(ids)),
        // A key that is accepted nowhere is refused.
        failures: [
          ...failures,
          ...refusals.flatMap(({ spec, failure }) =>
            isAccepted(spec.listing.optionalProduct, spec, readAt.get(spec.credential) ?? [])
              ? []
              : [failure],
          ),
        ],
      };
    const outcomes = await Promise.all(unread.map(async (spec) => [spec, await list(spec)] as const));
    for (const [spec, outcome] of outcomes) {
      const { api, credential } = spec;
      const entries = 'entries' in outcome ? outcome.entries : [];
      asked.add(spec.key);
      foundKeys.learn(spec.key, ownKeysOf(spec.listing, entries));
      if (spec.isRead) found.set(spec.key, new Map(entries.map((one) => [idText(one.ids), one])));
      if ('entries' in outcome) {
        readAt.set(credential, (readAt.get(credential) ?? new Set<ApiName>()).add(api));
        snapshots.set(spec.key, { entries: compareListed(undefined, entries).listed, keyId: spec.keyId });
      } else if (mayLack(spec.listing.optionalProduct, spec, outcome.status))
        refusals.push({ spec, failure: outcome.failure });
      else failures.push(outcome.failure);
    }
  }
}

/** Tells for each target that got a 401 whose fault that is. It asks once for each. */
export class RefusalRule {
  /** Whether the key of a target is good; undefined where nothing tells. By the key of the target. */
  readonly #keysGood = new Map<string, Promise<boolean | undefined>>();
  readonly #getFor: (spec: Spec) => Get;

  constructor(getFor: (spec: Spec) => Get) {
    this.#getFor = getFor;
  }

  /**
   * @returns whether the failure is about the id, which the key is good for; undefined where that cannot be told
   * @param nowMs Unix time
   */
  async isAboutId(
    target: Target,
    failure: Pick<Failure, 'result' | 'status' | 'errorKey'>,
    nowMs: number,
  ): Promise<boolean | undefined> {
    if (!isBare401(failure) || !mayBeAboutId(target)) return false;
    const listing = listingBehind(target);
    const asked =
      this.#keysGood.get(target.key) ?? (listing && isKeyGood(listing, this.#getFor(listing), nowMs));
    if (asked) this.#keysGood.set(target.key, asked);
    return await asked;
  }
}
