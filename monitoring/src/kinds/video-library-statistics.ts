/** How much the videos of a library are watched, and where. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { toExporter } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, newestDay, numbers } from '../panels.ts';
import { all, hourly, peaks, top, topBy, values } from '../promql.ts';
import { library, streamDashboard } from './video-library.ts';

const family = (name: string): string => `bunnynet_video_library_${name}`;
const field = (name: string): string => values(library, family(name));
const inHour = (name: string, by: readonly string[] = []): string =>
  hourly(library, family(`${name}_total`), by);

export const videoLibraryStatistics: KindMonitoring = {
  kind: 'video_library_statistics',
  rows: [
    row(overviewDashboard, 'Stream', [
      lines('Views per hour by library (top 10)', 'short', 12, {
        description: 'Views of videos within an hour (API field viewsChart).',
        queries: peaks(10, all(library), family('views_total'), hourly),
        link: library.link,
      }),
    ]),
    row(streamDashboard, 'Viewing', [
      lines('Views per hour by library (top 15)', 'short', 12, {
        description: 'Views of videos within an hour (API field viewsChart).',
        queries: peaks(15, library, family('views_total'), hourly),
      }),
      bars('Views in the past hour by country (top 10)', 'short', 12, {
        description:
          'Views of the selected libraries together within an hour (API field countryViewCounts, of which a library counts the 50 largest countries).',
        queries: topBy('country', inHour('country_views', ['country'])),
      }),
      bars('Watch time in the past hour by library (top 10)', 's', 12, {
        description: 'Time for which videos were watched within an hour (API field watchTimeChart).',
        queries: top(10, library, inHour('watch_time_seconds')),
        link: library.link,
      }),
      bars('Watch time in the past hour by country (top 10)', 's', 12, {
        description:
          'Time for which videos of the selected libraries were watched within an hour (API field countryWatchTime, of which a library counts the 50 largest countries).',
        queries: topBy('country', inHour('country_watch_time_seconds', ['country'])),
      }),
      bars('Engagement score (top 5)', 'short', 12, {
        description:
          'Score of the UTC day so far, from 0 to 100; starts again at midnight (API field engagementScore).',
        height: 5,
        queries: top(5, library, field('engagement_score')),
        link: library.link,
      }),
      numbers('Views today', 'short', 12, {
        description:
          'Views of the selected libraries in the UTC day so far, which starts from 0 at midnight (API field viewsChart).',
        height: 5,
        queries: { views: `sum(${field('views_latest_day')})` },
        link: toExporter,
      }),
    ]),
    row(streamDashboard, 'Readings', [
      newestDay(
        'views',
        field('statistics_latest_day_timestamp_seconds'),
        'fields viewsChart, watchTimeChart',
      ),
    ]),
  ],
};
