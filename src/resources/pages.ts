/** Reads a listing that comes in pages, whatever its pages are asked by, and ends also where the API does not. */
import { ReadingError } from './resource.ts';

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
