/** What Bunny Optimizer has done for one pull zone, by days (`/pullzone/{id}/optimizer/statistics`). */
import { daily } from './daily.ts';
import { readDays } from './days.ts';
import { gauge } from './families.ts';
import { milliseconds, object, percentage } from './fields.ts';
import { pullZones } from './pull-zone.ts';
import { defineResource } from './resource.ts';

const statistics = object(
  {
    RequestsOptimizedChart: daily('optimized_requests', 'Requests that were optimized'),
    TrafficSavedChart: daily('saved_traffic_bytes', 'Traffic that was saved'),
    AverageProcessingTime: gauge(
      'average_processing_time_seconds',
      milliseconds,
      'Average time to optimize a request in the UTC day so far (%s, divided by 1000)',
    ),
    AverageCompressionRatio: gauge(
      'average_compression_ratio',
      percentage,
      'Average compression in the UTC day so far, from 0 to 1 (%s, taken for a percentage)',
    ),
  },
  'AverageCompressionChart',
  'AverageProcessingTimeChart',
  'TotalRequestsOptimized',
  'TotalTrafficSaved',
);

export const pullZoneOptimizer = defineResource({
  kind: 'pull_zone_optimizer',
  product: 'CDN',
  reference: 'GET /pullzone/{pullZoneId}/optimizer/statistics',
  noun: 'optimizer of the pull zone',
  defaultIntervalSeconds: 600,
  listing: pullZones,
  feature: 'optimizer',
  answer: statistics,
  read: readDays(
    statistics,
    ({ pull_zone_id }, days) => `/pullzone/${pull_zone_id}/optimizer/statistics?${days}`,
  ),
});
