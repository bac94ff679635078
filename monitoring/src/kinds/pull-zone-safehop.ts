/** SafeHop: requests to the origin that were tried again, and those that it saved. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { ranked } from '../rankings.ts';
import { cdnDashboard, pullZone } from './pull-zone.ts';

function panels(): readonly Row[] {
  const gained = (name: string) => ({
    metric: `bunnynet_pull_zone_safehop_${name}_total`,
    as: 'hourly' as const,
  });
  return [
    row(cdnDashboard, 'Origin Shield and SafeHop', [
      ranked(10, pullZone, gained('retried_requests'), {
        title: 'Tried again in the past hour: the 10 most',
        description: 'Requests within an hour (API field RequestsRetriedChart).',
        unit: 'short',
        span: 6,
        nothing: 'No pull zone has SafeHop.',
      }),
      ranked(10, pullZone, gained('saved_requests'), {
        title: 'Saved in the past hour: the 10 most',
        description:
          'Requests within an hour that succeeded at a further try (API field RequestsSavedChart).',
        unit: 'short',
        span: 6,
        nothing: 'No pull zone has SafeHop.',
      }),
    ]),
  ];
}

export const pullZoneSafehopMonitoring: KindMonitoring = { kind: 'pull_zone_safehop', panels };
