/** The DRM licenses of one video library, by days (`/videolibrary/{id}/drm/statistics`). */

import { sum } from '../answer-of-range.ts';
import { daily } from '../charts.ts';
import { defineResource } from '../define.ts';
import { object } from '../fields.ts';
import { eachDay } from '../queries.ts';
import { videoLibraries } from './video-library.ts';

export const videoLibraryDrm = defineResource({
  kind: 'video_library_drm',
  noun: 'video library DRM',
  defaultIntervalSeconds: 3600,
  listing: videoLibraries,
  feature: 'EnableDRM',
  path: '/videolibrary/{id}/drm/statistics',
  query: eachDay,
  answer: object({
    LicensesIssuedChart: daily('issued_licenses', 'DRM licenses that were issued', {
      sum: 'TotalLicensesIssued',
    }),
    TotalLicensesIssued: sum,
  }),
});
