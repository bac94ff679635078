/** SafeHop, where a pull zone has it. */
import { chartOf, daysAsked, totalOf } from '../charts.ts';
import { problemDetails } from '../forms.ts';
import type { Kind } from '../kind.ts';
import { unit } from '../random.ts';
import type { Request } from '../request.ts';
import { ofPullZone, type PullZone, type PullZones, targetOf } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

export const pullZoneSafehop = {
  kind: 'pull_zone_safehop',
  sizes: { small: {}, medium: {}, full: {} },
  create: () => ({}),
  operations: [
    {
      name: 'pull_zone_safehop',
      api: 'core',
      path: '/pullzone/{pullZone}/safehop/statistics',
      key: 'account',
      form: problemDetails,
      traits: { number: 'TotalRequestsRetried', charts: ['RequestsRetriedChart', 'RequestsSavedChart'] },
      answers: ({ pullZones }) =>
        ofPullZone(
          pullZones.filter(({ hasSafeHop }) => hasSafeHop),
          statistics,
        ),
    },
  ],
  section: 'pull_zone_safehop',
  targets: ({ pullZones }) => pullZones.filter(({ hasSafeHop }) => hasSafeHop).map(targetOf),
} as const satisfies Kind<Record<never, never>, object, PullZones>;

function statistics(zone: PullZone, request: Request): unknown {
  const days = daysAsked(request);
  const retried = (day: number) =>
    Math.floor(requestsOf(zone, day, request.nowMs) * 0.002 * unit(zone.seed, day, 0x8e));
  const saved = (day: number) => Math.floor(retried(day) * 0.8);
  return {
    RequestsRetriedChart: chartOf(days, retried),
    RequestsSavedChart: chartOf(days, saved),
    TotalRequestsRetried: totalOf(days, retried),
    TotalRequestsSaved: totalOf(days, saved),
  };
}
