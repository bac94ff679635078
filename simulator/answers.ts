/** How kinds usually answer: for the whole account, for each entity, or page by page; and their targets. */
import type { Entity } from './entities.ts';
import { type Answer, ok, type PageChange, type Pages, type Request, type Target } from './kind.ts';

/** An entity as a target. */
export function targetOf({ id, name }: Entity): Target {
  return { ids: { id }, name };
}

/** A video library as a target that is read with its own key. */
export function targetWithKey(library: Entity): Target {
  return { ...targetOf(library), library: library.id };
}

/** Answers for the whole account. */
export function ofAccount<Dataset>(bodyOf: (dataset: Dataset, request: Request) => unknown) {
  return {
    targets: () => [{ ids: {} }],
    answers: (dataset: Dataset) => (request: Request) => ok(bodyOf(dataset, request)),
  };
}

/** A dataset with a list of entities under a name. */
type DatasetWith<Name extends string, One> = Readonly<Record<Name, readonly One[]>>;

/** Each of these entities is a target; answers for the one whose id is the first of the request. */
export function ofEach<Name extends string, One extends Entity>(
  name: Name,
  answer: (one: One, request: Request) => Answer | undefined,
  has: (one: One) => boolean = () => true,
) {
  return {
    targets: (dataset: DatasetWith<Name, One>) => dataset[name].filter(has).map(targetOf),
    answers: (dataset: DatasetWith<Name, One>) => {
      const known = new Map(dataset[name].filter(has).map((one) => [one.id, one]));
      return (request: Request) => {
        const [id = ''] = request.ids;
        const one = request.isRemoved(id) ? undefined : known.get(id);
        return one && answer(one, request);
      };
    },
  };
}

/** Each of these entities is a target; lists them page by page. */
export function listed<Name extends string, One extends Entity>(
  name: Name,
  paging: Paging,
  write: (one: One, request: Request) => object,
) {
  return {
    targets: (dataset: DatasetWith<Name, One>) => dataset[name].map(targetOf),
    ...listedIn(paging, (dataset: DatasetWith<Name, One>) => dataset[name], write),
  };
}

/** Lists, page by page, the entities that belong to the first id of the request. */
export function listedIn<Dataset, One extends Pick<Entity, 'id'>>(
  paging: Paging,
  entitiesIn: (dataset: Dataset, owner: string) => readonly One[],
  write: (one: One, request: Request) => object,
) {
  const pages = (dataset: Dataset) => (request: Request) => {
    const { ids, query, isRemoved, maxPageSize } = request;
    const all = ids.some(isRemoved) ? [] : entitiesIn(dataset, ids[0] ?? '');
    const existing = all.filter(({ id }) => !isRemoved(id));
    const wanted = Math.max(paging.leastSize ?? 1, positive(query.get(paging.size)) ?? paging.pageSize);
    const pageSize = Math.min(maxPageSize, wanted);
    return pagesOf(paging, existing, pageSize, positive(query.get(paging.page)) ?? 1, (one) =>
      write(one, request),
    );
  };
  return { pages };
}

function pagesOf<One>(
  { items, about }: Paging,
  entities: readonly One[],
  pageSize: number,
  requested: number,
  write: (one: One) => object,
): Pages {
  return {
    page: requested,
    totalPages: Math.ceil(entities.length / pageSize),
    answer(page, change = {}) {
      const { share = 1, moved = 0, miscounted = 0 } = change;
      const existing = entities.slice(0, Math.ceil(entities.length * share));
      const written = existing.slice((page - 1) * pageSize + moved, page * pageSize + moved).map(write);
      const totalPages = Math.ceil(existing.length / pageSize);
      const totalCount = existing.length + miscounted;
      const fields = about({ page, totalPages, ...change.as, pageSize, totalCount });
      return ok(items === undefined ? written : { [items]: written, ...distort(fields, change.about) });
    },
  };
}

interface Position {
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
  readonly totalCount: number;
}

/** How an API pages its lists. */
interface Paging {
  /** Query parameters: the page, and how many items a page has. */
  readonly page: string;
  readonly size: string;
  /** Items on a page unless the query says otherwise. */
  readonly pageSize: number;
  /** The least items on a page, even if the query requests fewer. Default: 1. */
  readonly leastSize?: number;
  /** The field that holds the items; undefined where a page is nothing but these. */
  readonly items?: string;
  /** The other fields of a page. */
  readonly about: (position: Position) => Record<string, unknown>;
}

/** The last page, too, has a `nextPage`, which does not exist. */
export const shieldPaging: Paging = {
  page: 'page',
  size: 'perPage',
  pageSize: 10,
  items: 'data',
  about: ({ page: currentPage, pageSize, totalPages, totalCount }) => {
    if (totalCount === 0) return {};
    return { page: { totalCount, totalPages, currentPage, nextPage: currentPage + 1, pageSize } };
  },
};

/** The cursor of a page requests the next one; here it is that page's number, as text. Null on the last page. */
export const cursorPaging: Paging = {
  page: 'nextCursor',
  size: 'limit',
  pageSize: 20,
  items: 'items',
  about: ({ page, totalPages, totalCount }) => ({
    meta: { totalItems: totalCount },
    cursor: page < totalPages ? String(page + 1) : null,
  }),
};

export const corePaging: Paging = {
  page: 'page',
  size: 'perPage',
  pageSize: 1000,
  leastSize: 5,
  items: 'Items',
  about: ({ page, totalPages, totalCount }) => ({
    CurrentPage: page,
    TotalItems: totalCount,
    HasMoreItems: page < totalPages,
  }),
};

/** A page is an array: nothing says how many there are. */
export const barePaging: Paging = { page: 'page', size: 'count', pageSize: 50, about: () => ({}) };

export const databasePaging: Paging = {
  page: 'page',
  size: 'per_page',
  pageSize: 10,
  items: 'databases',
  about: ({ page, totalPages, totalCount }) => ({
    page_info: { current_page: page, total_items: totalCount, has_more_items: page < totalPages },
  }),
};

/** No field says whether a page is the last. */
export const videoPaging: Paging = {
  page: 'page',
  size: 'itemsPerPage',
  pageSize: 100,
  leastSize: 10,
  items: 'items',
  about: ({ page, pageSize, totalCount }) => ({
    totalItems: totalCount,
    currentPage: page,
    itemsPerPage: pageSize,
  }),
};

/** Makes the fields of a page beside its items wrong. JSON leaves out what is undefined. */
function distort(fields: object, how: PageChange['about']): object {
  if (how === undefined) return fields;
  const changed = (value: unknown): unknown => {
    if (typeof value === 'number') return how === 'zeros' ? 0 : undefined;
    if (typeof value !== 'object' || value === null) return value;
    return how === 'nothing' ? undefined : distort(value, how);
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, changed(value)]));
}

function positive(written: string | null): number | undefined {
  const value = Number(written ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
