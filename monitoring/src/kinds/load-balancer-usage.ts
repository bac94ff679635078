/** What load balancers were used for this month, of what their fee includes. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { anywhere, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { loadBalancerEntity } from './load-balancer.ts';
import { cdnDashboard } from './pull-zone.ts';

const family = (name: string): string => `bunnynet_load_balancer_usage_${name}`;
const field = (name: string): string => values(anywhere(loadBalancerEntity), family(name));

export const loadBalancerUsage: KindMonitoring = {
  kind: 'load_balancer_usage',
  rows: [
    row(cdnDashboard, 'Load balancers', [
      grid('Load balancers this month', 'short', 24, {
        description:
          'Requests of this calendar month, and what the monthly fee in US dollars includes (API fields CurrentRequests, IncludedRequests, MonthlyFee, ResetsAt).',
        height: 6,
        entity: loadBalancerEntity,
        rows: `topk(100, ${values(loadBalancerEntity, family('requests'))})`,
        columns: [
          { title: 'Requests', expr: field('requests') },
          { title: 'Included', expr: field('included_requests') },
          { title: 'Fee', expr: field('monthly_fee_dollars'), unit: 'currencyUSD' },
          { title: 'Resets in', expr: `${field('resets_timestamp_seconds')} - time()`, unit: 's' },
        ],
      }),
    ]),
  ],
};
