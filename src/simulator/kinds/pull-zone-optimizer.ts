/** Bunny Optimizer, where a pull zone has it. */
import { chartOf, daysAsked, totalOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { unit } from '../random.ts';
import { ofPullZone, type PullZone, type PullZones, targetOf } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

const isOn = ({ hasOptimizer }: PullZone) => hasOptimizer;

export const pullZoneOptimizer = {
  kind: 'pull_zone_optimizer',
  ...coreApi,
  path: '/pullzone/{pullZone}/optimizer/statistics',
  traits: {
    number: 'TotalRequestsOptimized',
    charts: [
      'RequestsOptimizedChart',
      'TrafficSavedChart',
      'AverageCompressionChart',
      'AverageProcessingTimeChart',
    ],
  },
  answers: ({ pullZones }) => ofPullZone(pullZones.filter(isOn), statistics),
  section: 'pull_zone_optimizer',
  targets: ({ pullZones }) => pullZones.filter(isOn).map(targetOf),
} as const satisfies Kind<unknown, object, PullZones>;

function statistics(zone: PullZone, request: Request): unknown {
  const { seed, index } = zone;
  const days = daysAsked(request);
  const optimized = (day: number) => Math.floor(requestsOf(zone, day, request.nowMs) * 0.3);
  const saved = (day: number) => optimized(day) * Math.floor(12_000 + 9_000 * unit(seed, day, 0x8a));
  const compression = (day: number) => Math.round(30 + 40 * unit(seed, day, 0x8b));
  const processingMs = (day: number) => Math.round(20 + 120 * unit(seed, day, 0x8c));
  const average = (figureOf: (day: number) => number) => totalOf(days, figureOf) / Math.max(1, days.length);
  return {
    // Some charts are null beside full ones.
    RequestsOptimizedChart: index % 6 === 3 ? null : chartOf(days, optimized),
    AverageCompressionChart: chartOf(days, compression),
    TrafficSavedChart: chartOf(days, saved),
    AverageProcessingTimeChart: index % 6 === 3 ? null : chartOf(days, processingMs),
    TotalRequestsOptimized: totalOf(days, optimized),
    TotalTrafficSaved: totalOf(days, saved),
    AverageProcessingTime: average(processingMs),
    AverageCompressionRatio: average(compression),
  };
}
