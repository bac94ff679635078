/** The DRM licenses of video libraries, where they have DRM: one for each view. */
import { ofEach } from '../answers.ts';
import { chartOf, queryDays, totalOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { type VideoLibrary, viewsOf } from './video-library.ts';

export const videoLibraryDrm = {
  kind: 'video_library_drm',
  section: 'video_library_drm',
  ...coreApi,
  path: '/videolibrary/{library}/drm/statistics',
  traits: { integer: 'TotalLicensesIssued', charts: true },
  ...ofEach('videoLibraries', statistics, ({ hasDrm }) => hasDrm),
} as const satisfies Kind;

function statistics(library: VideoLibrary, request: Request) {
  const days = queryDays(request);
  const licenses = viewsOf(library, request.nowMs);
  return ok({
    TotalLicensesIssued: totalOf(days, licenses),
    LicensesIssuedChart: chartOf(days, licenses, library.index % 2 === 0),
  });
}
