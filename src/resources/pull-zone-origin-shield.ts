/** The queue before the origin of one pull zone with Origin Shield (`/pullzone/{id}/originshield/queuestatistics`). */
import { newestPoint, readDays } from './days.ts';
import { gauge } from './families.ts';
import { object } from './fields.ts';
import { pullZones } from './pull-zone.ts';
import { defineResource } from './resource.ts';

const statistics = object({
  ConcurrentRequestsChart: gauge(
    'concurrent_requests',
    newestPoint,
    'Requests to the origin at the same time, as of the UTC day so far',
  ),
  QueuedRequestsChart: gauge(
    'queued_requests',
    newestPoint,
    'Requests that wait for the origin, as of the UTC day so far',
  ),
});

const read = readDays(
  statistics,
  ({ pull_zone_id }, days) => `/pullzone/${pull_zone_id}/originshield/queuestatistics?${days}`,
);

export const pullZoneOriginShield = defineResource({
  kind: 'pull_zone_origin_shield',
  product: 'CDN',
  reference: 'GET /pullzone/{pullZoneId}/originshield/queuestatistics',
  noun: 'Origin Shield of the pull zone',
  defaultIntervalSeconds: 600,
  listing: pullZones,
  feature: 'originShield',
  answer: statistics,
  // Without counters no day has to be closed: today alone is of interest.
  read: (get, ids, diagnostics, { nowMs }) => read(get, ids, diagnostics, { nowMs }),
});
