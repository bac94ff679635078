/** Paged listings with contradictory answers: they lose nothing without an error, and always end. */
import { describe, expect, it } from 'vitest';
import { id, object } from '../../src/resources/fields.ts';
import { pagings, readPages } from '../../src/resources/pages.ts';
import type { ApiName, Diagnostics } from '../../src/resources/resource.ts';

const things = { path: '/things', nouns: 'things', element: object({ id }) };
const diagnostics: Diagnostics = { mismatch: () => undefined, unrecognized: () => undefined };

/** Reads a listing whose pages are these, the last of them for ever; `asked` counts the requests. */
async function readFrom(api: ApiName, pages: readonly unknown[], isReading = false) {
  let asked = 0;
  const get = () => Promise.resolve(pages[Math.min(asked++, pages.length - 1)]);
  const found = await readPages({ ...pagings[api], perPage: 2 }, { ...things, isReading }, get, diagnostics);
  return { ids: [...found.keys()].join(' '), asked };
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

  it('asks for no page after one that is not full', async () => {
    expect(await readFrom('video', [page(3, 1, 2), page(3, 3)])).toEqual({ ids: '1 2 3', asked: 2 });
  });

  it('uses the page size from the answer', async () => {
    const sized = (...ids: readonly number[]) => ({ ...page(1, ...ids), itemsPerPage: 1 });
    expect(await readFrom('video', [sized(1), sized(2), sized()])).toEqual({ ids: '1 2', asked: 3 });
  });

  it.each([0, null])('goes on to an empty page if its total is %j', async (total) => {
    const pages = [page(total, 1), page(total, 2), page(total)];
    expect(await readFrom('video', pages)).toEqual({ ids: '1 2', asked: 3 });
  });

  it('is not complete when fewer have come than it counts', async () => {
    await expect(readFrom('video', [page(4, 1, 2), page(4)])).rejects.toThrow('ended after 2 of 4 things');
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
    [[page(true, 4, 1, 2), page(true, 4)], 'page 2 is empty, though the listing says that it goes on'],
    [[page(true, null, 1, 2), page(true, null)], 'page 2 is empty, though the listing says that it goes on'],
    [[page(true, null)], 'page 1 is empty, though the listing says that it goes on'],
    [[page(true, 2, 1, 2)], 'the listing repeats itself after page 2'],
    [[page(null, 4, 1, 2)], 'the listing ended after 2 of 4 things'],
    [[page(true, 3, 1, 2), page(false, 2, 3)], 'the listing changed from 3 to 2 things on page 2'],
    [[page(false, 2, 1, null)], 'the listing is incomplete: 1 of 2 things without a usable id'],
  ])('that contradicts itself is not complete, and says why: case %#', async (pages, message) => {
    await expect(readFrom('core', pages)).rejects.toMatchObject({ result: 'schema', message });
  });

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

describe('a cursor listing', () => {
  it('is incomplete if its cursor repeats or leads to an empty page', async () => {
    const endless = { items: list(1), cursor: 'a' };
    await expect(readFrom('application', [endless])).rejects.toThrow('repeats itself after page 2');
    await expect(readFrom('application', [endless, { items: [], cursor: 'b' }])).rejects.toThrow(
      'page 2 is empty, though the listing says that it goes on',
    );
  });

  it('leaves out an element without an id in a reading, but counts it', async () => {
    const pages = [{ items: list(1, null), totalItems: 2, itemsPerPage: 10 }];
    const reading = await readFrom('video', pages, true);
    expect(reading).toEqual({ ids: '1', asked: 1 });
    await expect(readFrom('video', pages)).rejects.toThrow('1 of 2 things without a usable id');
  });
});
