/** What video libraries have transcribed, where they have that. */
import { ofEach } from '../answers.ts';
import { chartOf, queryDays, totalOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { transcribedSeconds, type VideoLibrary } from './video-library.ts';

export const videoLibraryTranscribing = {
  kind: 'video_library_transcribing',
  section: 'video_library_transcribing',
  ...coreApi,
  path: '/videolibrary/{library}/transcribing/statistics',
  traits: { integer: 'TotalTranscriptionSeconds', charts: true },
  ...ofEach('videoLibraries', statistics, ({ hasTranscribing }) => hasTranscribing),
} as const satisfies Kind;

function statistics(library: VideoLibrary, request: Request) {
  const days = queryDays(request);
  const seconds = transcribedSeconds(library, request.nowMs);
  return ok({
    TotalTranscriptionSeconds: totalOf(days, seconds),
    TranscriptionSecondsChart: chartOf(days, seconds, library.index % 2 === 0),
  });
}
