import { expect, it } from 'vitest';
import { videoStorage } from '../../../src/resources/kinds/video-storage.ts';
import { type About, type Body, expose } from '../expose.ts';

const ids = { library_id: '4711', video_id: '0f8c3f9e-5b1a-4a53-9d2e-6a1f3c9b7e20' };
const read = (answer: Body, about: About = {}) => expose(videoStorage, answer, { ids, ...about });

it('shows the storage of a video by component and by encoding', async () => {
  const { rows, asked } = await read(
    `{
      "success": true,
      "message": "OK",
      "statusCode": 200,
      "data": {
        "encoded": {
          "720p": { "codec": "x264", "resolution": "1280x720", "size": 41000000 },
          "360p": { "codec": "x264", "resolution": "640x360", "size": 12500000 },
          "1080p_av1": { "codec": "av1", "resolution": null, "size": 55000000 }
        },
        "thumbnails": 81920,
        "previews": 204800,
        "originals": 250000000,
        "mp4Fallback": 0,
        "miscellaneous": 4096,
        "calculatedAt": "2026-11-19T22:15:30.1234567Z"
      }
    }`,
    { name: 'trailer' },
  );
  expect(asked).toEqual(['/library/4711/videos/0f8c3f9e-5b1a-4a53-9d2e-6a1f3c9b7e20/storage']);
  const video = 'library_id="4711",video_id="0f8c3f9e-5b1a-4a53-9d2e-6a1f3c9b7e20"';
  expect(rows).toBe(`\
bunnynet_video_info{${video},account="account",name="trailer"} 1
bunnynet_video_storage_bytes{${video},component="originals"} 250000000
bunnynet_video_storage_bytes{${video},component="encoded"} 108500000
bunnynet_video_storage_bytes{${video},component="thumbnails"} 81920
bunnynet_video_storage_bytes{${video},component="previews"} 204800
bunnynet_video_storage_bytes{${video},component="mp4_fallback"} 0
bunnynet_video_storage_bytes{${video},component="miscellaneous"} 4096
bunnynet_video_encoded_storage_bytes{${video},encoding="1080p_av1",codec="av1",resolution=""} 55000000
bunnynet_video_encoded_storage_bytes{${video},encoding="360p",codec="x264",resolution="640x360"} 12500000
bunnynet_video_encoded_storage_bytes{${video},encoding="720p",codec="x264",resolution="1280x720"} 41000000
bunnynet_video_storage_calculated_timestamp_seconds{${video}} 1795126530.1234567
`);
});

/** The rows without the labels of the video. */
const readShort = async (data: string) => {
  const exposed = await read(`{ "success": true, "message": null, "data": ${data} }`);
  return {
    rows: exposed.rows.replaceAll(/library_id="4711",video_id="[^"]*",?/g, '').trimEnd(),
    mismatched: exposed.mismatched.toSorted(),
  };
};

it('shows 0 encoded bytes for a video without encodings', async () => {
  expect(await readShort('{ "encoded": {} }')).toEqual({
    rows: 'bunnynet_video_storage_bytes{component="encoded"} 0',
    mismatched: [],
  });
});

it('leaves out the sum if the size of one encoding is unknown, because it would be too small', async () => {
  expect(await readShort('{ "encoded": { "720p": { "size": 41 }, "360p": { "codec": "x264" } } }')).toEqual({
    rows: 'bunnynet_video_encoded_storage_bytes{encoding="720p",codec="",resolution=""} 41',
    mismatched: [],
  });
  expect(
    await readShort(
      '{ "encoded": { "720p": { "size": 41, "codec": 7 }, "360p": { "size": "12" }, "240p": 3 } }',
    ),
  ).toEqual({
    rows: 'bunnynet_video_encoded_storage_bytes{encoding="720p",codec="",resolution=""} 41',
    mismatched: ['encoded', 'encoded', 'encoded'],
  });
});

it('shows at most 50 encodings, and the sum of all', async () => {
  const encoded = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [`${String(59 - n).padStart(2, '0')}p`, { size: 1 }]),
  );
  const { rows } = await readShort(JSON.stringify({ encoded }));
  expect([...rows.matchAll(/encoding="(\d+)p"/g)].map(([, n]) => Number(n))).toEqual(
    Array.from({ length: 50 }, (_, n) => n),
  );
  expect(rows).toContain('bunnynet_video_storage_bytes{component="encoded"} 60\n');
});
