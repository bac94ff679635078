/** What edge scripts used this month, according to their listing. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { lines } from '../panels.ts';
import { peaks } from '../promql.ts';
import { accountDashboard } from './billing.ts';
import { script } from './edge-script.ts';

export const edgeScriptUsage: KindMonitoring = {
  kind: 'edge_script_usage',
  rows: [
    row(accountDashboard, 'Edge scripts', [
      lines('Requests of the month: the 10 busiest', 'short', 8, {
        description:
          'Requests of this calendar month; starts again each month (API field MonthlyRequestCount).',
        queries: peaks(10, script, 'bunnynet_edge_script_usage_monthly_requests'),
      }),
      lines('CPU time of the month: the 10 busiest', 'short', 8, {
        description:
          'CPU time of this calendar month in the unit of the API, which is not documented; starts again each month (API field MonthlyCpuTime).',
        queries: peaks(10, script, 'bunnynet_edge_script_usage_monthly_cpu_time'),
      }),
      lines('Cost of the month in the list: the 10 dearest', 'currencyUSD', 8, {
        description:
          'In US dollars, this calendar month so far; starts again each month (API field MonthlyCost).',
        queries: peaks(10, script, 'bunnynet_edge_script_usage_monthly_cost'),
      }),
    ]),
  ],
};
