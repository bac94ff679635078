/** Reads a listing that comes in pages, whatever its pages are asked by, and ends also where the API does not. */
import {
  anything,
  boolean,
  integer,
  isObject,
  nameOf,
  type ObjectType,
  object,
  readElements,
  readFields,
  text,
  unwrapData,
  unwrapList,
  type ValueOf,
} from './fields.ts';
import { type Diagnostics, type Get, ReadingError } from './resource.ts';

/** One page of a listing. Position: what a page is asked by, a number or a cursor. */
export interface Page<Item, Position> {
  readonly items: readonly Item[];
  /** Elements that were left out; they count towards the total. Default 0. */
  readonly unusable?: number;
  /** How many elements the whole listing has, where the API says so. */
  readonly total?: number | undefined;
  /** Undefined after the last page. */
  readonly next: Position | undefined;
  /** True where the answer says nothing of further pages: the first page that brings nothing new is then the end. */
  readonly isNextGuessed?: boolean;
}

/** Ends a listing whose pages never do. */
const maxPages = 1000;

/**
 * Every item of a listing, by its id.
 *
 * @param nouns what is listed, for the messages
 * @throws {ReadingError} `schema` where the listing repeats itself, does not end, changes meanwhile or ends too early: an
 *   item that moves from page to page can be missed, so what was read is not the whole. More items than the total are no
 *   failure: nothing is missing
 */
export async function readPages<Item, Position extends string | number>(
  nouns: string,
  first: Position,
  ask: (position: Position) => Promise<Page<Item, Position>>,
  idOf: (item: Item) => string,
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>();
  const asked = new Set<Position>();
  let unusable = 0;
  let total: number | undefined;
  for (let position: Position | undefined = first; position !== undefined; ) {
    asked.add(position);
    const page: Page<Item, Position> = await ask(position);
    const known = found.size;
    for (const item of page.items) found.set(idOf(item), item);
    unusable += page.unusable ?? 0;
    const count = page.total ?? total;
    if (total !== undefined && count !== total) {
      throw new ReadingError(
        'schema',
        `the listing changed from ${total} to ${count} ${nouns} on page ${asked.size}`,
      );
    }
    total = count;
    const isNew = found.size > known;
    if (page.isNextGuessed && !isNew) break;
    const { next } = page;
    if (next !== undefined && page.items.length === 0) {
      if (total !== undefined && found.size + unusable >= total) break;
      throw new ReadingError(
        'schema',
        `page ${asked.size} is empty, though the listing says that it goes on`,
      );
    }
    if (next !== undefined && (asked.has(next) || !isNew)) {
      throw new ReadingError('schema', `the listing repeats itself after page ${asked.size}`);
    }
    if (next !== undefined && asked.size === maxPages) {
      throw new ReadingError('schema', `the listing did not end after ${maxPages} pages`);
    }
    position = next;
  }
  if (found.size + unusable < (total ?? 0)) {
    throw new ReadingError('schema', `the listing ended after ${found.size} of ${total} ${nouns}`);
  }
  return found;
}

/** What becomes of each item, made as it is asked for: all of a long listing at once would keep others waiting. */
export function* mapEach<Item, Mapped>(items: Iterable<Item>, map: (item: Item) => Mapped): Iterable<Mapped> {
  for (const item of items) yield map(item);
}

/** The list of an answer. It may be missing only where the answer itself counts nothing. */
function listOrNone(list: unknown, total: number | null | undefined): unknown {
  return total === 0 ? (list ?? []) : list;
}

/**
 * The elements of a listing or of one page of it.
 *
 * @param nouns what is listed, for the messages
 * @throws {ReadingError} `schema` where there is no list, for all that was found before would count as gone; and where an
 *   element has no usable identifier: nobody can tell which it is, so what was read is not the whole
 */
export function readListed<Element>(
  nouns: string,
  type: ObjectType<Element>,
  identifier: keyof Element & string,
  list: unknown,
  diagnostics: Diagnostics,
): readonly Element[] {
  if (!Array.isArray(list)) {
    throw new ReadingError('schema', `expected a list of ${nouns}, got ${nameOf(list)}`);
  }
  const items = readElements(type, identifier, list, diagnostics);
  if (items.length === list.length) return items;
  throw new ReadingError(
    'schema',
    `the listing is incomplete: ${list.length - items.length} of ${list.length} ${nouns} without a usable ${identifier}`,
  );
}

/** What a paged listing consists of. */
export interface PagedListing<Element> {
  /** With its query, if it has one beside the page. */
  readonly path: string;
  /** What is listed, for the messages. */
  readonly nouns: string;
  readonly perPage: number;
  readonly element: ObjectType<Element>;
  /** The field that tells elements apart. */
  readonly identifier: keyof Element & string;
  /** True where it is a reading rather than a listing of targets: elements without an identifier are left out of it. */
  readonly isReading?: true;
}

const shieldPage = object({
  totalCount: integer,
  totalPages: integer,
  currentPage: integer,
  nextPage: integer,
  pageSize: integer,
});
export const shieldPageFields = shieldPage.names;

/**
 * The page to ask for after this one. `nextPage` can point onward past the last page, so it is believed only as long as
 * there is more to come; where the number of pages is missing, one that does not grow ends the listing.
 */
function shieldNext(number: number, about: ValueOf<typeof shieldPage>): number | undefined {
  const { totalPages, currentPage, nextPage } = about;
  const next = nextPage ?? number + 1;
  if (typeof totalPages !== 'number') return next > number ? next : undefined;
  return (currentPage ?? number) < totalPages ? next : undefined;
}

