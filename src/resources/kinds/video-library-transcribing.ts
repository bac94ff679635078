/** How much video one library has transcribed, by days (`/videolibrary/{id}/transcribing/statistics`). */

import { sum } from '../answer-of-range.ts';
import { daily } from '../charts.ts';
import { defineResource } from '../define.ts';
import { object } from '../fields.ts';
import { eachDay } from '../queries.ts';
import { videoLibraries } from './video-library.ts';

export const videoLibraryTranscribing = defineResource({
  kind: 'video_library_transcribing',
  noun: 'video library transcribing',
  defaultIntervalSeconds: 3600,
  listing: videoLibraries,
  feature: 'EnableTranscribing',
  path: '/videolibrary/{id}/transcribing/statistics',
  query: eachDay,
  answer: object({
    TranscriptionSecondsChart: daily('video_seconds', 'Seconds of video that were transcribed', {
      sum: 'TotalTranscriptionSeconds',
    }),
    TotalTranscriptionSeconds: sum,
  }),
});
