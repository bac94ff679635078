import { expect, it } from 'vitest';
import { shieldOverage } from '../../src/resources/shield-overage.ts';
import { type Body, expose } from './expose.ts';

const read = (answer: Body) => expose(shieldOverage, answer, { ids: { shield_zone_id: '501' } });

it('shows the month of a zone', async () => {
  const { rows, asked } = await read(`{
    "shieldZoneId": 501, "year": 2026, "month": 8, "totalOverage": 1200, "totalCleanRequests": 501200,
    "segments": [{ "planType": 1, "overageAllowance": 3000, "overage": 1200 }, { "overageAllowance": 500 }],
    "error": { "statusCode": 0, "success": false, "message": null, "errorKey": null }
  }`);
  expect(asked).toEqual(['/shield/metrics/overages/501']);
  expect(rows).toBe(`\
bunnynet_shield_overage_requests{shield_zone_id="501"} 1200
bunnynet_shield_overage_allowance_requests{shield_zone_id="501"} 3500
bunnynet_shield_overage_clean_requests{shield_zone_id="501"} 501200
`);
});

it('leaves out what is null, missing or of the wrong type, and an allowance that is not known in full', async () => {
  const { rows, mismatched } = await read(
    '{ "totalOverage": null, "totalCleanRequests": "5", "segments": [{ "overageAllowance": 1 }, {}] }',
  );
  expect([rows, mismatched]).toEqual(['', ['totalCleanRequests']]);
});

it('rejects with the words of an error beside which there is nothing', async () => {
  await expect(
    read('{ "error": { "success": false, "message": "busy", "errorKey": null } }'),
  ).rejects.toMatchObject({ result: 'rejected', message: 'busy' });
});
