import { expect, it } from 'vitest';
import { applicationStatistics } from '../../../src/resources/kinds/application-statistics.ts';
import { expose } from '../expose.ts';

it('counts the traffic by day, in the unit of the API', async () => {
  const { rows, asked } = await expose(
    applicationStatistics,
    { trafficChart: { '2026-08-19T00:00:00Z': 70.5, '2026-08-20T00:00:00Z': 12.25 }, latencyChart: {} },
    {
      ids: { app_id: 'HbqFNk0' },
      context: {
        nowMs: Date.parse('2026-08-20T00:05:00Z'),
        caughtUpMs: Date.parse('2026-08-19T23:55:00Z'),
      },
    },
  );
  expect(asked).toEqual([
    '/apps/HbqFNk0/statistics?fromDate=2026-08-19T00:00:00Z&toDate=2026-08-20T23:59:59Z&granularity=Daily',
  ]);
  expect(rows).toBe(`\
bunnynet_application_traffic_latest_day{app_id="HbqFNk0"} 12.25
bunnynet_application_traffic_total{app_id="HbqFNk0"} 0
bunnynet_application_traffic_latest_day_timestamp_seconds{app_id="HbqFNk0"} 1787184000
`);
});
