import { expect, it } from 'vitest';
import { videoEncoding } from '../../../src/resources/kinds/video-encoding.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(videoEncoding, answer, { ids: { library_id: '7' } });
const rowsOf = (rows: string) =>
  rows.replaceAll('bunnynet_video_encoding_', '').replaceAll('library_id="7"', 'of');

it('counts videos by encoding state, and shows how long the oldest has waited', async () => {
  const { rows, asked } = await read({
    totalItems: 8,
    currentPage: 1,
    itemsPerPage: 1000,
    items: [
      { guid: 'a', status: 4, dateUploaded: '2026-01-01T00:00:00' },
      { guid: 'b', status: 4 },
      { guid: 'c', status: 3, dateUploaded: '2026-08-20T10:00:00' },
      { guid: 'd', status: 1, dateUploaded: '2026-08-20T09:00:00' },
      // Its file may never be uploaded.
      { guid: 'e', status: 0, dateUploaded: '2026-02-01T00:00:00' },
      { guid: 'f', status: 5 },
      { guid: 'g', status: 8 },
      { guid: 'h', status: null },
    ],
  });
  expect(asked).toEqual(['/library/7/videos?page=1&itemsPerPage=1000']);
  expect(rowsOf(rows)).toBe(`\
videos{of,status="created"} 1
videos{of,status="uploaded"} 1
videos{of,status="processing"} 0
videos{of,status="transcoding"} 1
videos{of,status="finished"} 2
videos{of,status="error"} 1
videos{of,status="upload_failed"} 0
videos{of,status="other"} 1
videos{of,status="unknown"} 1
oldest_unfinished_timestamp_seconds{of} 1787216400
`);
});

it('shows no oldest video if none waits, and counts unlisted states as unknown', async () => {
  const { rows, unrecognized } = await read({ totalItems: 1, items: [{ guid: 'a', status: 11 }] });
  expect(rowsOf(rows)).toContain('videos{of,status="unknown"} 1\n');
  expect(rows).not.toContain('oldest_unfinished');
  expect(unrecognized).toEqual(['status: 11']);
});

it('does not treat an answer without its list as a library without videos', async () => {
  await expect(read({ totalItems: 3 })).rejects.toMatchObject({ result: 'schema' });
  expect(rowsOf((await read({ totalItems: 0, items: [] })).rows)).toContain(
    'videos{of,status="finished"} 0\n',
  );
});
