import { expect, it } from 'vitest';
import { shieldStatistics } from '../../src/resources/shield-statistics.ts';
import { type Body, expose } from './expose.ts';

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
    '/shield/metrics/overview/7/detailed?StartDate=2026-08-20T00:00:00Z&EndDate=2026-08-20T23:59:59Z&Resolution=4',
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

it('is empty, not a failure, if the plan of the zone does not include it', async () => {
  const error = { success: false, message: 'no', errorKey: 'feature_not_available_on_plan' };
  await expect(read({ data: null, error })).rejects.toMatchObject({
    errorKey: 'feature_not_available_on_plan',
  });
  const failure = { result: 'rejected', errorKey: 'feature_not_available_on_plan' };
  expect(shieldStatistics.isEmpty?.(failure)).toBe(true);
});

it('leaves out fields of the wrong type', async () => {
  const { rows, mismatched } = await read({
    data: { waf: { metrics: { someday: { Blocked: 1 }, [day]: { Blocked: 'many' } } }, ddos: 'off' },
  });
  expect(rows).toBe('bunnynet_shield_requests_latest_day_timestamp_seconds{shield_zone_id="7"} 1787184000\n');
  expect(mismatched).toEqual(['waf', 'waf', 'ddos']);
});
