import { expect, it } from 'vitest';
import { reply, startWhole } from './whole.ts';

const day = '2026-08-15T00:00:00Z';

it('a listing that fails keeps what it found, and the counters of that go on', async () => {
  let served = 10;
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' }, pull_zone_statistics: { targets: 'all' } },
    routes: {
      '/pullzone': () => ({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
      '/statistics': () => ({ RequestsServedChart: { [day]: served } }),
    },
  });
  const requests = () => whole.value('bunnynet_pull_zone_statistics_requests_total', { pull_zone_id: '7' });
  await whole.poll();
  served = 15;
  await whole.poll();
  expect(await requests()).toBe(5);

  whole.routes['/pullzone'] = () => reply(500);
  served = 22;
  await whole.poll();
  expect(await whole.value('bunnynet_exporter_discovery_up', { kind: 'pull_zone' })).toBe(0);
  expect(await requests()).toBe(12);
  expect(whole.said('poll failed: HTTP 500')).toEqual([expect.objectContaining({ result: 'server_error' })]);
});
