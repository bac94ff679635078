/** What edge scripts used this month, as their listing has it. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { ranked } from '../rankings.ts';
import { accountDashboard } from './billing.ts';
import { script } from './edge-script.ts';

const family = (name: string): string => `bunnynet_edge_script_usage_${name}`;

function panels(): readonly Row[] {
  return [
    row(accountDashboard, 'Edge scripts', [
      ranked(
        10,
        script,
        { metric: family('monthly_requests') },
        {
          title: 'Requests of the month: the 10 busiest',
          description:
            'Requests of this calendar month; begins anew with each month (API field MonthlyRequestCount).',
          unit: 'short',
          span: 8,
        },
      ),
      ranked(
        10,
        script,
        { metric: family('monthly_cpu_time') },
        {
          title: 'CPU time of the month: the 10 busiest',
          description:
            'CPU time of this calendar month in the unit of the API, which is not documented; begins anew with each month (API field MonthlyCpuTime).',
          unit: 'short',
          span: 8,
        },
      ),
      ranked(
        10,
        script,
        { metric: family('monthly_cost') },
        {
          title: 'Cost of the month in the list: the 10 dearest',
          description:
            'In US dollars, this calendar month so far; begins anew with each month (API field MonthlyCost).',
          unit: 'currencyUSD',
          span: 8,
        },
      ),
    ]),
  ];
}

export const edgeScriptUsageMonitoring: KindMonitoring = { kind: 'edge_script_usage', panels };
