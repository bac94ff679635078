/** Reads a listing that comes in pages, whatever its pages are asked by, and ends also where the API does not. */
import { z } from 'zod';
import { boolean, integer, isObject, readElements, readFields, unwrapList } from './fields.ts';
import { type Diagnostics, type Get, ReadingError } from './resource.ts';

/** One page of a listing. Position: what a page is asked by, a number or a cursor. */
export interface Page<Item, Position> {
  readonly items: readonly Item[];
  /** Elements without a usable id. */
  readonly unusable: number;
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
 *   item that moves from page to page can be missed, so what was read is not the whole
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
    unusable += page.unusable;
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

/** The elements of a page; those without a usable identifier are noted and counted. */
function elementsOf<Schema extends z.ZodObject>(
  schema: Schema,
  identifier: keyof z.output<Schema> & string,
  value: unknown,
  diagnostics: Diagnostics,
): { items: readonly z.output<Schema>[]; unusable: number } {
  if (value === null || value === undefined) return { items: [], unusable: 0 };
  const items = readElements(schema, identifier, value, diagnostics);
  return { items, unusable: (value as readonly unknown[]).length - items.length };
}

/** What a paged listing consists of. */
export interface PagedListing<Schema extends z.ZodObject> {
  /** With its query, if it has one beside the page. */
  readonly path: string;
  /** What is listed, for the messages. */
  readonly nouns: string;
  readonly perPage: number;
  readonly element: Schema;
  /** The field that tells elements apart. */
  readonly identifier: keyof z.output<Schema> & string;
}

const shieldPage = z.object({
  totalCount: integer,
  totalPages: integer,
  currentPage: integer,
  nextPage: integer,
  pageSize: integer,
});
export const shieldPageFields = Object.keys(shieldPage.shape);

/**
 * The page to ask for after this one. `nextPage` can point onward past the last page, so it is believed only as long as
 * there is more to come; where the number of pages is missing, one that does not grow ends the listing.
 */
function shieldNext(number: number, about: z.output<typeof shieldPage>): number | undefined {
  const { totalPages, currentPage, nextPage } = about;
  const next = nextPage ?? number + 1;
  if (typeof totalPages !== 'number') return next > number ? next : undefined;
  return (currentPage ?? number) < totalPages ? next : undefined;
}

/** Every element of a paged list of the Shield API (reference 4.4, 2.7), by its id. */
export function readShieldPages<Schema extends z.ZodObject>(
  { path, nouns, perPage, element, identifier }: PagedListing<Schema>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, z.output<Schema>>> {
  const ask = async (number: number): Promise<Page<z.output<Schema>, number>> => {
    const body = await get(`${path}?page=${number}&perPage=${perPage}`);
    const { items, unusable } = elementsOf(element, identifier, unwrapList(body), diagnostics);
    const given = isObject(body) ? body['page'] : undefined;
    const hasFields = isObject(given) && shieldPageFields.some((field) => Object.hasOwn(given, field));
    const about = hasFields ? readFields(shieldPage, given, diagnostics) : undefined;
    // A page object of zeros says nothing, as an absent one does.
    if (!about || (!about.totalPages && !about.totalCount && !about.nextPage)) {
      return { items, unusable, next: items.length > 0 ? number + 1 : undefined, isNextGuessed: true };
    }
    const next = items.length > 0 ? shieldNext(number, about) : undefined;
    return { items, unusable, total: about.totalCount ?? undefined, next };
  };
  return readPages(nouns, 1, ask, (item) => String(item[identifier]));
}

const corePage = z.object({
  // Whatever else is there in its place is no empty list.
  Items: z.unknown(),
  CurrentPage: integer,
  TotalItems: integer,
  HasMoreItems: boolean,
});
export const corePageFields = Object.keys(corePage.shape);

/** Every element of a paged list of the core API, by its id; a bare array is the whole. */
export function readCorePages<Schema extends z.ZodObject>(
  { path, nouns, perPage, element, identifier }: PagedListing<Schema>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, z.output<Schema>>> {
  const separator = path.includes('?') ? '&' : '?';
  const ask = async (number: number): Promise<Page<z.output<Schema>, number>> => {
    const body = await get(`${path}${separator}page=${number}&perPage=${perPage}`);
    if (Array.isArray(body))
      return { ...elementsOf(element, identifier, body, diagnostics), next: undefined };
    const { Items, TotalItems, HasMoreItems } = readFields(corePage, body, diagnostics);
    const { items, unusable } = elementsOf(element, identifier, Items, diagnostics);
    const isNextGuessed = typeof HasMoreItems !== 'boolean';
    const mayGoOn = items.length > 0 && HasMoreItems !== false;
    return {
      items,
      unusable,
      total: TotalItems ?? undefined,
      next: mayGoOn ? number + 1 : undefined,
      isNextGuessed,
    };
  };
  return readPages(nouns, 1, ask, (item) => String(item[identifier]));
}

const cursorPage = z.object({
  items: z.unknown(),
  meta: z.object({ totalItems: integer }).nullish(),
  cursor: z.string().nullish(),
});
export const cursorPageFields = Object.keys(cursorPage.shape);

/** Every element of a list of the application API that goes on by a cursor, by its id. */
export function readCursorPages<Schema extends z.ZodObject>(
  { path, nouns, perPage, element, identifier }: PagedListing<Schema>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, z.output<Schema>>> {
  const ask = async (cursor: string): Promise<Page<z.output<Schema>, string>> => {
    const after = cursor === '' ? '' : `&nextCursor=${encodeURIComponent(cursor)}`;
    const body = await get(`${path}?limit=${perPage}${after}`);
    const { items: given, meta, cursor: next } = readFields(cursorPage, body, diagnostics);
    const { items, unusable } = elementsOf(element, identifier, given, diagnostics);
    return { items, unusable, total: meta?.totalItems ?? undefined, next: next || undefined };
  };
  return readPages(nouns, '', ask, (item) => String(item[identifier]));
}

const videoPage = z.object({
  totalItems: integer,
  currentPage: integer,
  itemsPerPage: integer,
  items: z.unknown(),
});
export const videoPageFields = Object.keys(videoPage.shape);

/** Every element of a paged list of the video API, by its id. It ends where all that it counts have come. */
export function readVideoPages<Schema extends z.ZodObject>(
  { path, nouns, perPage, element, identifier }: PagedListing<Schema>,
  get: Get,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, z.output<Schema>>> {
  let come = 0;
  const ask = async (number: number): Promise<Page<z.output<Schema>, number>> => {
    const body = await get(`${path}?page=${number}&itemsPerPage=${perPage}&orderBy=date`);
    const { items: given, totalItems } = readFields(videoPage, body, diagnostics);
    const { items, unusable } = elementsOf(element, identifier, given, diagnostics);
    come += items.length + unusable;
    const hasMore = items.length > 0 && (typeof totalItems !== 'number' || come < totalItems);
    const isNextGuessed = typeof totalItems !== 'number';
    return {
      items,
      unusable,
      total: totalItems ?? undefined,
      next: hasMore ? number + 1 : undefined,
      isNextGuessed,
    };
  };
  return readPages(nouns, 1, ask, (item) => String(item[identifier]));
}
