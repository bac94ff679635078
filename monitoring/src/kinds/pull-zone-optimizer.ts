/** Bunny Optimizer: what it optimizes and saves. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars } from '../panels.ts';
import { perSecond, top, values } from '../promql.ts';
import { cdnDashboard, pullZone } from './pull-zone.ts';

const family = (name: string): string => `bunnynet_pull_zone_optimizer_${name}`;
const { link } = pullZone;
const nothing = 'No pull zone is optimized.';

export const pullZoneOptimizer: KindMonitoring = {
  kind: 'pull_zone_optimizer',
  rows: [
    row(cdnDashboard, 'Optimizer', [
      bars('Optimized requests (top 10)', 'reqps', 6, {
        description: 'Requests a second, averaged over half an hour (API field RequestsOptimizedChart).',
        queries: top(10, pullZone, perSecond(pullZone, family('optimized_requests_total'))),
        link,
        nothing,
      }),
      bars('Saved traffic (top 10)', 'Bps', 6, {
        description:
          'Bytes a second that were saved, averaged over half an hour (API field TrafficSavedChart).',
        queries: top(10, pullZone, perSecond(pullZone, family('saved_traffic_bytes_total'))),
        link,
        nothing,
      }),
      bars('Optimization time (top 10)', 's', 6, {
        description:
          'Average of the UTC day so far; starts again at midnight (API field AverageProcessingTime).',
        queries: top(10, pullZone, values(pullZone, family('average_processing_time_seconds'))),
        link,
        nothing,
      }),
      bars('Compression ratio (top 10)', 'percentunit', 6, {
        description:
          'Average of the UTC day so far; starts again at midnight (API field AverageCompressionRatio).',
        queries: top(10, pullZone, values(pullZone, family('average_compression_ratio'))),
        link,
        nothing,
      }),
    ]),
  ],
};
