/** What a load balancer was used for this month, and what that includes (`/loadbalancer/{id}/usage`). */
import { defineResource } from '../define.ts';
import { count, gauge, timestamp } from '../families.ts';
import { object } from '../fields.ts';
import { loadBalancers } from './load-balancer.ts';

export const loadBalancerUsage = defineResource({
  kind: 'load_balancer_usage',
  noun: 'load balancer usage',
  defaultIntervalSeconds: 3600,
  listing: loadBalancers,
  path: '/loadbalancer/{id}/usage',
  answer: object({
    CurrentRequests: count('requests', 'Requests of this calendar month; falls back at its end'),
    IncludedRequests: count('included_requests', 'Requests of a month that the fee includes'),
    MonthlyFee: gauge('monthly_fee_dollars', 'Fee of a month in US dollars'),
    ResetsAt: timestamp('resets_timestamp_seconds', 'When the count of requests begins anew'),
  }).ignoring(
    'LoadBalancerId PeriodStart PeriodEnd Tiers[ThresholdFromMillions ThresholdToMillions PricePerMillion]',
  ),
});
