/** The queue of Origin Shield, where a pull zone has it. */
import { chartOf, daysAsked } from '../days.ts';
import { coreApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { unit } from '../random.ts';
import { ofPullZone, type PullZone, type PullZones, targetOf } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

const isOn = ({ hasOriginShield }: PullZone) => hasOriginShield;

export const pullZoneOriginShield = {
  kind: 'pull_zone_origin_shield',
  ...coreApi,
  path: '/pullzone/{pullZone}/originshield/queuestatistics',
  traits: { charts: ['ConcurrentRequestsChart', 'QueuedRequestsChart'] },
  answers: ({ pullZones }) => ofPullZone(pullZones.filter(isOn), statistics),
  section: 'pull_zone_origin_shield',
  targets: ({ pullZones }) => pullZones.filter(isOn).map(targetOf),
} as const satisfies Kind<unknown, object, PullZones>;

function statistics(zone: PullZone, request: Request): unknown {
  const days = daysAsked(request);
  const concurrent = (day: number) => Math.ceil(requestsOf(zone, day, request.nowMs) / 200_000);
  const queued = (day: number) => Math.floor(concurrent(day) * unit(zone.seed, day, 0x8d));
  return { ConcurrentRequestsChart: chartOf(days, concurrent), QueuedRequestsChart: chartOf(days, queued) };
}
