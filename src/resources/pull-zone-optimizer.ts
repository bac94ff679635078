/** What Bunny Optimizer has done for one pull zone, by days (`/pullzone/{id}/optimizer/statistics`). */

import { familiesOf } from './by-hand.ts';
import { chart, dailyFamiliesOf, readCharts, readDays } from './daily.ts';
import { number, object } from './fields.ts';
import { pullZoneIds, pullZones } from './pull-zone.ts';
import { type DayFigure, defineResource } from './resource.ts';
import { scaled } from './units.ts';

const statistics = object({
  RequestsOptimizedChart: chart,
  TrafficSavedChart: chart,
  AverageProcessingTime: number,
  AverageCompressionRatio: number,
});
const charts = ['RequestsOptimizedChart', 'TrafficSavedChart'] as const;

export interface PullZoneOptimizerReading {
  readonly days: Readonly<Record<(typeof charts)[number], readonly DayFigure[] | undefined>>;
  /** Of today. */
  readonly processingSeconds: number | undefined;
  /** Of today: from 0 to 1. */
  readonly compressionRatio: number | undefined;
}

const { gauge } = familiesOf<PullZoneOptimizerReading>('bunnynet_pull_zone_optimizer');
const { daily } = dailyFamiliesOf<PullZoneOptimizerReading>('bunnynet_pull_zone_optimizer');

export const pullZoneOptimizer = defineResource({
  kind: 'pull_zone_optimizer',
  api: 'core',
  reference: 'GET /pullzone/{pullZoneId}/optimizer/statistics',
  noun: "pull zone's optimizer",
  section: 'pull_zone_optimizer',
  ids: pullZoneIds,
  defaultIntervalSeconds: 600,
  fields: statistics.names,
  listing: pullZones,
  feature: 'optimizer',

  async read(get, ids, diagnostics, context): Promise<PullZoneOptimizerReading> {
    const pathOf = (query: string) => `/pullzone/${ids['pull_zone_id']}/optimizer/statistics?${query}`;
    const answers = await readDays(statistics, pathOf, get, diagnostics, context);
    const today = answers.at(-1)?.answer;
    return {
      days: readCharts(charts, answers, diagnostics),
      processingSeconds: scaled(today?.AverageProcessingTime, 1000),
      compressionRatio: scaled(today?.AverageCompressionRatio, 100),
    };
  },

  families: [
    ...daily(
      'optimized_requests',
      'Requests that were optimized',
      'RequestsOptimizedChart',
      ({ days }) => days.RequestsOptimizedChart,
    ),
    ...daily(
      'saved_traffic_bytes',
      'Traffic that was saved',
      'TrafficSavedChart',
      ({ days }) => days.TrafficSavedChart,
    ),
    gauge(
      'average_processing_time_seconds',
      'Average time to optimize a request in the UTC day so far (API field AverageProcessingTime, divided by 1000).',
      ({ processingSeconds }) => processingSeconds,
    ),
    gauge(
      'average_compression_ratio',
      'Average compression in the UTC day so far, from 0 to 1 (API field AverageCompressionRatio, taken for a percentage).',
      ({ compressionRatio }) => compressionRatio,
    ),
  ],
});
