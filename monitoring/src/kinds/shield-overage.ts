/** Requests of the month beyond what the plan of a zone includes. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { share } from '../promql.ts';
import { ranked, rankedNow } from '../rankings.ts';
import { shieldDashboard, toZone, zone } from './shield-zone.ts';

const month = (name: string): string => `bunnynet_shield_overage_monthly_${name}`;

function panels(): readonly Row[] {
  return [
    row(shieldDashboard, 'The month', [
      ranked(
        15,
        zone,
        { metric: month('clean_requests') },
        {
          title: 'Clean requests: the 15 busiest zones',
          description:
            'This calendar month so far; begins anew with each month (API field totalCleanRequests).',
          unit: 'short',
          span: 8,
        },
      ),
      ranked(
        15,
        zone,
        { metric: month('overage_requests') },
        {
          title: 'Beyond the plan: the 15 zones with the most',
          description:
            'Requests beyond what the plan includes, this calendar month so far; begins anew with each month (API field totalOverage).',
          unit: 'short',
          span: 8,
        },
      ),
      rankedNow(10, zone, share(zone, month('overage_requests'), month('overage_allowance_requests')), {
        title: 'Beyond the plan, of what is tolerated',
        description:
          'Requests beyond the plan, to those that are tolerated in this calendar month, of the 10 worst zones (API fields totalOverage and segments, overageAllowance).',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [0.8, 'orange'], [1, 'red']],
        link: toZone,
        nothing: 'No zone is tolerated any.',
      }),
    ]),
  ];
}

export const shieldOverageMonitoring: KindMonitoring = { kind: 'shield_overage', panels };
