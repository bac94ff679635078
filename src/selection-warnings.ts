/**
 * What of a configuration's patterns is hardly meant: that shows only once it is known what there is. Each is said once for a
 * configuration, as soon as every listing that it selects from was complete.
 */
import type { Config } from './config/config.ts';
import { leftOutOf, selectorOf } from './config/selector.ts';
import { withNames } from './polling/listed-things.ts';
import type { ListingStatus } from './polling/listing-status.ts';
import type { IdField, Listed, Listing, Resource } from './resources/resource.ts';
import { count, quote } from './text.ts';

/** The warnings; undefined while a listing was never complete. leftOut: the accounts that are not read. */
type Check = (
  listings: readonly ListingStatus[],
  leftOut: readonly string[],
) => readonly string[] | undefined;

/** Returns the warnings that are due and were not returned before for this configuration. */
export function selectionWarnings(
  resources: readonly Resource[],
): (config: Config, listings: readonly ListingStatus[], leftOut: readonly string[]) => readonly string[] {
  let of: Config | undefined;
  let checks: readonly Check[] = [];
  return (config, listings, leftOut) => {
    if (config !== of) checks = checksOf(config, resources);
    of = config;
    const due: string[] = [];
    checks = checks.filter((check) => {
      const warnings = check(listings, leftOut);
      due.push(...(warnings ?? []));
      return warnings === undefined;
    });
    return due;
  };
}

function checksOf(config: Config, resources: readonly Resource[]): readonly Check[] {
  const { sections, discovery } = config;
  const { exclude = [] } = discovery;
  const ofSections = sections.flatMap((section) => {
    const { kind, accounts, selection, parents, targets } = section;
    const resource = resources.find((one) => one.kind === kind);
    if (!resource?.listing) return [];
    const { listing } = resource;
    if (targets !== 'all') return [];
    const checks: Check[] = [];
    /** Of an account that is not read, nobody knows what there is. */
    const add = (check: Check) =>
      checks.push((listings, leftOut) =>
        accounts.some((one) => leftOut.includes(one)) ? undefined : check(listings, leftOut),
      );
    for (const [from, patterns, path] of [
      [listing, selection, resource.section],
      [listing.parent, parents, `${resource.section}.parents`],
    ] as const) {
      if (!from || !patterns) continue;
      for (const setting of ['include', 'exclude'] as const)
        add((listings) => {
          const found = entriesOf(from, listings, accounts);
          return found && unmatched(patterns[setting], `${path}.${setting}`, found, from.nouns);
        });
    }
    if (selection) add(takesNothing(kind, listing, accounts));
    return checks;
  });
  return exclude.length > 0 ? [leavesOutNothing(exclude), ...ofSections] : ofSections;
}

/** The id of the things that a listing has, if `discovery.exclude` knows them by that. */
function thingIdOf({ ids = [], parent, names }: Listing): IdField | undefined {
  return parent || names ? undefined : ids[0];
}

/** What the listings of these accounts have; undefined while one was never complete. A lacking product has nothing. */
function entriesOf(
  listing: Listing,
  listings: readonly ListingStatus[],
  accounts: readonly string[],
): readonly Listed[] | undefined {
  // What is below a thing is listed once that is known.
  if (listing.parent && !entriesOf(listing.parent, listings, accounts)) return undefined;
  const own = listings.filter(({ poll }) => poll.listing === listing && accounts.includes(poll.account));
  const known = own.flatMap(({ poll, entries, areAll, lacksProduct }) => {
    if (lacksProduct) return [[]];
    if (!entries || !areAll) return [];
    if (poll.namesKey === undefined) return [entries];
    const names = listings.find(({ poll: { key } }) => key === poll.namesKey);
    return names?.areAll ? [withNames(entries, names.entries)] : [];
  });
  return own.length > 0 && known.length === own.length ? known.flat() : undefined;
}

/** The patterns that match nothing, if there is anything to match. */
function unmatched(
  patterns: readonly string[],
  path: string,
  found: readonly Listed[],
  nouns: string,
): readonly string[] {
  if (found.length === 0) return [];
  return patterns.flatMap((pattern) =>
    found.some(selectorOf({ include: [pattern], exclude: [] }))
      ? []
      : [
          `${path}: the pattern ${quote(pattern)} matches nothing that was found (${count(found.length)} ${nouns})`,
        ],
  );
}

/** A selection that takes nothing of what was found. */
function takesNothing(kind: string, listing: Listing, accounts: readonly string[]): Check {
  return (listings) => {
    if (!entriesOf(listing, listings, accounts)) return undefined;
    const selections = listings.flatMap((status) => status.selections).filter((one) => one.kind === kind);
    const excluded = selections.reduce((sum, one) => sum + one.excluded.length, 0);
    if (excluded === 0 || selections.some(({ targets }) => targets > 0)) return [];
    return [
      `nothing of kind ${kind} is polled: include and exclude leave out all that was found (${count(excluded)})`,
    ];
  };
}

function leavesOutNothing(exclude: readonly string[]): Check {
  return (listings, leftOut) => {
    if (leftOut.length > 0) return undefined;
    const ofThings = listings.filter(({ poll }) => thingIdOf(poll.listing));
    if (ofThings.length === 0 || ofThings.some(({ areAll, lacksProduct }) => !areAll && !lacksProduct))
      return undefined;
    const things = ofThings.flatMap(({ poll, entries = [] }) => {
      const label = thingIdOf(poll.listing)?.label ?? '';
      return entries.map(({ ids, name }) => [label, ids[label] ?? '', name] as const);
    });
    return exclude.flatMap((pattern) => {
      const isLeftOut = leftOutOf([pattern]);
      return things.some((thing) => isLeftOut?.(...thing))
        ? []
        : [
            `discovery.exclude: the pattern ${quote(pattern)} matches nothing that was found (${count(things.length)} things)`,
          ];
    });
  };
}
