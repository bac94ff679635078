/** How many DRM licenses of a library are issued. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines } from '../panels.ts';
import { hourly, peaks } from '../promql.ts';
import { library, streamDashboard } from './video-library.ts';

export const videoLibraryDrm: KindMonitoring = {
  kind: 'video_library_drm',
  rows: [
    row(streamDashboard, 'Transcribing and DRM', [
      lines('DRM licenses per hour by library (top 15)', 'short', 12, {
        description:
          'Licenses that were issued within an hour; read once an hour unless configured otherwise (API field LicensesIssuedChart).',
        queries: peaks(15, library, 'bunnynet_video_library_drm_issued_licenses_total', hourly),
      }),
    ]),
  ],
};
