/** The DRM licenses of video libraries, where they have DRM: one for each view. */
import { chartOf, daysAsked, totalOf } from '../charts.ts';
import { problemDetails } from '../forms.ts';
import type { Kind } from '../kind.ts';
import type { Request } from '../request.ts';
import { ofLibrary, targetOf, type VideoLibraries, type VideoLibrary, viewsOf } from './video-library.ts';

const hasDrm = (library: VideoLibrary) => library.hasDrm;

export const videoLibraryDrm = {
  kind: 'video_library_drm',
  sizes: { small: {}, medium: {}, full: {} },
  create: () => ({}),
  operations: [
    {
      name: 'video_library_drm',
      api: 'core',
      path: '/videolibrary/{library}/drm/statistics',
      key: 'account',
      form: problemDetails,
      traits: { number: 'TotalLicensesIssued', wholeNumbers: true, charts: ['LicensesIssuedChart'] },
      answers: ({ videoLibraries }) => ofLibrary(videoLibraries.filter(hasDrm), statistics),
    },
  ],
  section: 'video_library_drm',
  targets: ({ videoLibraries }) => videoLibraries.filter(hasDrm).map(targetOf),
} as const satisfies Kind<Record<never, never>, object, VideoLibraries>;

function statistics(library: VideoLibrary, request: Request): unknown {
  const days = daysAsked(request);
  const licenses = (day: number) => viewsOf(library, day, request.nowMs);
  return {
    TotalLicensesIssued: totalOf(days, licenses),
    LicensesIssuedChart: chartOf(days, licenses, library.index % 2 === 0),
  };
}
