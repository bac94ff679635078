/** Origin Shield: requests that are at the origin, and those that wait for it. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { ranked } from '../rankings.ts';
import { cdnDashboard, pullZone } from './pull-zone.ts';

function panels(): readonly Row[] {
  const figure = (name: string) => ({ metric: `bunnynet_pull_zone_origin_shield_${name}` });
  return [
    row(cdnDashboard, 'Origin Shield and SafeHop', [
      ranked(10, pullZone, figure('concurrent_requests'), {
        title: 'At the origin at a time: the 10 busiest',
        description: 'Requests, as of the UTC day so far (API field ConcurrentRequestsChart).',
        unit: 'short',
        span: 6,
        nothing: 'No pull zone has an Origin Shield.',
      }),
      ranked(10, pullZone, figure('queued_requests'), {
        title: 'Waiting for the origin: the 10 longest',
        description: 'Requests, as of the UTC day so far (API field QueuedRequestsChart).',
        unit: 'short',
        span: 6,
        nothing: 'No pull zone has an Origin Shield.',
      }),
    ]),
  ];
}

export const pullZoneOriginShieldMonitoring: KindMonitoring = { kind: 'pull_zone_origin_shield', panels };
