/** Requests of the month beyond what the plan of a zone includes. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { values } from '../promql.ts';
import { ranked } from '../rankings.ts';
import { shieldDashboard, zone } from './shield-zone.ts';

function panels(): readonly Row[] {
  const month = (name: string): string => values(zone, `bunnynet_shield_overage_monthly_${name}`);
  return [
    row(shieldDashboard, 'The month', [
      ranked(15, zone, month('clean_requests'), {
        title: 'Clean requests: the 15 busiest zones',
        description:
          'This calendar month so far; begins anew with each month (API field totalCleanRequests).',
        unit: 'short',
        span: 8,
      }),
      ranked(15, zone, month('overage_requests'), {
        title: 'Beyond the plan: the 15 zones with the most',
        description:
          'Requests beyond what the plan includes, this calendar month so far; begins anew with each month (API field totalOverage).',
        unit: 'short',
        span: 8,
      }),
      ranked(15, zone, `${month('overage_requests')} / (${month('overage_allowance_requests')} > 0)`, {
        title: 'Beyond the plan, of what is tolerated: the 15 worst zones',
        description:
          'Requests beyond the plan, to those that are tolerated in this calendar month (API fields totalOverage and segments, overageAllowance).',
        unit: 'percentunit',
        span: 8,
        steps: ['green', [1, 'red']],
      }),
    ]),
  ];
}

export const shieldOverageMonitoring: KindMonitoring = { kind: 'shield_overage', panels };
