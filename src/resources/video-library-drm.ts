/** The DRM licenses of one video library, by days (`/videolibrary/{id}/drm/statistics`). */
import { daily } from './daily.ts';
import { readDays } from './days.ts';
import { object } from './fields.ts';
import { defineResource } from './resource.ts';
import { videoLibraries } from './video-library.ts';

const statistics = object(
  {
    LicensesIssuedChart: daily('issued_licenses', 'DRM licenses that were issued'),
  },
  'TotalLicensesIssued',
);

export const videoLibraryDrm = defineResource({
  kind: 'video_library_drm',
  product: 'Stream',
  reference: 'GET /videolibrary/{id}/drm/statistics',
  noun: 'DRM of the video library',
  defaultIntervalSeconds: 3600,
  listing: videoLibraries,
  feature: 'drm',
  answer: statistics,
  read: readDays(statistics, ({ library_id }, days) => `/videolibrary/${library_id}/drm/statistics?${days}`),
});
