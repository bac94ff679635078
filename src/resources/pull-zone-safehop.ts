/** What SafeHop has done for one pull zone, by days (`/pullzone/{id}/safehop/statistics`). */
import { chart, dailyFamiliesOf, readCharts, readDays } from './daily.ts';
import { object } from './fields.ts';
import { pullZoneIds, pullZones } from './pull-zone.ts';
import { type DayFigure, defineResource } from './resource.ts';

const statistics = object({ RequestsRetriedChart: chart, RequestsSavedChart: chart });
const charts = ['RequestsRetriedChart', 'RequestsSavedChart'] as const;

export type PullZoneSafehopReading = Readonly<
  Record<(typeof charts)[number], readonly DayFigure[] | undefined>
>;

const { daily } = dailyFamiliesOf<PullZoneSafehopReading>('bunnynet_pull_zone_safehop');

export const pullZoneSafehop = defineResource({
  kind: 'pull_zone_safehop',
  api: 'core',
  reference: 'GET /pullzone/{pullZoneId}/safehop/statistics',
  noun: "pull zone's SafeHop",
  section: 'pull_zone_safehop',
  ids: pullZoneIds,
  defaultIntervalSeconds: 600,
  fields: statistics.names,
  listing: pullZones,
  feature: 'safeHop',

  async read(get, ids, diagnostics, context): Promise<PullZoneSafehopReading> {
    const pathOf = (query: string) => `/pullzone/${ids['pull_zone_id']}/safehop/statistics?${query}`;
    return readCharts(charts, await readDays(statistics, pathOf, get, diagnostics, context), diagnostics);
  },

  families: [
    ...daily(
      'retried_requests',
      'Requests to the origin that were tried again',
      'RequestsRetriedChart',
      ({ RequestsRetriedChart: days }) => days,
    ),
    ...daily(
      'saved_requests',
      'Requests that succeeded at a further try',
      'RequestsSavedChart',
      ({ RequestsSavedChart: days }) => days,
    ),
  ],
});
