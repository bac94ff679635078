/** Load balancers: whether a pull zone uses them, and which of their origins are enabled. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { anywhere, entityOf, hundred, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { cdnDashboard } from './pull-zone.ts';

/** The dashboard shows all of them: there is no variable for one. */
export const loadBalancerEntity = entityOf({
  ids: ['load_balancer_id'],
  noun: 'load balancer',
  picks: {},
  info: 'bunnynet_load_balancer_info',
  dashboard: 'bunnynet-cdn',
});

const attached = 'bunnynet_load_balancer_attached_pull_zones';
const enabled = values(anywhere(loadBalancerEntity), 'bunnynet_load_balancer_origin_enabled', ['origin_id']);

export const loadBalancer: KindMonitoring = {
  kind: 'load_balancer',
  rules: {
    about: 'Load balancers: those that no pull zone uses.',
    reading: attached,
    names: loadBalancerEntity,
    alerts: {
      BunnynetLoadBalancerUnused: {
        comment: 'A load balancer that was not there a week ago may be about to be used.',
        expr: `
          max by (load_balancer_id) (last_over_time(${attached}[3m:1m])) == 0
          and max by (load_balancer_id) (max_over_time(${attached}[7d])) == 0
          and max by (load_balancer_id) (last_over_time(${attached}[1d] offset 7d))`,
        for: '1h',
        severity: 'info',
        summary: 'Load balancer {{ or $name $labels.load_balancer_id }} is not used',
        description:
          'No pull zone has used load balancer {{ $labels.load_balancer_id }} for a week. It costs 9.50 dollars a month.',
      },
    },
  },
  rows: [
    row(cdnDashboard, 'Load balancers', [
      grid('Load balancers', 'short', 24, {
        description:
          'Pull zones that use each load balancer (API field AttachedPullZoneCount), and its origins that are enabled and disabled (API field OriginGroups). An alert fires where there was no pull zone for a week.',
        height: 6,
        entity: loadBalancerEntity,
        rows: hundred(loadBalancerEntity, 'bunnynet_load_balancer_(up|attached_pull_zones)'),
        columns: [
          {
            title: 'Pull zones',
            expr: values(anywhere(loadBalancerEntity), attached),
            steps: ['orange', [1, 'text']],
          },
          { title: 'Origins', expr: `sum by (load_balancer_id) (${enabled})` },
          { title: 'Disabled', expr: `sum by (load_balancer_id) (1 - ${enabled})` },
        ],
        alerts: ['BunnynetLoadBalancerUnused'],
      }),
    ]),
  ],
};
