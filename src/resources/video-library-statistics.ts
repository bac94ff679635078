/** The views and the watch time of one video library by days (`/library/{id}/statistics`). Watch time is seconds. */
import { daily, dailyTally, newestDay } from './daily.ts';
import { readDays } from './days.ts';
import { gauge } from './families.ts';
import { integer, mapped, object } from './fields.ts';
import { defineResource } from './resource.ts';
import { videoLibraries } from './video-library.ts';

const country = (key: string) => key;

const statistics = object({
  viewsChart: daily('views', 'Views of videos'),
  watchTimeChart: daily('watch_time_seconds', 'Time for which videos were watched'),
  countryViewCounts: dailyTally('country_views', 'Views of videos by country', { country }),
  countryWatchTime: dailyTally(
    'country_watch_time_seconds',
    'Time for which videos were watched, by country',
    { country },
  ),
  engagementScore: gauge(
    'engagement_score',
    // The API writes -1 where it has no data.
    mapped(integer, (score) => (score < 0 ? undefined : score)),
    'Engagement score of the UTC day so far, from 0 to 100',
  ),
});

export const videoLibraryStatistics = defineResource({
  kind: 'video_library_statistics',
  product: 'Stream',
  api: 'video',
  reference: 'GET /library/{libraryId}/statistics',
  noun: 'statistics of the video library',
  defaultIntervalSeconds: 600,
  listing: videoLibraries,
  answer: statistics,
  families: [newestDay(['viewsChart', 'watchTimeChart'], 'API fields viewsChart, watchTimeChart')],
  read: readDays(statistics, ({ library_id }, days) => `/library/${library_id}/statistics?${days}`),
});
