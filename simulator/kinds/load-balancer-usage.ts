/** The requests that load balancers served this month, and their prices (`/loadbalancer/{id}/usage`). */
import { ofEach } from '../answers.ts';
import { monthSoFar, monthStartMs, secondOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { LoadBalancer } from './load-balancer.ts';
import { balancedOf } from './load-balancer-statistics.ts';

export const loadBalancerUsage = {
  kind: 'load_balancer_usage',
  section: 'load_balancer_usage',
  ...coreApi,
  path: '/loadbalancer/{loadBalancer}/usage',
  traits: { integer: 'CurrentRequests', instants: true },
  ...ofEach('loadBalancers', usage),
} as const satisfies Kind;

function usage(one: LoadBalancer, { nowMs }: Request) {
  const now = new Date(nowMs);
  const nextMonth = secondOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  return ok({
    LoadBalancerId: jsonInteger(one.id),
    CurrentRequests: monthSoFar(nowMs, balancedOf(one, nowMs)),
    IncludedRequests: 10_000_000,
    MonthlyFee: one.index % 3 === 2 ? null : 20,
    PeriodStart: `${secondOf(monthStartMs(nowMs))}Z`,
    PeriodEnd: `${nextMonth}Z`,
    ResetsAt: `${nextMonth}Z`,
    Tiers: [{ ThresholdFromMillions: 10, ThresholdToMillions: null, PricePerMillion: 0.5 }],
  });
}
