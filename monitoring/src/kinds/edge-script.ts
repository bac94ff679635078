/** Edge scripts: requests and CPU time. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { bars, lines } from '../panels.ts';
import { entityOf, peaks, perSecond, top, values } from '../promql.ts';
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

export const edgeScript: KindMonitoring = {
  kind: 'edge_script',
  rows: [
    row(accountDashboard, 'Edge scripts', [
      lines('Requests (top 15)', 'reqps', 8, {
        description: 'Requests a second, averaged over half an hour (API field RequestsServedChart).',
        queries: peaks(15, script, family('requests_total'), perSecond),
      }),
      lines('CPU (top 15)', 'percentunit', 8, {
        description:
          'CPU time as a share of one processor, averaged over half an hour (API field TotalCpuTimeChart).',
        queries: peaks(15, script, family('cpu_seconds_total'), perSecond),
      }),
      bars('CPU time per request (top 10)', 's', 8, {
        description: 'Average of the newest UTC day (API field AverageCpuTimeChart).',
        queries: top(10, script, values(script, family('average_cpu_seconds'))),
      }),
    ]),
  ],
};
