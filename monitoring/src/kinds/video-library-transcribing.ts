/** How much video of a library is transcribed. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { ranked } from '../rankings.ts';
import { library, streamDashboard } from './video-library.ts';

export const videoLibraryTranscribingMonitoring: KindMonitoring = {
  kind: 'video_library_transcribing',
  panels: () => [
    row(streamDashboard, 'Transcribing and DRM', [
      ranked(
        15,
        library,
        { metric: 'bunnynet_video_library_transcribing_video_seconds_total', as: 'hourly' },
        {
          title: 'Transcribed in an hour: the 15 busiest libraries',
          description:
            'Length of the video that was transcribed within an hour; read once an hour unless configured otherwise (API field TranscriptionSecondsChart).',
          unit: 's',
          span: 12,
        },
      ),
    ]),
  ],
};
