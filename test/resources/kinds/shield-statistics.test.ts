import { expect, it } from 'vitest';
import { shieldStatistics } from '../../../src/resources/kinds/shield-statistics.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) =>
  expose(shieldStatistics, answer, {
    ids: { shield_zone_id: '7' },
    context: { nowMs: Date.parse('2026-08-20T12:00:00Z') },
  });

const day = '2026-08-20T00:00:00Z';

it('counts what each protection did, by action and day', async () => {
  const { rows, asked } = await read({
    data: {
      waf: { metrics: { [day]: { Blocked: 12, Logged: 30 } }, totals: { Blocked: 12, Logged: 30 } },
      rateLimit: { metrics: { [day]: { Challenged: 4 } } },
      uploadScanning: { metrics: null, totals: null },
      totalCleanRequestsLimit: 500_000,
    },
    error: null,
  });
  expect(asked).toEqual([
    '/shield/metrics/overview/7/detailed?StartDate=2026-08-19T00:00:00Z&EndDate=2026-08-20T23:59:59Z&Resolution=4',
  ]);
  expect(rows.replaceAll('bunnynet_shield_requests_', '').replaceAll('shield_zone_id="7"', 'zone')).toBe(`\
latest_day{zone,protection="waf",action="blocked"} 12
latest_day{zone,protection="waf",action="logged"} 30
latest_day{zone,protection="rate_limit",action="challenged"} 4
total{zone,protection="waf",action="logged"} 0
total{zone,protection="waf",action="blocked"} 0
total{zone,protection="rate_limit",action="challenged"} 0
total{zone,protection="other",action="other"} 0
latest_day_timestamp_seconds{zone} 1787184000
`);
});
