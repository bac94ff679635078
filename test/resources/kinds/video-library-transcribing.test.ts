import { expect, it } from 'vitest';
import { videoLibraryTranscribing } from '../../../src/resources/kinds/video-library-transcribing.ts';
import { type Body, expose } from '../expose.ts';

const context = { nowMs: Date.parse('2026-11-20T10:00:00Z') };
const read = (answer: Body) =>
  expose(videoLibraryTranscribing, answer, { ids: { library_id: '4711' }, context });

it('shows the seconds transcribed in the day so far, and counts them', async () => {
  const { rows, asked } = await read({ TranscriptionSecondsChart: { '2026-11-20T00:00:00Z': 240 } });
  expect(asked).toEqual(['/videolibrary/4711/transcribing/statistics?dateFrom=2026-11-20&dateTo=2026-11-20']);
  expect(rows).toBe(`\
bunnynet_video_library_transcribing_video_seconds_latest_day{library_id="4711"} 240
bunnynet_video_library_transcribing_video_seconds_total{library_id="4711"} 0
`);
});
