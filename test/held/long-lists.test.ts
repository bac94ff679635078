/** Lists of many pages. */
import { expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { startWhole } from './whole.ts';

// At night more than the arguments that a function may have.
const pages = runs(4, 130);

it(`a library with ${pages},000 unfinished videos has its figures`, async () => {
  const video = { status: 2, dateUploaded: '2026-08-15T09:00:00Z' };
  const whole = await startWhole({
    document: { video_encoding: { targets: 'all' } },
    routes: {
      '/videolibrary': () => ({ Items: [{ Id: 1, ApiKey: 'a-key' }], TotalItems: 1, HasMoreItems: false }),
      '/library/1/videos': ({ query }) => {
        const page = Number(query.get('page'));
        const items = Array.from({ length: page > pages ? 0 : 1000 }, (_, at) => ({
          ...video,
          guid: `${page}-${at}`,
        }));
        // The oldest is neither the first nor the last.
        if (page === 3) items[5] = { ...video, guid: 'oldest', dateUploaded: '2026-08-14T00:00:00Z' };
        return { items, totalItems: pages * 1000, currentPage: page, itemsPerPage: 1000 };
      },
    },
  });
  await whole.poll();
  expect(await whole.value('bunnynet_video_encoding_videos', { status: 'processing' })).toBe(pages * 1000);
  expect(await whole.value('bunnynet_video_encoding_oldest_unfinished_timestamp_seconds')).toBe(
    Date.parse('2026-08-14T00:00:00Z') / 1000,
  );
});

it('listings are looked at anew only when one of them, or what it lists, may have changed', async () => {
  let zones = 1;
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' } },
    routes: {
      '/pullzone': () => ({
        Items: Array.from({ length: zones }, (_, at) => ({ Id: at + 1, Name: `zone ${at}` })),
        TotalItems: zones,
        HasMoreItems: false,
      }),
    },
  });
  const found = () => whole.value('bunnynet_exporter_discovery_found_targets', { kind: 'pull_zone' });
  await whole.poll();
  expect(await found()).toBe(1);
  const before = whole.exporter.listings();
  expect(await found()).toBe(1);
  expect(whole.exporter.listings()).toBe(before);
  zones = 2;
  await whole.poll();
  expect(whole.exporter.listings()).not.toBe(before);
  expect(await found()).toBe(2);
  whole.document = { dns_zones: { targets: ['1'] } };
  await whole.reload();
  expect(whole.exporter.listings()).toEqual([]);
  expect(await found()).toBeUndefined();
});
