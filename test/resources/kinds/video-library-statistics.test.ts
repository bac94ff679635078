import { expect, it } from 'vitest';
import { videoLibraryStatistics } from '../../../src/resources/kinds/video-library-statistics.ts';
import { type Body, expose } from '../expose.ts';

const context = { nowMs: Date.parse('2026-11-20T10:00:00Z') };
const read = (answer: Body) =>
  expose(videoLibraryStatistics, answer, { ids: { library_id: '4711' }, context });

it('shows views and watch time of the day so far, and counts them', async () => {
  const { rows, asked } = await read(`{
    "viewsChart": { "2026-11-20T00:00:00Z": 240 },
    "watchTimeChart": { "2026-11-20T00:00:00Z": 18300 },
    "countryViewCounts": { "SI": 200, "AT": 40 },
    "countryWatchTime": { "SI": 16000, "AT": 2300 },
    "engagementScore": 74
  }`);
  expect(asked).toEqual(['/library/4711/statistics?dateFrom=2026-11-20&dateTo=2026-11-20']);
  expect(rows).toBe(`\
bunnynet_video_library_views_latest_day{library_id="4711"} 240
bunnynet_video_library_views_total{library_id="4711"} 0
bunnynet_video_library_watch_time_seconds_latest_day{library_id="4711"} 18300
bunnynet_video_library_watch_time_seconds_total{library_id="4711"} 0
bunnynet_video_library_country_views_latest_day{library_id="4711",country="AT"} 40
bunnynet_video_library_country_views_latest_day{library_id="4711",country="SI"} 200
bunnynet_video_library_country_views_total{library_id="4711",country="SI"} 0
bunnynet_video_library_country_views_total{library_id="4711",country="AT"} 0
bunnynet_video_library_country_views_total{library_id="4711",country="other"} 0
bunnynet_video_library_country_watch_time_seconds_latest_day{library_id="4711",country="AT"} 2300
bunnynet_video_library_country_watch_time_seconds_latest_day{library_id="4711",country="SI"} 16000
bunnynet_video_library_country_watch_time_seconds_total{library_id="4711",country="SI"} 0
bunnynet_video_library_country_watch_time_seconds_total{library_id="4711",country="AT"} 0
bunnynet_video_library_country_watch_time_seconds_total{library_id="4711",country="other"} 0
bunnynet_video_library_engagement_score{library_id="4711"} 74
bunnynet_video_library_statistics_latest_day_timestamp_seconds{library_id="4711"} 1795132800
`);
});

it('has no score if the API sends -1, which means no data', async () => {
  expect((await read({ engagementScore: -1 })).rows).not.toContain('engagement_score');
  expect((await read({ engagementScore: 0 })).rows).toContain('engagement_score{library_id="4711"} 0\n');
});
