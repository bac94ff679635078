import { expect, it } from 'vitest';
import { loadBalancerUsage } from '../../../src/resources/kinds/load-balancer-usage.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(loadBalancerUsage, answer, { ids: { load_balancer_id: '5101' } });

it('shows the requests of the month and what the fee includes', async () => {
  const { rows, asked } = await read({
    LoadBalancerId: 5101,
    CurrentRequests: 1_234_567,
    IncludedRequests: 10_000_000,
    MonthlyFee: 20.5,
    PeriodStart: '2026-08-01T00:00:00Z',
    PeriodEnd: '2026-09-01T00:00:00Z',
    ResetsAt: '2026-09-01T00:00:00',
    Tiers: [{ ThresholdFromMillions: 10, ThresholdToMillions: null, PricePerMillion: 0.5 }],
  });
  expect(asked).toEqual(['/loadbalancer/5101/usage']);
  expect(
    rows.replaceAll('{load_balancer_id="5101"}', '').replaceAll('bunnynet_load_balancer_usage_', ''),
  ).toBe(`\
requests 1234567
included_requests 10000000
monthly_fee_dollars 20.5
resets_timestamp_seconds 1788220800
`);
});
