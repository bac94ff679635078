/** How the videos of one library are watched, by days (`/library/{id}/statistics`). Watch time is seconds. */

import { familiesOf } from './by-hand.ts';
import { chart, dailyFamiliesOf, newestStart, readCharts, readDays, readTally, type Tally } from './daily.ts';
import { integer, object } from './fields.ts';
import { type DayFigure, defineResource } from './resource.ts';
import { videoLibraries, videoLibraryIds } from './video-library.ts';

const statistics = object({
  viewsChart: chart,
  watchTimeChart: chart,
  countryViewCounts: chart,
  countryWatchTime: chart,
  engagementScore: integer,
});
const charts = ['viewsChart', 'watchTimeChart'] as const;

export interface VideoLibraryStatisticsReading {
  readonly days: Readonly<Record<(typeof charts)[number], readonly DayFigure[] | undefined>>;
  readonly countryViews: Tally | undefined;
  readonly countryWatchTime: Tally | undefined;
  /** Of today. */
  readonly engagementScore: number | null | undefined;
}

const prefix = 'bunnynet_video_library_statistics';
const { gauge } = familiesOf<VideoLibraryStatisticsReading>(prefix);
const { daily, dailyTally } = dailyFamiliesOf<VideoLibraryStatisticsReading>(prefix);

export const videoLibraryStatistics = defineResource({
  kind: 'video_library_statistics',
  api: 'video',
  reference: 'GET /library/{libraryId}/statistics',
  noun: "video library's statistics",
  section: 'video_library_statistics',
  ids: videoLibraryIds,
  defaultIntervalSeconds: 600,
  fields: statistics.names,
  listing: videoLibraries,

  async read(get, ids, diagnostics, context): Promise<VideoLibraryStatisticsReading> {
    const pathOf = (query: string) => `/library/${ids['library_id']}/statistics?${query}`;
    const answers = await readDays(statistics, pathOf, get, diagnostics, context);
    return {
      days: readCharts(charts, answers, diagnostics),
      countryViews: readTally('countryViewCounts', answers),
      countryWatchTime: readTally('countryWatchTime', answers),
      engagementScore: answers.at(-1)?.answer.engagementScore,
    };
  },

  families: [
    ...daily('views', 'Views of videos', 'viewsChart', ({ days }) => days.viewsChart),
    ...daily(
      'watch_time_seconds',
      'Time for which videos were watched',
      'watchTimeChart',
      ({ days }) => days.watchTimeChart,
    ),
    ...dailyTally(
      'country',
      'country_views',
      'Views of videos by country',
      'countryViewCounts',
      ({ countryViews }) => countryViews,
    ),
    ...dailyTally(
      'country',
      'country_watch_time_seconds',
      'Time for which videos were watched, by country',
      'countryWatchTime',
      ({ countryWatchTime }) => countryWatchTime,
    ),
    gauge(
      'engagement_score',
      'Engagement score of the UTC day so far, on the scale of the API (API field engagementScore).',
      ({ engagementScore }) => engagementScore ?? undefined,
    ),
    gauge(
      'latest_day_timestamp_seconds',
      'Start of the newest UTC day, as Unix time (newest key of the API fields viewsChart, watchTimeChart).',
      ({ days }) => newestStart(charts.flatMap((field) => days[field] ?? [])),
    ),
  ],
});
