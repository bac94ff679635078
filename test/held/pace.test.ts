/** When things are requested, and how often, as the API sees it. */
import { expect, it } from 'vitest';
import { simulateAccount } from './account.ts';
import { startWhole } from './whole.ts';

it('everything of an account is read once within a minute, and then at its interval', async () => {
  const whole = await startWhole({
    ...simulateAccount({ shape: { applications: 3 } }),
    api: { max_concurrency: 8, requests_per_second: 10 },
  });
  await whole.exporter.start();
  await whole.pass(60_000);
  expect(whole.exporter.targets().filter(({ state }) => state !== 'ok')).toEqual([]);
  const planned = Object.values(await whole.series('bunnynet_exporter_planned_requests_per_second'));
  const before = whole.requests.length;
  await whole.pass(600_000);
  const later = whole.requests.slice(before).map(({ atMs }) => atMs);
  // Some polls take more than one request, and in the first rounds each moves towards its own time.
  const polls = 600 * planned.reduce((sum, rate) => sum + rate, 0);
  expect(later.length / polls).toBeGreaterThan(0.7);
  expect(later.length / polls).toBeLessThan(1.5);
});
