/** How much the videos of a library are watched, and where. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { newestDay, numbers } from '../panels.ts';
import { all, type Figure, hourly, values } from '../promql.ts';
import { ranked, rankedBy, rankedNow } from '../rankings.ts';
import { library, streamDashboard, toLibrary } from './video-library.ts';

const family = (name: string): string => `bunnynet_video_library_statistics_${name}`;
const counted = (name: string): Figure => ({ metric: family(`${name}_total`), as: 'hourly' });
const inHour = (name: string, by: readonly string[]): string =>
  hourly(library, family(`${name}_total`), { by });

function panels(): readonly Row[] {
  return [
    row(overviewDashboard, 'Stream', [
      ranked(10, all(library), counted('views'), {
        title: 'Views in an hour: the 10 busiest libraries',
        description: 'Views of videos within an hour (API field viewsChart).',
        unit: 'short',
        span: 12,
        link: toLibrary,
      }),
    ]),
    row(streamDashboard, 'Watched', [
      ranked(15, library, counted('views'), {
        title: 'Views in an hour: the 15 busiest libraries',
        description: 'Views of videos within an hour (API field viewsChart).',
        unit: 'short',
        span: 12,
      }),
      rankedBy('country', inHour('country_views', ['country']), {
        title: 'Views in an hour: the 10 busiest countries',
        description:
          'Views of the selected libraries together within an hour (API field countryViewCounts, of which a library counts the 50 largest countries).',
        unit: 'short',
        span: 12,
      }),
      rankedNow(10, library, inHour('watch_time_seconds', []), {
        link: toLibrary,
        title: 'Watched in an hour: the 10 busiest libraries',
        description: 'Time for which videos were watched within an hour (API field watchTimeChart).',
        unit: 's',
        span: 12,
      }),
      rankedBy('country', inHour('country_watch_time_seconds', ['country']), {
        title: 'Watched in an hour: the 10 busiest countries',
        description:
          'Time for which videos of the selected libraries were watched within an hour (API field countryWatchTime, of which a library counts the 50 largest countries).',
        unit: 's',
        span: 12,
      }),
      rankedNow(5, library, values(library, family('engagement_score')), {
        link: toLibrary,
        height: 5,
        title: 'Engagement: the 5 highest',
        description:
          'Score of the UTC day so far, from 0 to 100; begins anew at midnight (API field engagementScore).',
        unit: 'short',
        span: 12,
      }),
      numbers({
        title: 'Views today',
        description:
          'Views of the selected libraries in the UTC day so far, which starts from 0 at midnight (API field viewsChart).',
        unit: 'short',
        span: 12,
        height: 5,
        link: linkTo('bunnynet-exporter', 'Open the exporter'),
        queries: [{ expr: `sum(${values(library, family('views_latest_day'))})`, legend: 'views' }],
        nothing: 'none',
      }),
    ]),
    row(streamDashboard, 'Readings', [
      newestDay(
        'views',
        values(library, family('latest_day_timestamp_seconds')),
        'fields viewsChart, watchTimeChart',
      ),
    ]),
  ];
}

export const videoLibraryStatisticsMonitoring: KindMonitoring = {
  kind: 'video_library_statistics',
  panels,
};
