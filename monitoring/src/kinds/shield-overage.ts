/** Requests of the month beyond what the plan of a zone includes. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { peaks, share, top } from '../promql.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

const month = (name: string): string => `bunnynet_shield_overage_monthly_${name}`;

export const shieldOverage: KindMonitoring = {
  kind: 'shield_overage',
  rows: [
    row(shieldDashboard, 'This month', [
      lines('Clean requests (top 15)', 'short', 8, {
        description: 'This calendar month so far; starts again each month (API field totalCleanRequests).',
        queries: peaks(15, zone, month('clean_requests')),
      }),
      lines('Requests over the plan (top 15)', 'short', 8, {
        description:
          'Requests beyond what the plan includes, this calendar month so far; starts again each month (API field totalOverage).',
        queries: peaks(15, zone, month('overage_requests')),
      }),
      bars('Overage allowance used (top 10)', 'percentunit', 8, {
        description:
          'Requests beyond the plan, as a share of those that are tolerated in this calendar month, for the 10 worst zones (API fields totalOverage and segments, overageAllowance).',
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        queries: top(10, zone, share(zone, month('overage_requests'), month('overage_allowance_requests'))),
        link: zone.link,
        nothing: 'No zone has an overage allowance.',
      }),
    ]),
  ],
};
