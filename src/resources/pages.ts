/** Reads listings page by page, and ends even where the API's pages do not. */
import type { Documented } from './documented.ts';
import { unwrapData, unwrapList } from './envelope.ts';
import {
  type Answer,
  anything,
  boolean,
  type Diagnostics,
  elements,
  type FieldType,
  fieldOf,
  identifierOf,
  integer,
  isObject,
  nameOf,
  type ObjectType,
  object,
  ReadingError,
} from './fields.ts';
import type { RequestedRange } from './requested.ts';
import type { Get } from './resource.ts';

/** What a page is requested by: its number, or a cursor. The first page is 1. */
type Position = number | string;

/** What the body of a page says. */
interface Page {
  readonly list: unknown;
  /** How many elements the whole listing has, where the API says so. */
  readonly total?: number | undefined;
  /** Undefined after the last page. */
  readonly next: Position | undefined;
  /** How many elements a page has, where the API says so: it may be another number than was asked for. */
  readonly size?: number | undefined;
  /** True if the answer does not say whether there are more pages: then the first page that brings nothing new is the end. */
  readonly isNextGuessed?: boolean;
}

/** How an API pages its lists. */
export interface Paging {
  /** How many elements a page is requested with. */
  readonly perPage: number;
  /** The smallest page that the API gives: it answers a smaller number with this one. */
  readonly least: number;
  /** What a page says of the listing. */
  readonly says: ObjectType;
  /** The body, where that is more, and the field of it that has the elements. */
  readonly body?: ObjectType;
  readonly list: string;
  query(position: Position, perPage: number): string;
  /** received: how many elements the pages before had. */
  read(
    this: void,
    body: unknown,
    request: { number: number; perPage: number; received: number },
    diagnostics: Diagnostics,
  ): Page;
}

/** At the full size of a page; of smaller ones there may be more. */
const maxPages = 1000;

/** How often the size of pages may turn out to be another one than was asked for. */
const maxSizes = 5;

/** Whether `get` failed because the answer is too large, so that fewer elements may fit. */
function isTooLarge(error: unknown): boolean {
  return isObject(error) && error['isTooLarge'] === true;
}

/** How many times smaller the next smaller page is, so that a whole number of them makes one of these: 100, 50, 25, 5. */
function divisorOf(perPage: number, least: number): number | undefined {
  return [2, 5].find((divisor) => perPage % divisor === 0 && perPage / divisor >= least);
}

interface PagedList<Element> {
  /** With its query, if it has one beside the page. */
  readonly path: string;
  /** What is listed, for the messages. */
  readonly nouns: string;
  readonly element: ObjectType<Element>;
  /** True if the list is the reading of one target, not a listing of targets: then elements without an identifier are kept. */
  readonly isReading?: boolean;
}

interface PagesRead<Element> {
  readonly byId: ReadonlyMap<string, Element>;
  /** Of a reading. */
  readonly withoutId: readonly Element[];
  /** What shows that the list changed while its pages were read; undefined if nothing does. */
  readonly moved: string | undefined;
  /** What says that more is missing than what changed while the pages were read; undefined if not. */
  readonly short: string | undefined;
}

/**
 * Every element of a listing; or, where it changed while it was paged, those that were seen: an element that moves from page to
 * page can be missed. More elements than the total are no sign of it: nothing is missing.
 *
 * @throws {ReadingError} `schema` where the listing repeats itself, does not end, or contradicts itself on its only page
 * @throws what `get` throws, with the page in its message; but a page that is too large is requested in smaller ones
 */
