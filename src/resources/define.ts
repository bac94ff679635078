/**
 * How a kind is declared: its path, and a table of the fields of its answer, each once with its name in the API, its
 * type and what it becomes on the page. The order of the table is that of the page.
 *
 *     const zone = object({
 *       Id: id,                                           // the first field tells elements of a list apart
 *       Name: label('name'),                              // a label of …_info
 *       FilesStored: count('files', 'Number of files'),   // a gauge, and how its HELP begins
 *       Cpu: gauge('cpu_seconds', 'CPU time (%s, divided by 1000)', milliseconds),
 *     }).ignoring('Password Deleted');                    // documented, and not read
 *
 *     export const zones = defineListing({ …, path: '/storagezone', element: zone });
 *     export const storageZone = defineListedResource({ …, listing: zones, info: 'The name of the zone' });
 *
 * A kind that is read for each target is `defineResource({ …, path: '/dnszone/{id}/statistics', query: eachDay, answer })`.
 *
 * `fields.ts` has the types, `families.ts` what a field can become, `charts.ts` and `tallies.ts` what is counted by days. Fields
 * that declare a family of the same name make one family, which `fixed` tells apart; an object inside a list has series of its own
 * with `each`; whatever else a value is on the page is said with `shown`. What comes from several fields at once stands in
 * `families`.
 * HELP, documentation, what `--report` knows of an answer, and the names of wrong fields follow from the table.
 */

import { answerOfRange } from './answer-of-range.ts';
import { type FamilyOf, familiesOf, finished, infoOf, labelTextsOf } from './families.ts';
import type { Answer, ObjectType } from './fields.ts';
import {
  documentedPage,
  mapEach,
  type PagedAnswer,
  type Paging,
  type PagingName,
  pagings,
  readPages,
  withQuery,
} from './pages.ts';
import { once, queryOfPast } from './queries.ts';
import { readDays } from './read-days.ts';
import { RequestedRange } from './requested.ts';
import {
  type ApiName,
  type DaysRequest,
  type Found,
  type Get,
  type IdField,
  type ListedResource,
  type Listing,
  ReadingError,
  type ReadResource,
} from './resource.ts';

/** What the file of a kind states. It may leave out what is as usual, and what follows from its listing or its answer. */
interface Declaration<Reading>
  extends Partial<Omit<ListedResource<Reading>, 'listing' | 'noun' | 'families'>>,
    Pick<ListedResource, 'noun'> {
  /** The words of the kind's `_info`, which has the target's name and the labels that the answer declares. */
  readonly info?: string;
  /** All families of the kind, given those of the table. Default: the table has them all. */
  readonly families?: (own: readonly FamilyOf<Reading>[]) => readonly FamilyOf<Reading>[];
  /** What the names of its families begin with. Default: the metric prefix. */
  readonly familyPrefix?: string;
}

interface ListingDeclaration<Element>
  extends Pick<
    Listing,
    | 'kind'
    | 'product'
    | 'optionalProduct'
    | 'hasOwnKeys'
    | 'hasOrphans'
    | 'path'
    | 'nouns'
    | 'parent'
    | 'names'
    | 'isEmpty'
  > {
  /** The API that has it. Default: core. */
  readonly api?: Extract<ApiName, PagingName>;
  /** The product that it belongs to. Default: that of the API. */
  readonly paging?: PagingName;
  /** The type of an element. Its name is the field that becomes the label `name`. */
  readonly element: ObjectType<Element>;
  /** What the elements are called in error messages, in the plural. Default: `nouns`. */
  readonly elementNouns?: string;
  /** What identifies an element: the ids of the parent's, and that of its first field. */
  readonly ids: readonly IdField[];
  /** Flags that kinds name as their `feature`. */
  readonly features?: readonly (keyof Element & string)[];
  readonly about?: (element: Element) => Pick<Found, 'namedBy' | 'isDeleted' | 'ownKey'>;
}

/** A listing whose readings are its elements. */
export interface ElementListing<Element> extends Listing<Element> {
  readonly ids: readonly IdField[];
  readonly element: ObjectType<Element>;
}

/** Declares a listing: what it finds are its elements, each with its fields for a reading. */
export function defineListing<Element>(declaration: ListingDeclaration<Element>): ElementListing<Element> {
  const { api = 'core', paging = api, path, nouns, element } = declaration;
  const { elementNouns = nouns, ids, features, about } = declaration;
  const way: Paging = pagings[paging];
  const label = ids.at(-1)?.label ?? '';
  const labelsOf = labelTextsOf<Element>(element);
  return {
    ...declaration,
    api,
    fields: Object.keys({ ...element.shape, ...way.says.shape }),
    documented: documentedPage(way, element),
    async discover(get, parent = {}, diagnostics) {
      const list = { path: filled(path, Object.values(parent)), nouns: elementNouns, element };
      const { byId, moved } = await readPages(way, list, get, diagnostics);
      const found = mapEach(byId, ([id, reading]) => ({
        ...about?.(reading),
        ids: { ...parent, [label]: id },
        name: labelsOf(reading)['name'] || undefined,
        features: features?.filter((flag) => reading[flag] === true),
        reading,
      }));
      return { found, moved };
    },
  };
}

