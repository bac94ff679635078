/** The charts of an application by days. Of them the traffic alone is not told elsewhere. */
import { chartOf, daysBetween, doneOf, weekdayShare } from '../days.ts';
import { round } from '../entities.ts';
import { applicationApi, ofEach } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { magnitude, unit } from '../random.ts';
import type { Application } from './application.ts';
import type { Applications } from './application-overview.ts';

export const applicationStatistics = {
  kind: 'application_statistics',
  ...applicationApi,
  path: '/apps/{app}/statistics?granularity=Daily',
  traits: { charts: ['trafficChart', 'cpuUsageChart'] },
  answers: ({ applications }) =>
    ofEach(
      applications,
      ({ id }) => id,
      (one, request) => ok(statistics(one, request)),
      () => applicationApi.form.notFound,
    ),
  section: 'application_statistics',
  targets: ({ applications }) => applications.map(({ id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, Applications>;

function statistics({ seed }: Application, { query, nowMs }: Request): object {
  const days = daysBetween({ query, nowMs }, 'fromDate', 'toDate');
  const perDay = magnitude(200, 80_000, unit(seed, 0x96));
  const traffic = (day: number) =>
    round(perDay * weekdayShare(day) * (0.6 + 0.8 * unit(seed, day, 0x97)) * doneOf(day, nowMs), 3);
  return {
    trafficChart: chartOf(days, traffic),
    cpuUsageChart: chartOf(days, (day) => round(0.2 + 0.5 * unit(seed, day, 0x98), 3)),
  };
}