export async function readPages<Element>(
  paging: Pick<Paging, 'perPage' | 'least' | 'query' | 'read'>,
  { path, nouns, element, isReading = false }: PagedList<Element>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<PagesRead<Element>> {
  const failed = (message: string) => new ReadingError('schema', message);
  const identifier = identifierOf(element) as keyof Element;
  const items = elements(element, isReading ? { identifiers: [] } : { complete: nouns });
  const byId = new Map<string, Element>();
  const withoutId: Element[] = [];
  /** Of deleted elements, too: they are part of the listing, and of its total. */
  const ids = new Set<string>();
  const requested = new Set<Position>();
  let received = 0;
  let unusable = 0;
  let total: number | undefined;
  /** The smallest and the largest total that a page has said. */
  let [leastTotal, mostTotal] = [Number.POSITIVE_INFINITY, 0];
  let moved: string | undefined;
  let { perPage } = paging;
  /** How many times smaller pages are than usual, because the usual ones were too large. */
  let smaller = 1;
  let pagesRead = 0;
  let sizes = 0;
  const counted = () => ids.size + withoutId.length + unusable;
  for (let position: Position | undefined = 1; position !== undefined; ) {
    const number = pagesRead + 1;
    let body: unknown;
    try {
      body = await get(withQuery(path, paging.query(position, perPage)));
    } catch (error) {
      const divisor = isTooLarge(error) ? divisorOf(perPage, paging.least) : undefined;
      if (divisor === undefined) throw onPage(number, error);
      perPage /= divisor;
      smaller *= divisor;
      // The same place, counted in smaller pages. A cursor stays as it is.
      if (typeof position === 'number') position = (position - 1) * divisor + 1;
      continue;
    }
    const { page, content } = readPage(() => {
      const page = paging.read(body, { number: Number(position), perPage, received }, diagnostics);
      return { page, content: items.classify(page.list, diagnostics) };
    }, number);
    if (typeof position === 'number' && hasOtherSize(page, perPage, received) && sizes++ < maxSizes) {
      // It counts pages of its own size: what was asked for may begin elsewhere.
      const place: number = Math.floor(((position - 1) * perPage) / page.size) + 1;
      perPage = page.size;
      requested.clear();
      if (place !== position) {
        position = place;
        continue;
      }
    }
    requested.add(position);
    pagesRead++;
    const known = ids.size;
    for (const item of content.usable) {
      const id = item[identifier];
      if (id === undefined) withoutId.push(item);
      else {
        byId.set(String(id), item);
        ids.add(String(id));
      }
    }
    for (const id of content.deleted) {
      if (id === undefined) unusable++;
      else ids.add(id);
    }
    received += lengthOf(page.list);
    unusable += content.unusable;
    if (total !== undefined && page.total !== undefined && page.total !== total)
      moved = `the listing changed from ${total} to ${page.total} ${nouns} on page ${number}`;
    total = page.total ?? total;
    if (page.total !== undefined) {
      leastTotal = Math.min(leastTotal, page.total);
      mostTotal = Math.max(mostTotal, page.total);
    }
    const { next, isNextGuessed = false } = page;
    const isNew = ids.size > known;
    if (next === undefined || (isNextGuessed && !isNew)) break;
    if (lengthOf(page.list) === 0) {
      if (total !== undefined && counted() >= total) break;
      const message = `page ${number} is empty, though the listing says that it goes on`;
      if (number === 1) throw failed(message);
      moved ??= message;
      break;
    }
    if (requested.has(next) || !isNew) {
      if (moved !== undefined) break;
      throw failed(`the listing repeats itself after page ${number}`);
    }
    if (number >= maxPages * smaller) throw failed(`the listing did not end after ${number} pages`);
    position = next;
  }
  let short: string | undefined;
  if (counted() < (total ?? 0)) {
    const message = `the listing ended after ${counted() - unusable} of ${total} ${nouns}`;
    if (pagesRead === 1) throw failed(message);
    moved ??= message;
    if ((total ?? 0) - counted() > mostTotal - leastTotal) short = message;
  }
  return { byId, withoutId, moved, short };
}

/** Whether a page that is not the last one has another size than was asked for. A last one may call the number of its elements so. */
function hasOtherSize(
  page: Page,
  perPage: number,
  received: number,
): page is Page & { readonly size: number } {
  const { list, total, size } = page;
  const has = lengthOf(list);
  if (!size || size === perPage || has > size) return false;
  return total === undefined ? has === size : received + has < total;
}

/** What reads a page, with its number in the message of what it throws. */
function readPage<Read>(read: () => Read, number: number): Read {
  try {
    return read();
  } catch (error) {
    throw onPage(number, error);
  }
}

/** A failure to get or read a page: after the first one its message says which page it was. */
export function onPage(number: number, error: unknown): unknown {
  if (number > 1 && error instanceof Error && 'result' in error) error.message += ` on page ${number}`;
  return error;
}

/** The path with this added to its query. */
export function withQuery(path: string, query: string): string {
  if (query === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/** Maps one item at a time, as they are taken: a long listing at once would keep others waiting. */
export function* mapEach<Item, Mapped>(items: Iterable<Item>, map: (item: Item) => Mapped): Iterable<Mapped> {
  for (const item of items) yield map(item);
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** The list may be missing only on the first page, and only if the answer itself counts nothing. */
function listOrNone(list: unknown, total: number | undefined, received: number): unknown {
  return total === 0 && received === 0 ? (list ?? []) : list;
}

/** A cursor that cannot be read must not look like the end of the listing. */
const cursor: FieldType<string> = {
  read(value) {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
    throw new ReadingError('schema', `the cursor of the next page is ${nameOf(value)}`);
  },
};
const cursorPage = object({ items: anything, meta: object({ totalItems: integer }), cursor });

const shieldPage = object({
  totalCount: integer,
  totalPages: integer,
  currentPage: integer,
  nextPage: integer,
  pageSize: integer,
});

const corePage = object({
  Items: anything,
  CurrentPage: integer,
  TotalItems: integer,
  HasMoreItems: boolean,
});

const videoPage = object({
  totalItems: integer,
  currentPage: integer,
  itemsPerPage: integer,
  items: anything,
});

const databasePage = object({
  databases: anything,
  page_info: object({ current_page: integer, total_items: integer, has_more_items: boolean }),
});

/** By API; that of databases, which belong to the core API, is their own. */
export const pagings = {
  application: {
    perPage: 1000,
    least: 5,
    says: cursorPage,
    list: 'items',
    query: (cursor, perPage) =>
      typeof cursor === 'string'
        ? `limit=${perPage}&nextCursor=${encodeURIComponent(cursor)}`
        : `limit=${perPage}`,
    read(body, { received }, diagnostics) {
      const { items, meta, cursor: next } = cursorPage.from(body, diagnostics);
      const total = meta?.totalItems;
      return { list: listOrNone(items, total, received), total, next: next || undefined };
    },
  },

  /** `GET /shield/shield-zones` and its like. The last page also has a `nextPage`, which does not exist, so `totalPages` says where the listing ends. */
  shield: {
    perPage: 100,
    least: 5,
    says: shieldPage,
    body: object({ data: anything, page: shieldPage }).ignoring('error'),
    list: 'data',
    query: (number, perPage) => `page=${number}&perPage=${perPage}`,
    read(body, { number, received }, diagnostics) {
      const [data, page] = ['data', 'page'].map((name) => isObject(body) && fieldOf(body, name));
      const saysAny =
        isObject(page) && Object.keys(shieldPage.shape).some((name) => fieldOf(page, name) !== undefined);
      const says = saysAny ? shieldPage.from(page, diagnostics) : {};
      const { totalCount, totalPages, currentPage = number, nextPage = number + 1 } = says;
      // After the first page, null ends a listing that says nothing about its pages.
      const list = unwrapList(body, received === 0 ? totalCount === 0 : data === null);
      const isEmpty = lengthOf(list) === 0;
      // A page object of zeros says nothing, as an absent one does.
      if (!totalPages && !totalCount && !says.nextPage)
        return { list, next: isEmpty ? undefined : number + 1, isNextGuessed: true };
      // Without a number of pages an empty one is the end, and so is one that does not grow.
      const goesOn = totalPages === undefined ? !isEmpty && nextPage > number : currentPage < totalPages;
      return { list, total: totalCount, next: goesOn ? nextPage : undefined, size: says.pageSize };
    },
  },

  core: {
    perPage: 100,
    least: 5,
    says: corePage,
    list: 'Items',
    query: (number, perPage) => `page=${number}&perPage=${perPage}`,
    read(body, { number, perPage, received }, diagnostics) {
      // A page may also be a bare array, which says nothing about other pages.
      if (Array.isArray(body)) {
        return { list: body, next: body.length === perPage ? number + 1 : undefined, isNextGuessed: true };
      }
      const { Items, TotalItems, HasMoreItems } = corePage.from(body, diagnostics);
      const list = listOrNone(Items, TotalItems, received);
      const goesOn = HasMoreItems ?? lengthOf(list) > 0;
      const isNextGuessed = HasMoreItems === undefined;
      return { list, total: TotalItems, next: goesOn ? number + 1 : undefined, isNextGuessed };
    },
  },

  /** Ends when all that it counts were received. After a full page one more is requested, since the count can be too small. */
  video: {
    perPage: 1000,
    least: 10,
    says: videoPage,
    list: 'items',
    query: (number, perPage) => `page=${number}&itemsPerPage=${perPage}`,
    read(body, { number, perPage, received }, diagnostics) {
      // An error can come with a good status: without this it would be an answer without fields.
      unwrapData(isObject(body) ? { ...body, data: [] } : body);
      const { items, totalItems, itemsPerPage } = videoPage.from(body, diagnostics);
      const list = listOrNone(items, totalItems, received);
      // A count of zero beside elements says nothing, as none does.
      const total = totalItems || undefined;
      const has = lengthOf(list);
      const isFull = has >= (itemsPerPage || perPage);
      const goesOn = has > 0 && (total === undefined || received + has < total || isFull);
      const isNextGuessed = total === undefined || received >= total;
      const next = goesOn ? number + 1 : undefined;
      return { list, total, next, isNextGuessed, size: itemsPerPage };
    },
  },

  /** Without a number of elements a page would have none. */
  database: {
    perPage: 100,
    least: 5,
    says: databasePage,
    list: 'databases',
    query: (number, perPage) => `page=${number}&per_page=${perPage}`,
    read(body, { number, received }, diagnostics) {
      const { databases, page_info: says = {} } = databasePage.from(body, diagnostics);
      const list = listOrNone(databases, says.total_items, received);
      const goesOn = says.has_more_items ?? lengthOf(list) > 0;
      const isNextGuessed = says.has_more_items === undefined;
      return { list, total: says.total_items, next: goesOn ? number + 1 : undefined, isNextGuessed };
    },
  },
} as const satisfies Readonly<Record<string, Paging>>;
export type PagingName = keyof typeof pagings;

export function documentedPage({ says, body = says, list }: Paging, element: ObjectType): Documented {
  return { fields: new Map([...(body.documented.fields ?? []), [list, { elements: element.documented }]]) };
}

/** An answer that takes more than one request. */
export interface PagedAnswer<Reading> extends Answer<Reading> {
  readAll(
    this: void,
    path: string,
    get: Get,
    diagnostics: Diagnostics,
    requested?: RequestedRange,
  ): Promise<Reading>;
}

/** Every element of a list in pages, as one reading. */
export function paged<Element>(
  paging: Paging,
  nouns: string,
  element: ObjectType<Element>,
): PagedAnswer<readonly Element[]> {
  return {
    ...elements(element),
    shape: { ...element.shape, ...paging.says.shape },
    documented: documentedPage(paging, element),
    async readAll(path, get, diagnostics) {
      const list = { path, nouns, element, isReading: true };
      let read = await readPages(paging, list, get, diagnostics);
      // Of a list that moved, what was seen is counted: another reading would hardly find it at rest. But a part of one that did not is no reading.
      if (read.short !== undefined) read = await readPages(paging, list, get, diagnostics);
      if (read.short !== undefined) throw new ReadingError('schema', read.short);
      return [...read.byId.values(), ...read.withoutId];
    },
  };
}
