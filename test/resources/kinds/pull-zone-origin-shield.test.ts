import { expect, it } from 'vitest';
import { pullZoneOriginShield } from '../../../src/resources/kinds/pull-zone-origin-shield.ts';
import { type Body, expose } from '../expose.ts';

const nowMs = Date.UTC(2026, 7, 20, 0, 1);
const read = (answer: Body) =>
  expose(pullZoneOriginShield, answer, {
    ids: { pull_zone_id: '90210' },
    context: { nowMs, caughtUpMs: nowMs - 300_000 },
  });

it('shows the queue of today, and requests no other day', async () => {
  const { rows, asked } = await read(`{
    "ConcurrentRequestsChart": { "2026-08-20T00:00:00Z": 14 },
    "QueuedRequestsChart": { "2026-08-20T00:00:00Z": 0 }
  }`);
  expect(asked).toEqual([
    '/pullzone/90210/originshield/queuestatistics?dateFrom=2026-08-20&dateTo=2026-08-20',
  ]);
  expect(rows).toBe(`\
bunnynet_pull_zone_origin_shield_concurrent_requests{pull_zone_id="90210"} 14
bunnynet_pull_zone_origin_shield_queued_requests{pull_zone_id="90210"} 0
`);
});
