/** The queue before the origin of one pull zone with Origin Shield (`/pullzone/{id}/originshield/queuestatistics`). */

import { familiesOf } from './by-hand.ts';
import { chart, newestFigures, readCharts, readDays } from './daily.ts';
import { object } from './fields.ts';
import { pullZoneIds, pullZones } from './pull-zone.ts';
import { type DayFigure, defineResource } from './resource.ts';

const statistics = object({ ConcurrentRequestsChart: chart, QueuedRequestsChart: chart });
const charts = ['ConcurrentRequestsChart', 'QueuedRequestsChart'] as const;

export type PullZoneOriginShieldReading = Readonly<
  Record<(typeof charts)[number], readonly DayFigure[] | undefined>
>;

const { gauge } = familiesOf<PullZoneOriginShieldReading>('bunnynet_pull_zone_origin_shield');

/** A length, no count: there is nothing to add up. */
function level(name: string, field: (typeof charts)[number], words: string) {
  return gauge(name, `${words}, as of the UTC day so far (API field ${field}).`, ({ [field]: days }) =>
    newestFigures([{ days: days ?? [] }]),
  );
}

export const pullZoneOriginShield = defineResource({
  kind: 'pull_zone_origin_shield',
  api: 'core',
  reference: 'GET /pullzone/{pullZoneId}/originshield/queuestatistics',
  noun: "pull zone's Origin Shield",
  section: 'pull_zone_origin_shield',
  ids: pullZoneIds,
  defaultIntervalSeconds: 600,
  fields: statistics.names,
  listing: pullZones,
  feature: 'originShield',

  async read(get, ids, diagnostics, { nowMs }): Promise<PullZoneOriginShieldReading> {
    const pathOf = (query: string) =>
      `/pullzone/${ids['pull_zone_id']}/originshield/queuestatistics?${query}`;
    // Without counters no day has to be closed: today alone is of interest.
    const answers = await readDays(statistics, pathOf, get, diagnostics, { nowMs });
    return readCharts(charts, answers, diagnostics);
  },

  families: [
    level('concurrent_requests', 'ConcurrentRequestsChart', 'Requests to the origin at the same time'),
    level('queued_requests', 'QueuedRequestsChart', 'Requests that wait for the origin'),
  ],
});
