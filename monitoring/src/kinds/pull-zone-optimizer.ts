/** Bunny Optimizer: what it optimizes and saves. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { perSecond, values } from '../promql.ts';
import { rankedNow } from '../rankings.ts';
import { cdnDashboard, pullZone, toPullZone } from './pull-zone.ts';

function panels(): readonly Row[] {
  const family = (name: string): string => `bunnynet_pull_zone_optimizer_${name}`;
  const figure = (name: string): string => values(pullZone, family(name));
  const rate = (name: string): string => perSecond(pullZone, family(`${name}_total`));
  return [
    row(cdnDashboard, 'Optimizer', [
      rankedNow(10, pullZone, rate('optimized_requests'), {
        link: toPullZone,
        title: 'Optimized requests: the 10 busiest',
        description: 'Requests a second, averaged over half an hour (API field RequestsOptimizedChart).',
        unit: 'reqps',
        span: 6,
        nothing: 'No pull zone is optimized.',
      }),
      rankedNow(10, pullZone, rate('saved_traffic_bytes'), {
        link: toPullZone,
        title: 'Saved traffic: the 10 largest',
        description:
          'Bytes a second that were saved, averaged over half an hour (API field TrafficSavedChart).',
        unit: 'Bps',
        span: 6,
        nothing: 'No pull zone is optimized.',
      }),
      rankedNow(10, pullZone, figure('average_processing_time_seconds'), {
        link: toPullZone,
        title: 'Time to optimize: the 10 slowest',
        description:
          'Average of the UTC day so far; begins anew at midnight (API field AverageProcessingTime).',
        unit: 's',
        span: 6,
        nothing: 'No pull zone is optimized.',
      }),
      rankedNow(10, pullZone, figure('average_compression_ratio'), {
        link: toPullZone,
        title: 'Compression: the 10 highest',
        description:
          'Average of the UTC day so far; begins anew at midnight (API field AverageCompressionRatio).',
        unit: 'percentunit',
        span: 6,
        nothing: 'No pull zone is optimized.',
      }),
    ]),
  ];
}

export const pullZoneOptimizerMonitoring: KindMonitoring = { kind: 'pull_zone_optimizer', panels };
