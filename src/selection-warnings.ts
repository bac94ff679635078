/**
 * What of a configuration's patterns is hardly meant: that shows only once it is known what there is. Each is said once for a
 * configuration, as soon as every listing that it selects from was complete.
 */
import type { Config, SectionConfig } from './config/config.ts';
import { leftOutOf, selectorOf } from './config/selector.ts';
import { idText, nameOf, withNames } from './polling/discovered.ts';
import type { ListingStatus } from './polling/listings.ts';
import type { TargetStatus } from './polling/target-task.ts';
import type { IdField, Listed, Listing, Resource } from './resources/resource.ts';
import { count, quote } from './text.ts';

export interface Known {
  readonly listings: readonly ListingStatus[];
  readonly targets: readonly Pick<TargetStatus, 'target'>[];
}

/** The warnings; undefined while a listing was never complete. */
type Check = (known: Known) => readonly string[] | undefined;

const shownNames = 3;

/** Returns the warnings that are due and were not returned before for this configuration. */
export function selectionWarnings(
  resources: readonly Resource[],
): (config: Config, known: Known) => readonly string[] {
  let of: Config | undefined;
  let checks: readonly Check[] = [];
  return (config, known) => {
    if (config !== of) checks = checksOf(config, resources);
    of = config;
    const due: string[] = [];
    checks = checks.filter((check) => {
      const warnings = check(known);
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
    if (targets !== 'all')
      return exclude.length > 0 ? [namedAlthoughLeftOut(section, resource, exclude)] : [];
    const checks: Check[] = [];
    for (const [from, patterns, path] of [
      [listing, selection, resource.section],
      [listing.parent, parents, `${resource.section}.parents`],
    ] as const) {
      if (!from || !patterns) continue;
      for (const setting of ['include', 'exclude'] as const)
        checks.push(({ listings }) => {
          const found = entriesOf(from, listings, accounts);
          return found && unmatched(patterns[setting], `${path}.${setting}`, found, from.nouns);
        });
    }
    if (selection) checks.push(takesNothing(kind, listing, accounts));
    const [field] = listing.parent ? [] : (listing.ids ?? []);
    if (selection && field) checks.push(readElsewhere(section, resource, field, exclude));
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
  const own = listings.filter(({ poll }) => poll.listing === listing && accounts.includes(poll.account));
  const known = own.flatMap(({ poll, entries, isLacking }) => {
    if (isLacking) return [[]];
    if (poll.namesKey === undefined || !entries) return entries ? [entries] : [];
    const names = listings.find(({ poll: { key } }) => key === poll.namesKey)?.entries;
    return names ? [withNames(entries, names)] : [];
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
  return ({ listings }) => {
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
  return ({ listings }) => {
    const ofThings = listings.filter(({ poll }) => thingIdOf(poll.listing));
    if (ofThings.length === 0 || ofThings.some(({ entries, isLacking }) => !entries && !isLacking))
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

/** Things that a section excludes and other kinds read. A Shield Zone is left out everywhere by its pull zone, with that. */
function readElsewhere(
  { kind, accounts, selection }: SectionConfig,
  { section, listing }: Resource,
  { label }: IdField,
  exclude: readonly string[],
): Check {
  const patterns = selection?.exclude ?? [];
  const matchers = patterns.map(
    (pattern) => [pattern, selectorOf({ include: [pattern], exclude: [] })] as const,
  );
  const isLeftOut = leftOutOf(exclude);
  return ({ listings, targets }) => {
    const found = listing && entriesOf(listing, listings, accounts);
    if (!found) return undefined;
    const excluded = new Map(
      found.flatMap((entry) => {
        const id = entry.ids[label] ?? '';
        const isOwn = matchers.some(([, matches]) => matches(entry)) && !isLeftOut?.(label, id, entry.name);
        return isOwn ? [[id, entry] as const] : [];
      }),
    );
    const readers = new Map<string, Set<string>>();
    for (const { target } of targets) {
      const id = target.ids[label] ?? '';
      if (target.kind !== kind && excluded.has(id))
        readers.set(id, (readers.get(id) ?? new Set()).add(target.kind));
    }
    const { names } = listing;
    const [nameId] = names?.ids ?? [];
    const things = [...readers.keys()]
      .flatMap((id) => excluded.get(id) ?? [])
      .filter(({ namedBy }) => !names || namedBy !== undefined);
    if (things.length === 0) return [];
    const kinds = [...new Set([...readers.values()].flatMap((set) => [...set]))];
    const lines = things.map(({ ids, name, namedBy }) => {
      const byName = matchers.find(([, matches]) => name !== undefined && matches({ ids: {}, name }));
      return byName?.[0] ?? (names ? `${nameId?.label}=${namedBy}` : `${label}=${idText(ids)}`);
    });
    const line = `discovery: { exclude: ${JSON.stringify([...new Set(lines)])} }`;
    return [
      `${section}.exclude leaves out what other kinds still read: ${namesOf(things)} (${kinds.join(', ')}). To leave it out of all of them${names ? ` and of ${names.nouns}` : ''}, write \`${line}\``,
    ];
  };
}

/** Targets that a section names, although the name that a listing has for them is left out. By id, the loader has said so. */
function namedAlthoughLeftOut(
  { targets }: SectionConfig,
  { section, listing }: Resource,
  exclude: readonly string[],
): Check {
  const isLeftOut = leftOutOf(exclude);
  return ({ listings }) => {
    if (targets === 'all' || !listing) return [];
    const root = listing.parent ?? listing;
    const own = listings.filter(({ poll }) => poll.listing === root);
    if (own.length === 0) return [];
    const found = entriesOf(
      root,
      listings,
      own.map(({ poll }) => poll.account),
    );
    if (!found) return undefined;
    const [field] = root.ids ?? [];
    const [thingField] = (root.names ?? root).ids ?? [];
    if (!field || !thingField) return [];
    const names = targets.flatMap(({ ids }) => {
      const entry = found.find((one) => one.ids[field.label] === ids[field.label]);
      const id = entry && (root.names ? entry.namedBy : entry.ids[field.label]);
      const isByName = id !== undefined && isLeftOut?.(thingField.label, id, entry?.name);
      return isByName && (root.names || !isLeftOut?.(thingField.label, id, undefined))
        ? [{ ids, name: entry?.name }]
        : [];
    });
    if (names.length === 0) return [];
    return [
      `${section}.targets names ${namesOf(names)}: it is read, although discovery.exclude leaves it out`,
    ];
  };
}

/** `shop, www and 2 others` */
function namesOf(things: readonly Listed[]): string {
  const names = [...new Set(things.map(nameOf))];
  const more = names.length - shownNames;
  return `${names.slice(0, shownNames).join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
}
