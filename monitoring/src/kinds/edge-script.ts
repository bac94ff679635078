/** Edge scripts: requests, CPU time and cost. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines } from '../panels.ts';
import { costLeap, entityOf, peaks, perSecond, top, values } from '../promql.ts';
import { accountDashboard } from './billing.ts';

/** Shown on the account's dashboard, although its series do not name an account. */
export const script = entityOf({
  ids: ['script_id'],
  noun: 'account',
  picks: {},
  info: 'bunnynet_edge_script_info',
  dashboard: 'bunnynet-account',
});

const family = (name: string): string => `bunnynet_edge_script_${name}`;
const maxCost = 'bunnynet:edge_script_monthly_cost:max';

export const edgeScript: KindMonitoring = {
  kind: 'edge_script',
  rules: {
    about: 'Edge scripts: cost.',
    reading: family('monthly_cost'),
    names: script,
    records: [
      {
        record: maxCost,
        expr: `max by (script_id) (last_over_time(bunnynet_edge_script_monthly_cost[3m]))`,
      },
    ],
    alerts: {
      BunnynetEdgeScriptCostLeap: {
        comment: `
          A day that costs as much as the one before is no jump. The days around the start of a month, when the cost falls, are
          left out.`,
        expr: costLeap(maxCost),
        thresholds: { ratio: 2, share: 0.1, dollars: 5 },
        for: '30m',
        keepFiringFor: '30m',
        summary: 'Cost of edge script {{ or $name $labels.script_id }} has jumped',
        description:
          'The cost of edge script {{ $labels.script_id }} this month has grown within a day by more than [[ratio]] times what it grew the day before, plus {{ humanizePercentage "[[share]]" }} of its value (at least [[dollars]] US dollars).',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'Edge scripts', [
      lines('Cost of the month: the 10 dearest edge scripts', 'currencyUSD', 24, {
        description:
          'In US dollars, this calendar month so far; starts again each month (API field TotalMonthlyCost).',
        height: 6,
        queries: peaks(10, script, family('monthly_cost')),
        link: script.link,
        alerts: ['BunnynetEdgeScriptCostLeap'],
      }),
    ]),
    row(accountDashboard, 'Edge scripts', [
      lines('Cost of the month: the 15 dearest', 'currencyUSD', 6, {
        description:
          'In US dollars, this calendar month so far; starts again each month (API field TotalMonthlyCost).',
        queries: peaks(15, script, family('monthly_cost')),
        alerts: ['BunnynetEdgeScriptCostLeap'],
      }),
      lines('Requests: the 15 busiest', 'reqps', 6, {
        description: 'Requests a second, averaged over half an hour (API field RequestsServedChart).',
        queries: peaks(15, script, family('requests_total'), perSecond),
      }),
      lines('CPU: the 15 busiest', 'percentunit', 6, {
        description:
          'CPU time as a share of one processor, averaged over half an hour (API field TotalCpuTimeChart).',
        queries: peaks(15, script, family('cpu_seconds_total'), perSecond),
      }),
      bars('CPU time of a request: the 10 longest', 's', 6, {
        description: 'Average of the newest UTC day (API field AverageCpuTimeChart).',
        queries: top(10, script, values(script, family('average_cpu_seconds'))),
      }),
    ]),
  ],
};
