/** How much video of a library is transcribed. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines } from '../panels.ts';
import { hourly, peaks } from '../promql.ts';
import { library, streamDashboard } from './video-library.ts';

export const videoLibraryTranscribing: KindMonitoring = {
  kind: 'video_library_transcribing',
  rows: [
    row(streamDashboard, 'Transcribing and DRM', [
      lines('Transcribed per hour by library (top 15)', 's', 12, {
        description:
          'Length of the video that was transcribed within an hour; read once an hour unless configured otherwise (API field TranscriptionSecondsChart).',
        queries: peaks(15, library, 'bunnynet_video_library_transcribing_video_seconds_total', hourly),
      }),
    ]),
  ],
};
