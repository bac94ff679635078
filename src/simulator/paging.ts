/** Listings that come in pages: which page a query asks for and how one is written, for each style of the API. */
import type { Answer } from './reply.ts';
import type { Request } from './request.ts';

/** The listing behind one request. */
export interface Pages {
  /** The page asked for, from 1. */
  readonly page: number;
  readonly totalPages: number;
  answer(page: number, otherwise?: Otherwise): Answer;
}

/** How a page differs from the right one. */
export interface Otherwise {
  /** Only this share of the items exists, the first of them. */
  readonly share?: number;
  /** The page is written as if it were this one of so many. */
  readonly as?: { readonly page: number; readonly totalPages: number };
  /** The items come without a word on where the listing goes on. */
  readonly bare?: boolean;
}

interface Place {
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
  readonly totalCount: number;
}

/** A style of pages. */
export interface Paging {
  asked(query: URLSearchParams): { readonly page: number; readonly pageSize: number };
  body(items: readonly unknown[], place: Place): object;
  /** The items alone. */
  bare(items: readonly unknown[]): object;
}

const defaultPageSize = 10;

/** `page` and `perPage`, with `data` and a `page` object (reference 2.7); it points onward from the last page too. */
export const shieldPaging: Paging = {
  asked: (query) => ({
    page: positive(query.get('page')) ?? 1,
    pageSize: positive(query.get('perPage')) ?? defaultPageSize,
  }),
  body: (data, { page, pageSize, totalPages, totalCount }) =>
    totalCount === 0
      ? { data }
      : { data, page: { totalCount, totalPages, currentPage: page, nextPage: page + 1, pageSize } },
  bare: (data) => ({ data }),
};

/** The pages of these entities. Only those on a page are written. */
export function pagesOf<Entity>(
  paging: Paging,
  entities: readonly Entity[],
  write: (entity: Entity) => unknown,
  { query, maxPageSize }: Request,
): Pages {
  const asked = paging.asked(new URLSearchParams(query));
  const pageSize = Math.min(maxPageSize, asked.pageSize);
  return {
    page: asked.page,
    totalPages: Math.ceil(entities.length / pageSize),
    answer(page, { share = 1, as, bare = false } = {}) {
      const listed = entities.slice(0, Math.ceil(entities.length * share));
      const items = listed.slice((page - 1) * pageSize, page * pageSize).map(write);
      const totalPages = Math.ceil(listed.length / pageSize);
      const place = { page, totalPages, ...as, pageSize, totalCount: listed.length };
      return { status: 200, body: bare ? paging.bare(items) : paging.body(items, place) };
    },
  };
}

function positive(written: string | null): number | undefined {
  const value = Number(written ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
