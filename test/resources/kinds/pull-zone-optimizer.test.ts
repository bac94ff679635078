import { expect, it } from 'vitest';
import { pullZoneOptimizer } from '../../../src/resources/kinds/pull-zone-optimizer.ts';
import { type Body, expose } from '../expose.ts';

const nowMs = Date.UTC(2026, 7, 20, 12);
const read = (answer: Body) =>
  expose(pullZoneOptimizer, answer, { ids: { pull_zone_id: '90210' }, context: { nowMs } });

it('shows what was optimized and saved, and the averages in seconds and as a ratio', async () => {
  const { rows, asked } = await read(`{
    "RequestsOptimizedChart": { "2026-08-20T00:00:00Z": 400 },
    "AverageCompressionChart": { "2026-08-20T00:00:00Z": 47 },
    "TrafficSavedChart": { "2026-08-20T00:00:00Z": 123456 },
    "AverageProcessingTimeChart": { "2026-08-20T00:00:00Z": 81 },
    "TotalRequestsOptimized": 400.0,
    "TotalTrafficSaved": 123456.0,
    "AverageProcessingTime": 81.5,
    "AverageCompressionRatio": 47.3
  }`);
  expect(asked).toEqual(['/pullzone/90210/optimizer/statistics?dateFrom=2026-08-20&dateTo=2026-08-20']);
  expect(rows).toBe(`\
bunnynet_pull_zone_optimizer_optimized_requests_latest_day{pull_zone_id="90210"} 400
bunnynet_pull_zone_optimizer_optimized_requests_total{pull_zone_id="90210"} 0
bunnynet_pull_zone_optimizer_saved_traffic_bytes_latest_day{pull_zone_id="90210"} 123456
bunnynet_pull_zone_optimizer_saved_traffic_bytes_total{pull_zone_id="90210"} 0
bunnynet_pull_zone_optimizer_average_processing_time_seconds{pull_zone_id="90210"} 0.0815
bunnynet_pull_zone_optimizer_average_compression_ratio{pull_zone_id="90210"} 0.473
`);
});
