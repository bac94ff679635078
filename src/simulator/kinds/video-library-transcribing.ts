/** What video libraries have transcribed, where they have that. */
import { chartOf, daysAsked, totalOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
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
  ...coreApi,
  path: '/videolibrary/{library}/transcribing/statistics',
  traits: { number: 'TotalTranscriptionSeconds', wholeNumbers: true, charts: ['TranscriptionSecondsChart'] },
  answers: ({ videoLibraries }) => ofLibrary(videoLibraries.filter(hasTranscribing), statistics),
  section: 'video_library_transcribing',
  targets: ({ videoLibraries }) => videoLibraries.filter(hasTranscribing).map(targetOf),
} as const satisfies Kind<unknown, object, VideoLibraries>;

function statistics(library: VideoLibrary, request: Request): unknown {
  const days = daysAsked(request);
  const seconds = (day: number) => transcribedSeconds(library, day, request.nowMs);
  return {
    TotalTranscriptionSeconds: totalOf(days, seconds),
    TranscriptionSecondsChart: chartOf(days, seconds, library.index % 2 === 0),
  };
}
