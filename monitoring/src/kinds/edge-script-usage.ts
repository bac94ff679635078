/** What edge scripts used this month, according to their listing. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines } from '../panels.ts';
import { costGrowth, costLeap, peaks, top, values } from '../promql.ts';
import { accountDashboard } from './billing.ts';
import { script } from './edge-script.ts';

const family = (name: string): string => `bunnynet_edge_script_usage_${name}`;
const maxCost = 'bunnynet:edge_script_usage_monthly_cost_dollars:max';

export const edgeScriptUsage: KindMonitoring = {
  kind: 'edge_script_usage',
  rules: {
    about: 'Edge scripts: cost.',
    reading: family('monthly_cost_dollars'),
    names: script,
    records: [
      {
        record: maxCost,
        expr: `max by (script_id) (last_over_time(bunnynet_edge_script_usage_monthly_cost_dollars[3m:1m]))`,
      },
      costGrowth(maxCost),
    ],
    alerts: {
      BunnynetEdgeScriptCostLeap: {
        comment: 'A day that costs as much as the one before is no jump.',
        expr: costLeap(maxCost),
        thresholds: { ratio: 2, share: 0.1, dollars: 5 },
        for: '30m',
        keepFiringFor: '30m',
        summary: 'Cost of edge script {{ or $name $labels.script_id }} has jumped',
        description:
          'The cost of edge script {{ $labels.script_id }} this month has grown within a day by more than [[ratio]] × what it grew the day before, plus {{ humanizePercentage "[[share]]" }} of its value (at least USD [[dollars]]).',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Edge scripts', [
      lines('Most expensive edge scripts this month (top 10)', 'currencyUSD', 24, {
        description:
          'In US dollars, this calendar month so far; starts again each month (API field MonthlyCost).',
        height: 6,
        queries: peaks(10, script, family('monthly_cost_dollars')),
        link: script.link,
        alerts: ['BunnynetEdgeScriptCostLeap'],
      }),
    ]),
    row(accountDashboard, 'Edge scripts', [
      lines('Requests this month (top 10)', 'short', 8, {
        description:
          'Requests of this calendar month; starts again each month (API field MonthlyRequestCount).',
        queries: peaks(10, script, 'bunnynet_edge_script_usage_monthly_requests'),
      }),
      lines('CPU time this month (top 10)', 's', 8, {
        description:
          'CPU time of this calendar month; starts again each month (API field MonthlyCpuTime, milliseconds).',
        queries: peaks(10, script, 'bunnynet_edge_script_usage_monthly_cpu_seconds'),
      }),
      bars('Time since last modified (top 10)', 's', 8, {
        description: 'Time since a script was last modified (API field LastModified).',
        queries: top(10, script, `time() - ${values(script, family('last_modified_timestamp_seconds'))}`),
      }),
      lines('Most expensive edge scripts this month (top 15)', 'currencyUSD', 24, {
        description:
          'In US dollars, this calendar month so far; starts again each month (API field MonthlyCost).',
        queries: peaks(15, script, family('monthly_cost_dollars')),
        alerts: ['BunnynetEdgeScriptCostLeap'],
      }),
    ]),
  ],
};
