/** Paged listings with contradictory answers: they lose nothing without an error, and always end. */
import { describe, expect, it } from 'vitest';
import { id, object, type ReadingError } from '../../src/resources/fields.ts';
import { type PagingName, paged, pagings, readPages } from '../../src/resources/pages.ts';
import { unnoted } from './expose.ts';

const things = { path: '/things', nouns: 'things', element: object({ id }) };

/** Reads a listing whose pages are these, the last of them for ever; `asked` counts the requests. */
async function readFrom(api: PagingName, pages: readonly unknown[], isReading = false) {
  let asked = 0;
  const get = () => Promise.resolve(pages[Math.min(asked++, pages.length - 1)]);
  const paging = { ...pagings[api], perPage: 2 };
  const { byId, moved } = await readPages(paging, { ...things, isReading }, get, unnoted);
  return { ids: [...byId.keys()].join(' '), asked, ...(moved !== undefined && { moved }) };
}
const list = (...ids: readonly (number | null)[]) => ids.map((one) => ({ id: one }));

describe('a video listing', () => {
  const page = (totalItems: number | null, ...ids: readonly (number | null)[]) => ({
    totalItems,
    items: list(...ids),
  });

  it('goes on after a full page even if its total is reached, because the total can be too small', async () => {
    const pages = [page(2, 1, 2), page(2, 3, 4), page(2, 5)];
    expect(await readFrom('video', pages)).toEqual({ ids: '1 2 3 4 5', asked: 3 });
  });

  it('ends after a full last page, whether the next page is empty or a repetition', async () => {
    const pages = [page(4, 1, 2), page(4, 3, 4)];
    expect(await readFrom('video', [...pages, page(4)])).toEqual({ ids: '1 2 3 4', asked: 3 });
    expect(await readFrom('video', pages)).toEqual({ ids: '1 2 3 4', asked: 3 });
  });

  it.each([0, null])('goes on to an empty page if its total is %j', async (total) => {
    const pages = [page(total, 1), page(total, 2), page(total)];
    expect(await readFrom('video', pages)).toEqual({ ids: '1 2', asked: 3 });
  });

  it('has moved if fewer have come than it counts', async () => {
    expect(await readFrom('video', [page(4, 1, 2), page(4)])).toMatchObject({
      ids: '1 2',
      moved: 'the listing ended after 2 of 4 things',
    });
  });
});

describe('a core listing', () => {
  const page = (
    HasMoreItems: boolean | null,
    TotalItems: number | null,
    ...ids: readonly (number | null)[]
  ) => ({
    Items: list(...ids),
    TotalItems,
    HasMoreItems,
  });

  it.each([
    [[page(false, 4, 1, 2)], 'the listing ended after 2 of 4 things'],
    [[page(true, null)], 'page 1 is empty, though the listing says that it goes on'],
    [[page(true, 2, 1, 2)], 'the listing repeats itself after page 2'],
    [[page(true, 3, 1, 2), page(false, 3, null)], 'no element of the array has a usable id on page 2'],
    [[page(false, 2, 1, null)], 'the listing is incomplete: 1 of 2 things without a usable id'],
  ])('that contradicts itself is not complete, and says why: case %#', async (pages, message) => {
    await expect(readFrom('core', pages)).rejects.toMatchObject({ result: 'schema', message });
  });

  it.each([
    [[page(true, 4, 1, 2), page(true, 4)], '1 2', 'page 2 is empty, though the listing says that it goes on'],
    [
      [page(true, null, 1, 2), page(true, null)],
      '1 2',
      'page 2 is empty, though the listing says that it goes on',
    ],
    [[page(true, 3, 1, 2), page(false, 2, 3)], '1 2 3', 'the listing changed from 3 to 2 things on page 2'],
    [[page(true, 3, 1, 2), page(true, 4, 1, 2)], '1 2', 'the listing changed from 3 to 4 things on page 2'],
    [[page(true, 3, 1, 2), page(false, 3, 2)], '1 2', 'the listing ended after 2 of 3 things'],
    [[page(null, 4, 1, 2)], '1 2', 'the listing ended after 2 of 4 things'],
  ])(
    'that changes while it is paged gives what was seen, and says so: case %#',
    async (pages, ids, moved) => {
      expect(await readFrom('core', pages)).toMatchObject({ ids, moved });
    },
  );

  it.each([
    ['more things than it counts', [page(false, 1, 1, 2)]],
    ['an empty page after all that it counts', [page(true, 2, 1, 2), page(true, 2)]],
  ])('with %s has lost nothing, and is complete', async (_, pages) => {
    expect((await readFrom('core', pages)).ids).toBe('1 2');
  });

  it('that is a bare array is not complete with an element without an id, either', async () => {
    await expect(readFrom('core', [list(1, null)])).rejects.toThrow('1 of 2 things without a usable id');
  });
});

