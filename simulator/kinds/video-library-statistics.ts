/** How the videos of a library are watched, by days and by country. */
import { ofEach, targetWithKey } from '../answers.ts';
import { chartOf, queryDays, totalOf } from '../days.ts';
import { count, unit } from '../entities.ts';
import { problemDetails } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { type VideoLibraries, type VideoLibrary, viewsOf } from './video-library.ts';

export const videoLibraryStatistics = {
  kind: 'video_library_statistics',
  section: 'video_library_statistics',
  api: 'video',
  path: '/library/{library}/statistics',
  key: 'library',
  form: problemDetails,
  traits: { integer: 'engagementScore', charts: true },
  ...ofEach('videoLibraries', statistics),
  targets: ({ videoLibraries }: VideoLibraries) => videoLibraries.map(targetWithKey),
} as const satisfies Kind;

function statistics(library: VideoLibrary, request: Request) {
  const { seed, index } = library;
  const days = queryDays(request);
  const views = viewsOf(library, request.nowMs);
  const secondsOfView = 60 + Math.floor(240 * unit(seed, 0x86));
  const watched = (day: number) => views(day) * secondsOfView;
  return ok({
    viewsChart: chartOf(days, views, index % 2 === 0),
    watchTimeChart: chartOf(days, watched, index % 2 === 0),
    countryViewCounts: byCountry(library, totalOf(days, views)),
    countryWatchTime: byCountry(library, totalOf(days, watched)),
    // -1 where there are no data.
    engagementScore: index % 4 === 1 ? -1 : 40 + Math.floor(55 * unit(seed, days.at(-1) ?? 0, 0x87)),
  });
}

const countries = ['SI', 'AT', 'DE', 'IT', 'HR', 'US', 'GB', 'FR', 'PL', 'BR', 'JP', 'ZA'] as const;

/** Splits a figure by country; each has half of the one before. One library in twelve has more countries than the exporter shows. */
function byCountry({ index }: VideoLibrary, figure: number): Readonly<Record<string, number>> {
  const shown = index % 12 === 11 ? 60 : 3 + (index % 9);
  const codeOf = (order: number) => {
    const more = order - countries.length;
    return countries[order] ?? `${more < 26 ? 'X' : 'Q'}${String.fromCodePoint(65 + (more % 26))}`;
  };
  return Object.fromEntries(
    count(shown, (order) => [codeOf(order), Math.floor(figure / 2 ** Math.min(30, order + 1))]),
  );
}
