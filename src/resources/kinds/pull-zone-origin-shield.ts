/** The queue before the origin of one pull zone with Origin Shield (`/pullzone/{id}/originshield/queuestatistics`). */
import { newestPoint } from '../charts.ts';
import { defineResource } from '../define.ts';
import { gauge } from '../families.ts';
import { object } from '../fields.ts';
import { today } from '../queries.ts';
import { pullZones } from './pull-zone.ts';

const statistics = object({
  ConcurrentRequestsChart: gauge(
    'concurrent_requests',
    'Requests to the origin at the same time, as of the UTC day so far',
    newestPoint,
  ),
  QueuedRequestsChart: gauge(
    'queued_requests',
    'Requests that wait for the origin, as of the UTC day so far',
    newestPoint,
  ),
});

export const pullZoneOriginShield = defineResource({
  kind: 'pull_zone_origin_shield',
  noun: 'pull zone Origin Shield',
  listing: pullZones,
  feature: 'EnableOriginShield',
  path: '/pullzone/{pullZoneId}/originshield/queuestatistics',
  query: today,
  answer: statistics,
});
