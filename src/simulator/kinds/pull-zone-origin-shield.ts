/** The queue of Origin Shield, where a pull zone has it. */
import { chartOf, daysAsked } from '../charts.ts';
import { problemDetails } from '../forms.ts';
import type { Kind } from '../kind.ts';
import { unit } from '../random.ts';
import type { Request } from '../request.ts';
import { ofPullZone, type PullZone, type PullZones, targetOf } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

export const pullZoneOriginShield = {
  kind: 'pull_zone_origin_shield',
  sizes: { small: {}, medium: {}, full: {} },
  create: () => ({}),
  operations: [
    {
      name: 'pull_zone_origin_shield',
      api: 'core',
      path: '/pullzone/{pullZone}/originshield/queuestatistics',
      key: 'account',
      form: problemDetails,
      traits: { charts: ['ConcurrentRequestsChart', 'QueuedRequestsChart'] },
      answers: ({ pullZones }) =>
        ofPullZone(
          pullZones.filter(({ hasOriginShield }) => hasOriginShield),
          statistics,
        ),
    },
  ],
  section: 'pull_zone_origin_shield',
  targets: ({ pullZones }) => pullZones.filter(({ hasOriginShield }) => hasOriginShield).map(targetOf),
} as const satisfies Kind<Record<never, never>, object, PullZones>;

function statistics(zone: PullZone, request: Request): unknown {
  const days = daysAsked(request);
  const concurrent = (day: number) => Math.ceil(requestsOf(zone, day, request.nowMs) / 200_000);
  const queued = (day: number) => Math.floor(concurrent(day) * unit(zone.seed, day, 0x8d));
  return { ConcurrentRequestsChart: chartOf(days, concurrent), QueuedRequestsChart: chartOf(days, queued) };
}
