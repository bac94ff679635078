/** The views and the watch time of one video library by days (`/library/{id}/statistics`). Watch time is seconds. */
import { daily, newestDay } from '../charts.ts';
import { defineResource } from '../define.ts';
import { gauge } from '../families.ts';
import { integer, mapped, object } from '../fields.ts';
import { eachDay } from '../queries.ts';
import { dailyTally } from '../tallies.ts';
import { videoLibraries } from './video-library.ts';

const country = (key: string) => key;

const statistics = object({
  viewsChart: daily('views', 'Views of videos'),
  watchTimeChart: daily('watch_time_seconds', 'Watch time of videos'),
  countryViewCounts: dailyTally('country_views', 'Views of videos by country', 'viewsChart', { country }),
  countryWatchTime: dailyTally(
    'country_watch_time_seconds',
    'Watch time of videos by country',
    'watchTimeChart',
    { country },
  ),
  engagementScore: gauge(
    'engagement_score',
    'Engagement score of the UTC day so far, from 0 to 100',
    // The API writes -1 where it has no data.
    mapped(integer, (score) => (score < 0 ? undefined : score)),
  ),
});

export const videoLibraryStatistics = defineResource({
  kind: 'video_library_statistics',
  familyPrefix: 'bunnynet_video_library',
  api: 'video',
  noun: 'video library statistics',
  listing: videoLibraries,
  path: '/library/{libraryId}/statistics',
  query: eachDay,
  answer: statistics,
  families: (own) => [...own, { ...newestDay(statistics), name: 'statistics_latest_day_timestamp_seconds' }],
});