describe('what a listing calls deleted', () => {
  const gone = (id: number | null) => ({ id, Deleted: true });

  it('is part of its total, with an id or without one', async () => {
    const pages = [
      { Items: [gone(null), gone(null), gone(7), { id: 2 }], TotalItems: 4, HasMoreItems: false },
    ];
    expect((await readFrom('core', pages)).ids).toBe('2');
  });

  it('does not keep a listing alive that repeats itself', async () => {
    const endless = { Items: [gone(1)], HasMoreItems: true };
    await expect(readFrom('core', [endless])).rejects.toThrow('repeats itself after page 2');
  });
});

describe('the size of pages', () => {
  /** The videos of a library of 100. The API gives at least 10 at once and at most `most`, whatever is asked for; more than `fits` do not fit. */
  function library(most: number, fits = 1000) {
    const asked: string[] = [];
    const get = (path: string) => {
      const query = new URL(path, 'http://api').searchParams;
      asked.push(`${query.get('page')} of ${query.get('itemsPerPage')}`);
      const size = Math.min(most, Math.max(10, Number(query.get('itemsPerPage'))));
      if (size > fits) return Promise.reject(Object.assign(new Error('too large'), { isTooLarge: true }));
      const page = Number(query.get('page'));
      const items = Array.from({ length: 100 }, (_, at) => ({ id: at + 1 })).slice(
        (page - 1) * size,
        page * size,
      );
      return Promise.resolve({ items, totalItems: 100, currentPage: page, itemsPerPage: size });
    };
    return { asked, get };
  }
  const idsOf = async ({ get }: ReturnType<typeof library>, perPage: number) => {
    const { byId, moved } = await readPages({ ...pagings.video, perPage }, things, get, unnoted);
    expect(moved).toBeUndefined();
    return [...byId.keys()].map(Number);
  };
  const all = Array.from({ length: 100 }, (_, at) => at + 1);

  it('is never smaller than what the API gives at least', async () => {
    const one = library(1000, 24);
    await expect(readPages(pagings.video, things, one.get, unnoted)).rejects.toThrow('too large');
    expect(one.asked).toEqual(['1 of 1000', '1 of 500', '1 of 250', '1 of 125', '1 of 25']);
  });

  it.each([
    [30, 1000],
    [3, 12],
    [7, 10],
    [1000, 40],
  ])(
    'is what the answer says: nothing is missed where %d are asked for, of at most %d',
    async (perPage, most) => {
      expect(await idsOf(library(most), perPage)).toEqual(all);
    },
  );

  it('is what the answer says also in the middle of a listing', async () => {
    const { get, asked } = library(1000);
    // From the sixth page on it gives ten at once.
    const narrow = (path: string) => {
      const page = Number(new URL(path, 'http://api').searchParams.get('page'));
      if (asked.length < 5) {
        asked.push(path);
        const items = all.slice((page - 1) * 5, page * 5).map((one) => ({ id: one }));
        return Promise.resolve({ items, totalItems: 100, itemsPerPage: 5 });
      }
      return get(path);
    };
    const { byId } = await readPages({ ...pagings.video, perPage: 5 }, things, narrow, unnoted);
    expect([...byId.keys()].map(Number)).toEqual(all);
  });

  it('that a last page calls its own number of elements begins nothing anew', async () => {
    const page = (itemsPerPage: number, ...ids: readonly number[]) => ({
      totalItems: 3,
      itemsPerPage,
      items: list(...ids),
    });
    expect(await readFrom('video', [page(2, 1, 2), page(1, 3), page(1)])).toEqual({ ids: '1 2 3', asked: 3 });
  });
});

describe('a reading in pages', () => {
  const page = (totalItems: number, ...ids: readonly number[]) => ({ totalItems, items: list(...ids) });
  /** Reads these pages, the last of them for ever. */
  async function reading(pages: readonly unknown[]) {
    let asked = 0;
    const get = () => Promise.resolve(pages[Math.min(asked++, pages.length - 1)]);
    const { readAll } = paged({ ...pagings.video, perPage: 2 }, 'things', object({ id }));
    try {
      const read = await readAll('/things', get, unnoted);
      return { read: read.map((one) => one.id).join(' '), asked };
    } catch (error) {
      const { result, message } = error as ReadingError;
      return { read: { result, message }, asked };
    }
  }

  it('that ends short of its own total is read once more', async () => {
    const pages = [page(4, 1, 2), page(4), page(4, 1, 2), page(4, 3, 4), page(4)];
    expect(await reading(pages)).toEqual({ read: '1 2 3 4', asked: 5 });
  });

  it('that is short again is none', async () => {
    const short = [page(4, 1, 2), page(4)];
    expect(await reading([...short, ...short])).toEqual({
      read: { result: 'schema', message: 'the listing ended after 2 of 4 things' },
      asked: 4,
    });
  });

  it('that lacks no more than what changed while it was read is counted', async () => {
    const pages = [page(5, 1, 2), page(4, 3), page(4)];
    expect(await reading(pages)).toEqual({ read: '1 2 3', asked: 3 });
  });
});

