/** Listings that come in pages: which page a query asks for and how one is written, for each style of the API. */
import { type Otherwise, ok, type Pages, type Request } from './kind.ts';

interface Position {
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
  readonly totalCount: number;
}

interface AskedPage {
  readonly page: number;
  readonly pageSize: number;
  /** True where the whole is asked for, without pages. */
  readonly isWhole?: boolean;
}

/** A style of pages. */
interface Paging {
  asked(query: URLSearchParams): AskedPage;
  body(items: readonly unknown[], position: Position, about?: Otherwise['about']): object;
}

/** `page` and `perPage`, with `data` and a `page` object (reference 2.7); it points onward from the last page too. */
export const shieldPaging: Paging = {
  asked: (query) => ({
    page: positive(query.get('page')) ?? 1,
    pageSize: positive(query.get('perPage')) ?? 10,
  }),
  body: (data, { page, pageSize, totalPages, totalCount }, about) => {
    if (about === 'nothing' || (about === undefined && totalCount === 0)) return { data };
    if (about === 'no fields') return { data, page: {} };
    const right = { totalCount, totalPages, currentPage: page, nextPage: page + 1, pageSize };
    return { data, page: about === 'zeros' ? zeros(right) : right };
  },
};

/** `limit` and the cursor of the page before, with `items`, `meta` and the next `cursor`; null ends the listing. */
export const cursorPaging: Paging = {
  asked: (query) => ({
    page: positive(fromCursor(query.get('nextCursor'))) ?? 1,
    pageSize: Math.min(1000, positive(query.get('limit')) ?? 20),
  }),
  body: (items, { page, totalPages, totalCount }, about) => {
    const cursor = page < totalPages ? toCursor(page + 1) : null;
    if (about === 'nothing') return { items, cursor };
    if (about === 'no fields') return { items, meta: {}, cursor };
    return { items, meta: { totalItems: about === 'zeros' ? 0 : totalCount }, cursor };
  },
};

function toCursor(page: number): string {
  return Buffer.from(`page ${page}`).toString('base64url');
}

function fromCursor(cursor: string | null): string | null {
  return cursor && Buffer.from(cursor, 'base64url').toString().replace('page ', '');
}

/** `page` and `perPage`, with `Items` and what is said of them; the whole, a bare array, where no page is asked for. */
export const corePaging: Paging = {
  asked: (query) => {
    const page = positive(query.get('page'));
    const pageSize = Math.min(1000, Math.max(5, positive(query.get('perPage')) ?? 1000));
    return page === undefined ? { page: 1, pageSize, isWhole: true } : { page, pageSize };
  },
  body: (Items, { page, totalPages, totalCount }, about) => {
    if (about === 'nothing' || about === 'no fields') return { Items };
    const HasMoreItems = page < totalPages;
    if (about === 'zeros') return { Items, CurrentPage: 0, TotalItems: 0, HasMoreItems };
    return { Items, CurrentPage: page, TotalItems: totalCount, HasMoreItems };
  },
};

/** The same without the bare array: page 0 is the first one. */
export const coreObjectPaging: Paging = {
  ...corePaging,
  asked: (query) => ({ ...corePaging.asked(query), isWhole: false }),
};

/** `page` and `itemsPerPage`, with `items` and their total; nothing says whether a page is the last. */
export const videoPaging: Paging = {
  asked: (query) => ({
    page: positive(query.get('page')) ?? 1,
    pageSize: Math.min(1000, positive(query.get('itemsPerPage')) ?? 100),
  }),
  body: (items, { page, pageSize, totalCount }, about) => {
    if (about === 'nothing' || about === 'no fields') return { items };
    const right = { totalItems: totalCount, currentPage: page, itemsPerPage: pageSize };
    return { ...(about === 'zeros' ? zeros(right) : right), items };
  },
};

function zeros(counts: object): object {
  return Object.fromEntries(Object.keys(counts).map((name) => [name, 0]));
}

/** Lists the entities that are not removed. Only those on a page are written. */
export function listing<Entity>(
  paging: Paging,
  all: readonly Entity[],
  idOf: (entity: Entity) => string,
  write: (entity: Entity, request: Request) => unknown,
): (request: Request) => Pages {
  return (request) => {
    const entities = all.filter((entity) => !request.isRemoved(idOf(entity)));
    const asked = paging.asked(new URLSearchParams(request.query));
    const pageSize = asked.isWhole ? entities.length : Math.min(request.maxPageSize, asked.pageSize);
    return {
      page: asked.page,
      totalPages: Math.ceil(entities.length / pageSize),
      answer(page, { share = 1, moved = 0, as, miscounted = 0, about } = {}) {
        const listed = entities.slice(0, Math.ceil(entities.length * share));
        const start = (page - 1) * pageSize + moved;
        const items = listed.slice(start, page * pageSize + moved).map((entity) => write(entity, request));
        if (asked.isWhole) return ok(items);
        const totalPages = Math.ceil(listed.length / pageSize);
        const totalCount = listed.length + miscounted;
        return ok(paging.body(items, { page, totalPages, ...as, pageSize, totalCount }, about));
      },
    };
  };
}

function positive(written: string | null): number | undefined {
  const value = Number(written ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
