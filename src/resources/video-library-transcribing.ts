/** How much video one library has transcribed, by days (`/videolibrary/{id}/transcribing/statistics`). */
import { chart, dailyFamiliesOf, readCharts, readDays } from './daily.ts';
import { object } from './fields.ts';
import { type DayFigure, defineResource } from './resource.ts';
import { videoLibraries, videoLibraryIds } from './video-library.ts';

const statistics = object({ TranscriptionSecondsChart: chart });

export interface VideoLibraryTranscribingReading {
  readonly TranscriptionSecondsChart: readonly DayFigure[] | undefined;
}

const { daily } = dailyFamiliesOf<VideoLibraryTranscribingReading>('bunnynet_video_library_transcribing');

export const videoLibraryTranscribing = defineResource({
  kind: 'video_library_transcribing',
  api: 'core',
  reference: 'GET /videolibrary/{id}/transcribing/statistics',
  noun: "video library's transcribing",
  section: 'video_library_transcribing',
  ids: videoLibraryIds,
  defaultIntervalSeconds: 3600,
  fields: statistics.names,
  listing: videoLibraries,
  feature: 'transcribing',

  async read(get, ids, diagnostics, context): Promise<VideoLibraryTranscribingReading> {
    const pathOf = (query: string) => `/videolibrary/${ids['library_id']}/transcribing/statistics?${query}`;
    const answers = await readDays(statistics, pathOf, get, diagnostics, context);
    return readCharts(['TranscriptionSecondsChart'], answers, diagnostics);
  },

  families: daily(
    'video_seconds',
    'Seconds of video that were transcribed',
    'TranscriptionSecondsChart',
    ({ TranscriptionSecondsChart: days }) => days,
  ),
});