/** Declares a kind whose readings come with the listing of its targets. Its answer is an element, its kind the listing's. */
export function defineListedResource<Reading>(
  declaration: Declaration<Reading> & { readonly listing: ElementListing<Reading> },
): ListedResource<Reading> {
  const { listing } = declaration;
  const { kind, path, documented, element: answer } = listing;
  return { ...completed({ kind, path, documented, answer, ...declaration }), listing };
}

/** Declares a kind whose readings come with the runs of a listing below each target. */
export function defineResourceReadBy<Reading>(
  declaration: Declaration<Reading> & {
    readonly kind: string;
    readonly answer: Answer<Reading>;
    readonly listing: Listing;
    readonly readBy: Listing;
  },
): ListedResource<Reading> {
  const { listing, readBy } = declaration;
  return { ...completed({ path: readBy.path, ...declaration }), listing, readBy };
}

/** Declares a kind whose targets are read one by one. */
export function defineResource<Reading>(
  declaration: Declaration<NoInfer<Reading>> &
    Omit<ReadResource<NoInfer<Reading>>, keyof ListedResource | 'nothing' | 'read'> & {
      readonly path: string;
      readonly kind: string;
      readonly answer: Answer<Reading> | PagedAnswer<Reading>;
      readonly listing?: Listing;
    },
): ReadResource<Reading> {
  const { answer, path, query = once } = declaration;
  return {
    ...declaration,
    ...completed(declaration),
    nothing: answer.nothing,
    async read(get, ids, diagnostics, context) {
      const { past, nowMs } = context;
      const used = past ? queryOfPast(query, past, nowMs) : query;
      const keepsHours = past !== undefined && used.isByHours === true;
      const ask = async ({ query: more, range, date }: DaysRequest, withoutRetries = false) => {
        const requested = range && new RequestedRange(range, nowMs, { keepsHours });
        // An account is no part of a path.
        const inPath = [...(declaration.ofAccount ? [] : Object.values(ids)), date ?? ''];
        const requestPath = withQuery(filled(path, inPath), more);
        const getIt: Get = (onePath) => get(onePath, { withoutRetries });
        const reading =
          'readAll' in answer
            ? await answer.readAll(requestPath, getIt, diagnostics, requested)
            : answer.from(await getIt(requestPath), diagnostics, requested);
        if (past && requested?.isOther)
          throw new ReadingError('schema', `the figures are ${requested.isOther}`);
        return requested ? answerOfRange(answer, reading, requested, diagnostics) : reading;
      };
      if (past) {
        const readings: Reading[] = [];
        for (const request of used.requestsFor(past)) readings.push(await ask(request));
        return { shown: joined(readings), counted: readings.map((reading) => ({ reading })) };
      }
      const { shown, counted, untold } = await readDays(ask, query, context);
      return { shown: joined(shown), counted, untold };
    },
  };
}

/** Puts the ids in place of what stands in braces in a path. */
function filled(path: string, inPath: readonly string[]): string {
  const left = [...inPath];
  return path.replaceAll(/\{\w*\}/g, () => encodeURIComponent(left.shift() ?? ''));
}

/** Joins the readings of several days: lists are joined; any other field is that of the last day. */
function joined<Reading>(readings: readonly Reading[]): Reading {
  const last = readings.at(-1) as Reading;
  if (readings.length <= 1) return last;
  const fields = Object.keys(last as object).map((name): [string, unknown] => {
    const values: readonly unknown[] = readings.map((reading) => reading[name as keyof Reading]);
    return [name, values.some(Array.isArray) ? values.flatMap((value) => value ?? []) : values.at(-1)];
  });
  return Object.fromEntries(fields) as Reading;
}

const account: readonly IdField[] = [{ label: 'account', setting: 'account', form: 'opaque' }];

interface Completable<Reading> extends Declaration<Reading> {
  readonly kind: string;
  readonly path: string;
  readonly answer: Answer<Reading>;
  readonly listing?: Listing | undefined;
}

function completed<Reading>(declaration: Completable<Reading>): Omit<ListedResource<Reading>, 'listing'> {
  const { kind, listing, answer, info, families = (own) => own } = declaration;
  const { section = kind, metricPrefix = `bunnynet_${kind}`, familyPrefix = metricPrefix } = declaration;
  const own = familiesOf(answer);
  const all = families(info === undefined ? own : [infoOf(info, answer), ...own]);
  return {
    api: listing?.api ?? 'core',
    product: listing?.product ?? 'Account',
    ids: listing?.ids ?? account,
    section,
    environment: `BUNNYNET_${section.toUpperCase()}`,
    metricPrefix,
    defaultIntervalSeconds: 600,
    isCostly: false,
    settings: {},
    documented: answer.documented,
    fields: Object.keys(answer.shape),
    ...declaration,
    families: all.map((family) => finished(kind, familyPrefix, family)),
  };
}
