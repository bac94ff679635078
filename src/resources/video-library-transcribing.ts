/** How much video one library has transcribed, by days (`/videolibrary/{id}/transcribing/statistics`). */
import { daily } from './daily.ts';
import { readDays } from './days.ts';
import { object } from './fields.ts';
import { defineResource } from './resource.ts';
import { videoLibraries } from './video-library.ts';

const statistics = object(
  {
    TranscriptionSecondsChart: daily('video_seconds', 'Seconds of video that were transcribed'),
  },
  'TotalTranscriptionSeconds',
);

export const videoLibraryTranscribing = defineResource({
  kind: 'video_library_transcribing',
  product: 'Stream',
  reference: 'GET /videolibrary/{id}/transcribing/statistics',
  noun: 'transcribing of the video library',
  defaultIntervalSeconds: 3600,
  listing: videoLibraries,
  feature: 'transcribing',
  answer: statistics,
  read: readDays(
    statistics,
    ({ library_id }, days) => `/videolibrary/${library_id}/transcribing/statistics?${days}`,
  ),
});
