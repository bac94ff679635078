/** What Bunny Optimizer has done for one pull zone, by days (`/pullzone/{id}/optimizer/statistics`). */

import { sum } from '../answer-of-range.ts';
import { daily, levels } from '../charts.ts';
import { defineResource } from '../define.ts';
import { gauge } from '../families.ts';
import { milliseconds, object, percentage } from '../fields.ts';
import { eachDayOfYear } from '../queries.ts';
import { pullZones } from './pull-zone.ts';

const statistics = object({
  RequestsOptimizedChart: daily('optimized_requests', 'Requests that were optimized', {
    sum: 'TotalRequestsOptimized',
  }),
  TrafficSavedChart: daily('saved_traffic_bytes', 'Traffic that was saved', { sum: 'TotalTrafficSaved' }),
  AverageProcessingTime: gauge(
    'average_processing_time_seconds',
    'Average time to optimize a request in the UTC day so far (%s, divided by 1000)',
    milliseconds,
  ),
  AverageCompressionRatio: gauge(
    'average_compression_ratio',
    'Average compression in the UTC day so far, from 0 to 1 (%s, assuming that the API reports a percentage)',
    percentage,
  ),
  // Not shown: they tell of which days the averages are.
  AverageProcessingTimeChart: levels,
  AverageCompressionChart: levels,
  TotalRequestsOptimized: sum,
  TotalTrafficSaved: sum,
});

export const pullZoneOptimizer = defineResource({
  kind: 'pull_zone_optimizer',
  noun: 'pull zone Optimizer',
  listing: pullZones,
  feature: 'OptimizerEnabled',
  path: '/pullzone/{pullZoneId}/optimizer/statistics',
  query: eachDayOfYear,
  answer: statistics,
});
