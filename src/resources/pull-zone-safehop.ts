/** What SafeHop has done for one pull zone, by days (`/pullzone/{id}/safehop/statistics`). */
import { daily } from './daily.ts';
import { readDays } from './days.ts';
import { object } from './fields.ts';
import { pullZones } from './pull-zone.ts';
import { defineResource } from './resource.ts';

const statistics = object(
  {
    RequestsRetriedChart: daily('retried_requests', 'Requests to the origin that were tried again'),
    RequestsSavedChart: daily('saved_requests', 'Requests that succeeded at a further try'),
  },
  'TotalRequestsRetried',
  'TotalRequestsSaved',
);

export const pullZoneSafehop = defineResource({
  kind: 'pull_zone_safehop',
  product: 'CDN',
  reference: 'GET /pullzone/{pullZoneId}/safehop/statistics',
  noun: 'SafeHop of the pull zone',
  defaultIntervalSeconds: 600,
  listing: pullZones,
  feature: 'safeHop',
  answer: statistics,
  read: readDays(
    statistics,
    ({ pull_zone_id }, days) => `/pullzone/${pull_zone_id}/safehop/statistics?${days}`,
  ),
});
