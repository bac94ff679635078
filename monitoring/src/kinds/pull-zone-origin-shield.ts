/** Origin Shield: requests in progress at the origin, and those waiting for it. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines } from '../panels.ts';
import { peaks, values } from '../promql.ts';
import { cdnDashboard, pullZone } from './pull-zone.ts';

const nothing = 'No pull zone has an Origin Shield.';

export const pullZoneOriginShield: KindMonitoring = {
  kind: 'pull_zone_origin_shield',
  rows: [
    row(cdnDashboard, 'Origin Shield and SafeHop', [
      lines('Concurrent origin requests (top 10)', 'short', 6, {
        description: 'Requests, as of the UTC day so far (API field ConcurrentRequestsChart).',
        queries: peaks(10, pullZone, 'bunnynet_pull_zone_origin_shield_concurrent_requests', values, nothing),
        nothing,
      }),
      lines('Queued origin requests (top 10)', 'short', 6, {
        description: 'Requests, as of the UTC day so far (API field QueuedRequestsChart).',
        queries: peaks(10, pullZone, 'bunnynet_pull_zone_origin_shield_queued_requests', values, nothing),
        nothing,
      }),
    ]),
  ],
};
