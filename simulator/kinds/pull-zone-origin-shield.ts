/** The queue of Origin Shield, where a pull zone has it. */
import { ofEach } from '../answers.ts';
import { chartOf, queryDays, reachOfStatistics } from '../days.ts';
import { unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { PullZone } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

export const pullZoneOriginShield = {
  kind: 'pull_zone_origin_shield',
  section: 'pull_zone_origin_shield',
  ...coreApi,
  path: '/pullzone/{pullZone}/originshield/queuestatistics',
  reach: reachOfStatistics,
  traits: { charts: true },
  ...ofEach('pullZones', statistics, ({ hasOriginShield }) => hasOriginShield),
} as const satisfies Kind;

function statistics(zone: PullZone, request: Request) {
  const days = queryDays(request);
  const served = requestsOf(zone, request.nowMs);
  const concurrent = (day: number) => Math.ceil(served(day) / 200_000);
  const queued = (day: number) => Math.floor(concurrent(day) * unit(zone.seed, day, 0x8d));
  return ok({
    ConcurrentRequestsChart: chartOf(days, concurrent),
    QueuedRequestsChart: chartOf(days, queued),
  });
}
