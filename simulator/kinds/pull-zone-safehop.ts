/** SafeHop, where a pull zone has it. */
import { ofEach } from '../answers.ts';
import { chartOf, queryDays, reachOfStatistics, totalOf } from '../days.ts';
import { unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { PullZone } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

export const pullZoneSafehop = {
  kind: 'pull_zone_safehop',
  section: 'pull_zone_safehop',
  ...coreApi,
  path: '/pullzone/{pullZone}/safehop/statistics',
  reach: reachOfStatistics,
  traits: { number: 'TotalRequestsRetried', charts: true },
  ...ofEach('pullZones', statistics, ({ hasSafeHop }) => hasSafeHop),
} as const satisfies Kind;

function statistics(zone: PullZone, request: Request) {
  const days = queryDays(request);
  const served = requestsOf(zone, request.nowMs);
  const retried = (day: number) => Math.floor(served(day) * 0.002 * unit(zone.seed, day, 0x8e));
  const saved = (day: number) => Math.floor(retried(day) * 0.8);
  return ok({
    RequestsRetriedChart: chartOf(days, retried),
    RequestsSavedChart: chartOf(days, saved),
    TotalRequestsRetried: totalOf(days, retried),
    TotalRequestsSaved: totalOf(days, saved),
  });
}
