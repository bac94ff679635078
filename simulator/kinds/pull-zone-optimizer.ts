/** Bunny Optimizer, where a pull zone has it. */
import { ofEach } from '../answers.ts';
import { chartOf, type DayFigure, queryDays, reachOfStatistics, totalOf } from '../days.ts';
import { unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { PullZone } from './pull-zone.ts';
import { requestsOf } from './pull-zone-statistics.ts';

export const pullZoneOptimizer = {
  kind: 'pull_zone_optimizer',
  section: 'pull_zone_optimizer',
  ...coreApi,
  path: '/pullzone/{pullZone}/optimizer/statistics',
  reach: reachOfStatistics,
  traits: { number: 'TotalRequestsOptimized', charts: true },
  ...ofEach('pullZones', statistics, ({ hasOptimizer }) => hasOptimizer),
} as const satisfies Kind;

function statistics(zone: PullZone, request: Request) {
  const { seed, index } = zone;
  const days = queryDays(request);
  const served = requestsOf(zone, request.nowMs);
  const optimized = (day: number) => Math.floor(served(day) * 0.3);
  const saved = (day: number) => optimized(day) * Math.floor(12_000 + 9_000 * unit(seed, day, 0x8a));
  const compression = (day: number) => Math.round(30 + 40 * unit(seed, day, 0x8b));
  const processingMs = (day: number) => Math.round(20 + 120 * unit(seed, day, 0x8c));
  const average = (figureOf: DayFigure) => totalOf(days, figureOf) / Math.max(1, days.length);
  // Some charts are null beside full ones.
  const hasGaps = index % 6 === 3;
  return ok({
    RequestsOptimizedChart: hasGaps ? null : chartOf(days, optimized),
    AverageCompressionChart: chartOf(days, compression),
    TrafficSavedChart: chartOf(days, saved),
    AverageProcessingTimeChart: hasGaps ? null : chartOf(days, processingMs),
    TotalRequestsOptimized: totalOf(days, optimized),
    TotalTrafficSaved: totalOf(days, saved),
    AverageProcessingTime: average(processingMs),
    AverageCompressionRatio: average(compression),
  });
}
