/** What video libraries have transcribed, where they have that. */
import { chartOf, daysAsked, totalOf } from '../charts.ts';
import { problemDetails } from '../forms.ts';
import type { Kind } from '../kind.ts';
import type { Request } from '../request.ts';
import {
  ofLibrary,
  targetOf,
  transcribedSeconds,
  type VideoLibraries,
  type VideoLibrary,
} from './video-library.ts';

const hasTranscribing = (library: VideoLibrary) => library.hasTranscribing;

export const videoLibraryTranscribing = {
  kind: 'video_library_transcribing',
  sizes: { small: {}, medium: {}, full: {} },
  create: () => ({}),
  operations: [
    {
      name: 'video_library_transcribing',
      api: 'core',
      path: '/videolibrary/{library}/transcribing/statistics',
      key: 'account',
      form: problemDetails,
      traits: {
        number: 'TotalTranscriptionSeconds',
        wholeNumbers: true,
        charts: ['TranscriptionSecondsChart'],
      },
      answers: ({ videoLibraries }) => ofLibrary(videoLibraries.filter(hasTranscribing), statistics),
    },
  ],
  section: 'video_library_transcribing',
  targets: ({ videoLibraries }) => videoLibraries.filter(hasTranscribing).map(targetOf),
} as const satisfies Kind<Record<never, never>, object, VideoLibraries>;

function statistics(library: VideoLibrary, request: Request): unknown {
  const days = daysAsked(request);
  const seconds = (day: number) => transcribedSeconds(library, day, request.nowMs);
  return {
    TotalTranscriptionSeconds: totalOf(days, seconds),
    TranscriptionSecondsChart: chartOf(days, seconds, library.index % 2 === 0),
  };
}
