/** How the videos of a library are watched, by days and by country. */
import { chartOf, daysAsked, totalOf } from '../days.ts';
import { count } from '../entities.ts';
import { problemDetails } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { unit } from '../random.ts';
import { ofLibrary, targetOf, type VideoLibraries, type VideoLibrary, viewsOf } from './video-library.ts';

export const videoLibraryStatistics = {
  kind: 'video_library_statistics',
  api: 'video',
  path: '/library/{library}/statistics',
  key: 'library',
  form: problemDetails,
  traits: { number: 'engagementScore', wholeNumbers: true, charts: ['viewsChart', 'watchTimeChart'] },
  answers: ({ videoLibraries }) => ofLibrary(videoLibraries, statistics),
  section: 'video_library_statistics',
  targets: ({ videoLibraries }) =>
    videoLibraries.map((library) => ({ ...targetOf(library), library: library.libraryId })),
} as const satisfies Kind<unknown, object, VideoLibraries>;

function statistics(library: VideoLibrary, request: Request): unknown {
  const { seed, index } = library;
  const days = daysAsked(request);
  const views = (day: number) => viewsOf(library, day, request.nowMs);
  const secondsOfView = 60 + Math.floor(240 * unit(seed, 0x86));
  const watched = (day: number) => views(day) * secondsOfView;
  return {
    viewsChart: chartOf(days, views, index % 2 === 0),
    watchTimeChart: chartOf(days, watched, index % 2 === 0),
    countryViewCounts: byCountry(library, totalOf(days, views)),
    countryWatchTime: byCountry(library, totalOf(days, watched)),
    // -1 where there are no data.
    engagementScore: index % 4 === 1 ? -1 : 40 + Math.floor(55 * unit(seed, days.at(-1) ?? 0, 0x87)),
  };
}

const countries = ['SI', 'AT', 'DE', 'IT', 'HR', 'US', 'GB', 'FR', 'PL', 'BR', 'JP', 'ZA'] as const;

/** The figure by country, less and less of it; one library in twelve is watched in more countries than are told apart. */
function byCountry({ index }: VideoLibrary, figure: number): Readonly<Record<string, number>> {
  const shown = index % 12 === 11 ? 60 : 3 + (index % 9);
  return Object.fromEntries(
    count(shown, (order) => {
      const code = countries[order] ?? `X${String.fromCodePoint(65 + ((order - countries.length) % 26))}`;
      const name = order < countries.length + 26 ? code : `Q${code.slice(1)}`;
      return [name, Math.floor(figure / 2 ** Math.min(30, order + 1))];
    }),
  );
}
