/** The DRM licenses of video libraries, where they have DRM: one for each view. */
import { chartOf, daysAsked, totalOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { ofLibrary, targetOf, type VideoLibraries, type VideoLibrary, viewsOf } from './video-library.ts';

const hasDrm = (library: VideoLibrary) => library.hasDrm;

export const videoLibraryDrm = {
  kind: 'video_library_drm',
  ...coreApi,
  path: '/videolibrary/{library}/drm/statistics',
  traits: { number: 'TotalLicensesIssued', wholeNumbers: true, charts: ['LicensesIssuedChart'] },
  answers: ({ videoLibraries }) => ofLibrary(videoLibraries.filter(hasDrm), statistics),
  section: 'video_library_drm',
  targets: ({ videoLibraries }) => videoLibraries.filter(hasDrm).map(targetOf),
} as const satisfies Kind<unknown, object, VideoLibraries>;

function statistics(library: VideoLibrary, request: Request): unknown {
  const days = daysAsked(request);
  const licenses = (day: number) => viewsOf(library, day, request.nowMs);
  return {
    TotalLicensesIssued: totalOf(days, licenses),
    LicensesIssuedChart: chartOf(days, licenses, library.index % 2 === 0),
  };
}
