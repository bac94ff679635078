import { expect, it } from 'vitest';
import { shieldOverage } from '../../../src/resources/kinds/shield-overage.ts';
import { type Body, expose } from '../expose.ts';

const context = { nowMs: Date.parse('2026-11-20T10:00:00Z') };
const read = (answer: Body) => expose(shieldOverage, answer, { ids: { shield_zone_id: '501' }, context });

it("shows the overage of the calendar month, and the sum of the plans' allowances", async () => {
  const { rows, asked } = await read(`{
    "shieldZoneId": 501,
    "year": 2026,
    "month": 11,
    "totalOverage": 1200,
    "totalCleanRequests": 501200,
    "segments": [
      { "periodStart": "2026-11-01T00:00:00Z", "planType": 0, "overageAllowance": 5000, "overage": 1200 },
      { "periodStart": "2026-11-12T00:00:00Z", "planType": 1, "overageAllowance": 45000, "overage": 0 }
    ],
    "error": null
  }`);
  expect(asked).toEqual(['/shield/metrics/overages/501?year=2026&month=11']);
  expect(rows).toBe(`\
bunnynet_shield_overage_monthly_overage_requests{shield_zone_id="501"} 1200
bunnynet_shield_overage_monthly_overage_allowance_requests{shield_zone_id="501"} 50000
bunnynet_shield_overage_monthly_clean_requests{shield_zone_id="501"} 501200
`);
});

it('is also read from inside data, like other figures of a zone', async () => {
  const { rows } = await read({ data: { totalOverage: 7 } });
  expect(rows).toBe('bunnynet_shield_overage_monthly_overage_requests{shield_zone_id="501"} 7\n');
});
