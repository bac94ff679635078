/** Whatever its pages: reading a listing ends, and a complete listing lacks nothing that was there the whole time. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { id, object } from '../../src/resources/fields.ts';
import { type PagingName, pagings, readPages } from '../../src/resources/pages.ts';
import { type Get, ReadingError } from '../../src/resources/resource.ts';
import { unnoted } from '../resources/expose.ts';
import { runs } from '../runs.ts';

const element = object({ id });
const ways = Object.keys(pagings) as PagingName[];
const perPage = 3;
const listing = { path: '/', nouns: 'things', element };
const numRuns = runs(50, 20_000);

/** The ids that a complete listing has; undefined after a ReadingError, or if it moved; every other error is thrown on. */
async function read(way: PagingName, get: Get): Promise<readonly string[] | undefined> {
  try {
    const { byId, moved } = await readPages({ ...pagings[way], perPage }, listing, get, unnoted);
    return moved === undefined ? [...byId.keys()] : undefined;
  } catch (error) {
    if (error instanceof ReadingError) return undefined;
    throw error;
  }
}

/** A page in the form of the API. */
function worded(
  way: PagingName,
  { items, number, total, size }: { items: readonly unknown[]; number: number; total: number; size: number },
): unknown {
  const pages = Math.ceil(total / size);
  switch (way) {
    case 'core':
      return { Items: items, CurrentPage: number, TotalItems: total, HasMoreItems: number < pages };
    case 'shield': {
      const page = { totalCount: total, totalPages: pages, currentPage: number, nextPage: number + 1 };
      return { data: items, page: { ...page, pageSize: size } };
    }
    case 'application':
      return { items, meta: { totalItems: total }, cursor: number < pages ? String(number + 1) : null };
    case 'database': {
      const page_info = { current_page: number, total_items: total, has_more_items: number < pages };
      return { databases: items, page_info };
    }
    case 'video':
      return { items, totalItems: total, currentPage: number, itemsPerPage: size };
  }
}

function numberIn(path: string): number {
  return Number(/(?:[?&]page|nextCursor)=(\d+)/.exec(path)?.[1] ?? 1);
}

/** How many items are added or removed at this point of the list before a page is requested. */
const changes = fc.array(fc.record({ at: fc.nat(12), things: fc.nat(2) }), { maxLength: 5 });

// Where as many come as go between two pages the count stays the same, and nobody can tell.
it.each(ways)(
  'lacks nothing that was there throughout, where a %s listing grows or shrinks meanwhile, and is complete where it does not',
  async (way) => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(14),
        fc.integer({ min: 1, max: perPage }),
        changes,
        fc.boolean(),
        async (total, size, planned, grows) => {
          const all = Array.from({ length: total }, (_, i) => i + 1);
          const throughout = new Set(all);
          const ever = new Set(all.map(String));
          let asked = 0;
          let isChanging = false;
          const get: Get = (path) => {
            const change = asked === 0 ? undefined : planned[asked - 1];
            asked++;
            isChanging ||= change !== undefined && change.things > 0;
            for (let n = 0; change && n < change.things; n++) {
              if (grows) all.splice(change.at, 0, 100 + 10 * asked + n);
              else for (const gone of all.splice(change.at, 1)) throughout.delete(gone);
            }
            for (const one of all) ever.add(String(one));
            const number = numberIn(path);
            const items = all.slice((number - 1) * size, number * size).map((one) => ({ id: one }));
            return Promise.resolve(worded(way, { items, number, total: all.length, size }));
          };
          const found = await read(way, get);
          if (!isChanging) expect(found).toEqual(all.map(String));
          if (!found) return;
          expect(found).toEqual(expect.arrayContaining([...throughout].map(String)));
          expect(found.filter((one) => !ever.has(one))).toEqual([]);
        },
      ),
      { numRuns },
    );
  },
);

const count = fc.oneof(fc.integer({ min: -1, max: 8 }), fc.constantFrom(null, undefined, 'x', 1e300));
const items = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.array(fc.record({ id: fc.oneof(fc.nat(9), fc.constantFrom(null, 'x')) }), { maxLength: 4 }),
  },
  fc.constantFrom(null, undefined, {}, 'x', [null], [[]]),
);
const hostilePages: Readonly<Record<PagingName, fc.Arbitrary<unknown>>> = {
  core: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        Items: items,
        TotalItems: count,
        HasMoreItems: fc.constantFrom(true, true, false, null),
      }),
    },
    items,
  ),
  shield: fc.record({
    data: items,
    page: fc.oneof(
      fc.record({ totalCount: count, totalPages: count, currentPage: count, nextPage: count }),
      fc.constantFrom(null, undefined, {}, 'x'),
    ),
  }),
  application: fc.record({
    items,
    meta: fc.oneof(fc.record({ totalItems: count }), fc.constantFrom(null, 'x')),
    cursor: fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom(null, undefined, 7)),
  }),
  database: fc.record({
    databases: items,
    page_info: fc.oneof(
      fc.record({ total_items: count, has_more_items: fc.constantFrom(true, true, false, null) }),
      fc.constantFrom(null, undefined, {}, 'x'),
    ),
  }),
  video: fc.record({ items, totalItems: count, itemsPerPage: count }),
};

it.each(ways)(
  'ends with a listing or a ReadingError, whatever the pages of a %s listing are',
  async (way) => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostilePages[way], { minLength: 1, maxLength: 6 }), async (pages) => {
        const given = new Set(JSON.stringify(pages).match(/\d+/g));
        let asked = 0;
        const get: Get = () => {
          if (++asked > 1000) throw new Error('asked for more pages than a listing may have');
          return Promise.resolve(pages[(asked - 1) % pages.length]);
        };
        const found = await read(way, get);
        expect(found?.filter((one) => !given.has(one)) ?? []).toEqual([]);
      }),
      { numRuns },
    );
  },
);

/** Pages that bring something new for ever. */
it.each(ways)('ends after 1000 pages of a %s listing that never does', async (way) => {
  let asked = 0;
  const get: Get = () => {
    asked++;
    return Promise.resolve(worded(way, { items: [{ id: asked }], number: asked, total: 1e6, size: 1 }));
  };
  expect(await read(way, get)).toBeUndefined();
  expect(asked).toBe(1000);
});
