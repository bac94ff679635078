/** Edge scripts: requests, CPU time and cost. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { entityOf, type Figure, values } from '../promql.ts';
import { ranked, rankedNow } from '../rankings.ts';
import { displayRecord, presence, type Rules } from '../rules.ts';
import { accountDashboard } from './billing.ts';

/** On a dashboard that picks accounts, of which a script does not say. */
export const script = entityOf({ ids: ['script_id'], info: 'bunnynet_edge_script_info', selection: [] });

const family = (name: string): string => `bunnynet_edge_script_${name}`;

const readable = presence(
  'edge_script',
  ['script_id'],
  'bunnynet_edge_script_up',
  'bunnynet_edge_script_monthly_cost',
);

const rules: Rules = {
  about: 'Edge scripts: cost.',
  groups: [
    {
      name: 'bunnynet-edge-script',
      interval: '2m',
      rules: [
        ...readable.records,
        displayRecord(script),
        {
          record: 'bunnynet:edge_script_monthly_cost:max',
          expr: `max by (script_id) (last_over_time(bunnynet_edge_script_monthly_cost[3m]))`,
        },
        {
          alert: 'BunnynetEdgeScriptCostLeap',
          comment: `
          A day that costs as much as the one before is no jump. The days around the start of a month, when the cost falls, are
          left out.`,
          expr: `
          bunnynet:edge_script_monthly_cost:max - last_over_time(bunnynet:edge_script_monthly_cost:max[15m] offset 1d)
          > [[ratio]] * (last_over_time(bunnynet:edge_script_monthly_cost:max[15m] offset 1d) - last_over_time(bunnynet:edge_script_monthly_cost:max[15m] offset 2d) >= 0)
          + clamp_min([[share]] * last_over_time(bunnynet:edge_script_monthly_cost:max[15m] offset 1d), [[dollars]])`,
          thresholds: { ratio: 2, share: 0.1, dollars: 5 },
          for: '30m',
          keepFiringFor: '30m',
          severity: 'warning',
          held: readable,
          named: script,
          summary: 'Cost of edge script {{ or $name $labels.script_id }} has jumped',
          description:
            'The cost of edge script {{ $labels.script_id }} this month has grown within a day by more than [[ratio]] times what it grew the day before, plus {{ humanizePercentage "[[share]]" }} of its value (at least [[dollars]] US dollars).',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  const rate = (name: string): Figure => ({ metric: family(`${name}_total`), as: 'rate' });
  const cost: Figure = { metric: family('monthly_cost') };
  const alerts = ['BunnynetEdgeScriptCostLeap'];
  return [
    row(overviewDashboard, 'Edge scripts', [
      ranked(10, script, cost, {
        link: linkTo(accountDashboard.uid, 'Open the account'),
        alerts,
        title: 'Cost of the month: the 10 dearest edge scripts',
        description:
          'In US dollars, this calendar month so far; begins anew with each month (API field TotalMonthlyCost).',
        unit: 'currencyUSD',
        span: 24,
        height: 6,
      }),
    ]),
    row(accountDashboard, 'Edge scripts', [
      ranked(15, script, cost, {
        alerts,
        title: 'Cost of the month: the 15 dearest',
        description:
          'In US dollars, this calendar month so far; begins anew with each month (API field TotalMonthlyCost).',
        unit: 'currencyUSD',
        span: 6,
      }),
      ranked(15, script, rate('requests'), {
        title: 'Requests: the 15 busiest',
        description: 'Requests a second, averaged over half an hour (API field RequestsServedChart).',
        unit: 'reqps',
        span: 6,
      }),
      ranked(15, script, rate('cpu_seconds'), {
        title: 'CPU: the 15 busiest',
        description:
          'CPU time as a share of one processor, averaged over half an hour (API field TotalCpuTimeChart).',
        unit: 'percentunit',
        span: 6,
      }),
      rankedNow(10, script, values(script, family('average_cpu_seconds')), {
        title: 'CPU time of a request: the 10 longest',
        description: 'Average of the newest UTC day (API field AverageCpuTimeChart).',
        unit: 's',
        span: 6,
      }),
    ]),
  ];
}

export const edgeScriptMonitoring: KindMonitoring = { kind: 'edge_script', panels, rules };
