/** The DRM licenses of one video library, by days (`/videolibrary/{id}/drm/statistics`). */
import { chart, dailyFamiliesOf, readCharts, readDays } from './daily.ts';
import { object } from './fields.ts';
import { type DayFigure, defineResource } from './resource.ts';
import { videoLibraries, videoLibraryIds } from './video-library.ts';

const statistics = object({ LicensesIssuedChart: chart });

export interface VideoLibraryDrmReading {
  readonly LicensesIssuedChart: readonly DayFigure[] | undefined;
}

const { daily } = dailyFamiliesOf<VideoLibraryDrmReading>('bunnynet_video_library_drm');

export const videoLibraryDrm = defineResource({
  kind: 'video_library_drm',
  api: 'core',
  reference: 'GET /videolibrary/{id}/drm/statistics',
  noun: "video library's DRM",
  section: 'video_library_drm',
  ids: videoLibraryIds,
  defaultIntervalSeconds: 3600,
  fields: statistics.names,
  listing: videoLibraries,
  feature: 'drm',

  async read(get, ids, diagnostics, context): Promise<VideoLibraryDrmReading> {
    const pathOf = (query: string) => `/videolibrary/${ids['library_id']}/drm/statistics?${query}`;
    const answers = await readDays(statistics, pathOf, get, diagnostics, context);
    return readCharts(['LicensesIssuedChart'], answers, diagnostics);
  },

  families: daily(
    'issued_licenses',
    'DRM licenses that were issued',
    'LicensesIssuedChart',
    ({ LicensesIssuedChart: days }) => days,
  ),
});
