/** The charts of an application by days. The traffic is the only one that no other operation has. */
import { ofEach } from '../answers.ts';
import { chartOf, doneOf, queryDays, weekdayShare } from '../days.ts';
import { magnitude, round, unit } from '../entities.ts';
import { applicationApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { Application } from './application.ts';

export const applicationStatistics = {
  kind: 'application_statistics',
  section: 'application_statistics',
  ...applicationApi,
  path: '/apps/{app}/statistics?granularity=Daily',
  instants: ['fromDate', 'toDate'],
  traits: { charts: true },
  ...ofEach('applications', statistics),
} as const satisfies Kind;

function statistics({ seed }: Application, request: Request) {
  const days = queryDays(request, 'fromDate', 'toDate');
  const perDay = magnitude(200, 80_000, unit(seed, 0x96));
  const busy = (day: number) => weekdayShare(day) * (0.6 + 0.8 * unit(seed, day, 0x97));
  return ok({
    trafficChart: chartOf(days, (day) => round(perDay * busy(day) * doneOf(day, request.nowMs), 3)),
    cpuUsageChart: chartOf(days, (day) => round(0.2 + 0.5 * unit(seed, day, 0x98), 3)),
  });
}
