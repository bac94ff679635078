/** What video libraries have transcribed, where they have that. */
import { ofEach } from '../answers.ts';
import { chartOf, daysAsked, totalOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok } from '../kind.ts';
import { transcribedSeconds, type VideoLibraries } from './video-library.ts';

export const videoLibraryTranscribing = {
  kind: 'video_library_transcribing',
  section: 'video_library_transcribing',
  ...coreApi,
  path: '/videolibrary/{library}/transcribing/statistics',
  traits: { number: 'TotalTranscriptionSeconds', wholeNumbers: true, charts: true },
  ...ofEach(
    ({ videoLibraries }: VideoLibraries) => videoLibraries.filter(({ hasTranscribing }) => hasTranscribing),
    (library, request) => {
      const days = daysAsked(request);
      const seconds = transcribedSeconds(library, request.nowMs);
      return ok({
        TotalTranscriptionSeconds: totalOf(days, seconds),
        TranscriptionSecondsChart: chartOf(days, seconds, library.index % 2 === 0),
      });
    },
  ),
} as const satisfies Kind;
