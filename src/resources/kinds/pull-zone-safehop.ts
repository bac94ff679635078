/** What SafeHop has done for one pull zone, by days (`/pullzone/{id}/safehop/statistics`). */

import { sum } from '../answer-of-range.ts';
import { daily } from '../charts.ts';
import { defineResource } from '../define.ts';
import { object } from '../fields.ts';
import { eachDayOfYear } from '../queries.ts';
import { pullZones } from './pull-zone.ts';

const statistics = object({
  RequestsRetriedChart: daily('retried_requests', 'Requests to the origin that were retried', {
    sum: 'TotalRequestsRetried',
  }),
  RequestsSavedChart: daily('saved_requests', 'Requests that a retry saved', { sum: 'TotalRequestsSaved' }),
  TotalRequestsRetried: sum,
  TotalRequestsSaved: sum,
});

export const pullZoneSafehop = defineResource({
  kind: 'pull_zone_safehop',
  noun: 'pull zone SafeHop',
  listing: pullZones,
  feature: 'EnableSafeHop',
  path: '/pullzone/{pullZoneId}/safehop/statistics',
  query: eachDayOfYear,
  answer: statistics,
});
