/** How many DRM licenses of a library are issued. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { ranked } from '../rankings.ts';
import { library, streamDashboard } from './video-library.ts';

export const videoLibraryDrmMonitoring: KindMonitoring = {
  kind: 'video_library_drm',
  panels: () => [
    row(streamDashboard, 'Transcribing and DRM', [
      ranked(
        15,
        library,
        { metric: 'bunnynet_video_library_drm_issued_licenses_total', as: 'hourly' },
        {
          title: 'DRM licenses in an hour: the 15 busiest libraries',
          description:
            'Licenses that were issued within an hour; read once an hour unless configured otherwise (API field LicensesIssuedChart).',
          unit: 'short',
          span: 12,
        },
      ),
    ]),
  ],
};