/** Every element of a paged list of the Shield API (reference 4.4, 2.7), by its id. */
export function readShieldPages<Element>(
  { path, nouns, perPage, element, identifier }: PagedListing<Element>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, Element>> {
  const ask = async (number: number): Promise<Page<Element, number>> => {
    const body = await get(`${path}?page=${number}&perPage=${perPage}`);
    const given = isObject(body) ? body['page'] : undefined;
    const hasFields = isObject(given) && shieldPageFields.some((field) => Object.hasOwn(given, field));
    const about = hasFields ? readFields(shieldPage, given, diagnostics) : undefined;
    // After the first page, null is the end of a listing that says nothing of its pages.
    const isNone = number === 1 ? about?.totalCount === 0 : isObject(body) && body['data'] === null;
    const items = readListed(nouns, element, identifier, unwrapList(body, isNone), diagnostics);
    // A page object of zeros says nothing, as an absent one does.
    if (!about || (!about.totalPages && !about.totalCount && !about.nextPage)) {
      return { items, next: items.length > 0 ? number + 1 : undefined, isNextGuessed: true };
    }
    // Without a number of pages an empty one is the end.
    const isEnd = items.length === 0 && typeof about.totalPages !== 'number';
    return {
      items,
      total: about.totalCount ?? undefined,
      next: isEnd ? undefined : shieldNext(number, about),
    };
  };
  return readPages(nouns, 1, ask, (item) => item[identifier] as string);
}

const corePage = object({
  Items: anything,
  CurrentPage: integer,
  TotalItems: integer,
  HasMoreItems: boolean,
});
export const corePageFields = corePage.names;

/** Every element of a paged list of the core API, by its id. A page may also be a bare array, which tells nothing of others. */
export function readCorePages<Element>(
  { path, nouns, perPage, element, identifier }: PagedListing<Element>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, Element>> {
  const separator = path.includes('?') ? '&' : '?';
  const ask = async (number: number): Promise<Page<Element, number>> => {
    const body = await get(`${path}${separator}page=${number}&perPage=${perPage}`);
    if (Array.isArray(body)) {
      const items = readListed(nouns, element, identifier, body, diagnostics);
      return { items, next: items.length === perPage ? number + 1 : undefined, isNextGuessed: true };
    }
    const { Items, TotalItems, HasMoreItems } = readFields(corePage, body, diagnostics);
    const list = number === 1 ? listOrNone(Items, TotalItems) : Items;
    const items = readListed(nouns, element, identifier, list, diagnostics);
    const isNextGuessed = typeof HasMoreItems !== 'boolean';
    const goesOn = isNextGuessed ? items.length > 0 : HasMoreItems;
    return { items, total: TotalItems ?? undefined, next: goesOn ? number + 1 : undefined, isNextGuessed };
  };
  return readPages(nouns, 1, ask, (item) => item[identifier] as string);
}

const cursorPage = object({
  items: anything,
  meta: object({ totalItems: integer }),
  cursor: text,
});
export const cursorPageFields = cursorPage.names;

/** Every element of a list of the application API that goes on by a cursor, by its id. */
export function readCursorPages<Element>(
  { path, nouns, perPage, element, identifier }: PagedListing<Element>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, Element>> {
  const ask = async (cursor: string): Promise<Page<Element, string>> => {
    const after = cursor === '' ? '' : `&nextCursor=${encodeURIComponent(cursor)}`;
    const body = await get(`${path}?limit=${perPage}${after}`);
    const { items: given, meta, cursor: next } = readFields(cursorPage, body, diagnostics);
    const list = cursor === '' ? listOrNone(given, meta?.totalItems) : given;
    const items = readListed(nouns, element, identifier, list, diagnostics);
    return { items, total: meta?.totalItems ?? undefined, next: next || undefined };
  };
  return readPages(nouns, '', ask, (item) => item[identifier] as string);
}

const videoPage = object({
  totalItems: integer,
  currentPage: integer,
  itemsPerPage: integer,
  items: anything,
});
export const videoPageFields = videoPage.names;

/**
 * Every element of a paged list of the video API, by its id. It ends where all that it counts have come; after a full page
 * one more is asked for, for the count can be too small.
 */
export function readVideoPages<Element>(
  { path, nouns, perPage, element, identifier, isReading }: PagedListing<Element>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, Element>> {
  const order = isReading ? '' : '&orderBy=date';
  let come = 0;
  const ask = async (number: number): Promise<Page<Element, number>> => {
    const body = await get(`${path}?page=${number}&itemsPerPage=${perPage}${order}`);
    // An error can come with a good status: without this it would be an answer without fields.
    unwrapData(isObject(body) ? { ...body, data: [] } : body);
    const { items: given, totalItems, itemsPerPage } = readFields(videoPage, body, diagnostics);
    const list = number === 1 ? listOrNone(given, totalItems) : given;
    const items = isReading
      ? readElements(element, identifier, list, diagnostics)
      : readListed(nouns, element, identifier, list, diagnostics);
    const unusable = (list as readonly unknown[]).length - items.length;
    // A count of zero beside elements says nothing, as none does.
    const total = totalItems || undefined;
    const isNextGuessed = total === undefined || come >= total;
    come += items.length + unusable;
    const isFull = items.length + unusable >= (itemsPerPage || perPage);
    const hasMore = items.length > 0 && (total === undefined || come < total || isFull);
    return { items, unusable, total, next: hasMore ? number + 1 : undefined, isNextGuessed };
  };
  return readPages(nouns, 1, ask, (item) => item[identifier] as string);
}
