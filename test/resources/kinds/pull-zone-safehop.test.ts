import { expect, it } from 'vitest';
import { pullZoneSafehop } from '../../../src/resources/kinds/pull-zone-safehop.ts';
import { type Body, expose } from '../expose.ts';

const nowMs = Date.UTC(2026, 7, 20, 12);
const read = (answer: Body) =>
  expose(pullZoneSafehop, answer, { ids: { pull_zone_id: '90210' }, context: { nowMs } });

it('shows retried and saved requests', async () => {
  const { rows, asked } = await read(`{
    "RequestsRetriedChart": { "2026-08-20T00:00:00Z": 40 },
    "RequestsSavedChart": { "2026-08-20T00:00:00Z": 32 },
    "TotalRequestsRetried": 40.0,
    "TotalRequestsSaved": 32.0
  }`);
  expect(asked).toEqual(['/pullzone/90210/safehop/statistics?dateFrom=2026-08-20&dateTo=2026-08-20']);
  expect(rows).toBe(`\
bunnynet_pull_zone_safehop_retried_requests_latest_day{pull_zone_id="90210"} 40
bunnynet_pull_zone_safehop_retried_requests_total{pull_zone_id="90210"} 0
bunnynet_pull_zone_safehop_saved_requests_latest_day{pull_zone_id="90210"} 32
bunnynet_pull_zone_safehop_saved_requests_total{pull_zone_id="90210"} 0
`);
});