describe('a cursor listing', () => {
  it('goes on after a cursor that is a number', async () => {
    const pages = [
      { items: list(1), cursor: 7 },
      { items: list(2), cursor: null },
    ];
    expect(await readFrom('application', pages)).toEqual({ ids: '1 2', asked: 2 });
  });

  it.each([{ token: 'a' }, ['a'], true])('is not complete with the cursor %j', async (cursor) => {
    await expect(readFrom('application', [{ items: list(1), cursor }])).rejects.toThrow(
      'the cursor of the next page',
    );
  });

  it('is incomplete if its cursor repeats, and has moved if it leads to an empty page', async () => {
    const endless = { items: list(1), cursor: 'a' };
    await expect(readFrom('application', [endless])).rejects.toThrow('repeats itself after page 2');
    expect(await readFrom('application', [endless, { items: [], cursor: 'b' }])).toMatchObject({
      ids: '1',
      moved: 'page 2 is empty, though the listing says that it goes on',
    });
  });

  it('leaves out an element without an id in a reading, but counts it', async () => {
    const pages = [{ items: list(1, null), totalItems: 2, itemsPerPage: 10 }];
    const reading = await readFrom('video', pages, true);
    expect(reading).toEqual({ ids: '1', asked: 1 });
    await expect(readFrom('video', pages)).rejects.toThrow('1 of 2 things without a usable id');
  });
});

describe('a page that is too large', () => {
  const tooLarge = Object.assign(new Error('too large'), { isTooLarge: true });

  /** Reads 250 things from an API that can send so many at once; returns their number and the queries. */
  async function readInPagesOf(api: PagingName, most: number) {
    const all = Array.from({ length: 250 }, (_, at) => ({ id: at + 1 }));
    const queries: string[] = [];
    const get = (path: string) => {
      const query = new URL(path, 'http://api').searchParams;
      queries.push(path.slice(path.indexOf('?') + 1));
      const size = Number(
        query.get('perPage') ?? query.get('per_page') ?? query.get('limit') ?? query.get('itemsPerPage'),
      );
      const from = Number(query.get('nextCursor') ?? (Number(query.get('page') ?? 1) - 1) * size);
      const part = all.slice(from, from + size);
      if (part.length > most) return Promise.reject(tooLarge);
      const next = from + size < all.length ? String(from + size) : null;
      const counted = { totalItems: all.length, items: part };
      return Promise.resolve(
        {
          application: { items: part, meta: { totalItems: all.length }, cursor: next },
          shield: { data: part, page: { totalCount: all.length, totalPages: Math.ceil(all.length / size) } },
          core: { Items: part, TotalItems: all.length, HasMoreItems: next !== null },
          video: counted,
          database: {
            databases: part,
            page_info: { total_items: all.length, has_more_items: next !== null },
          },
        }[api],
      );
    };
    const { perPage } = pagings[api];
    const found = await readPages({ ...pagings[api], perPage }, things, get, unnoted);
    return { found: found.byId.size, queries };
  }

  it.each<[PagingName, number, string]>([
    ['application', 60, 'limit=1000 limit=500 limit=250 limit=125 limit=25'],
    ['shield', 60, 'page=1&perPage=100 page=1&perPage=50 page=2&perPage=50 page=3&perPage=50'],
    ['core', 10, 'page=1&perPage=100 page=1&perPage=50 page=1&perPage=25 page=1&perPage=5 page=2&perPage=5'],
    ['database', 60, 'page=1&per_page=100 page=1&per_page=50 page=2&per_page=50 page=3&per_page=50'],
    [
      'video',
      200,
      'page=1&itemsPerPage=1000 page=1&itemsPerPage=500 page=1&itemsPerPage=250 page=1&itemsPerPage=125',
    ],
  ])('of the API %s is asked for in smaller ones that hold %d', async (api, most, queries) => {
    const read = await readInPagesOf(api, most);
    expect(read.found).toBe(250);
    expect(read.queries.join(' ').startsWith(queries)).toBe(true);
  });

  it('in the middle goes on where the page before ended', async () => {
    const asked: string[] = [];
    const get = (path: string) => {
      asked.push(path);
      if (path === '/things?page=2&perPage=100') return Promise.reject(tooLarge);
      const [page = 0, size = 0] = (path.match(/\d+/g) ?? []).map(Number);
      const Items = Array.from({ length: size }, (_, at) => ({ id: (page - 1) * size + at + 1 }));
      return Promise.resolve({ Items, TotalItems: 200, HasMoreItems: page * size < 200 });
    };
    expect((await readPages(pagings.core, things, get, unnoted)).byId.size).toBe(200);
    expect(asked.slice(1)).toEqual([
      '/things?page=2&perPage=100',
      '/things?page=3&perPage=50',
      '/things?page=4&perPage=50',
    ]);
  });
});
