/** What the log says of the first round. */
import { expect, it } from 'vitest';
import { reply, startWhole } from './whole.ts';

it('begins with what is polled and looked for, and at the level debug has each request without its key', async () => {
  const whole = await startWhole({
    document: { applications: { targets: ['a', 'b'] }, shield_zones: { targets: 'all' } },
    routes: { '*': () => reply(404) },
    logLevel: 'debug',
  });
  await whole.exporter.start();
  await whole.pass(10_000);
  expect(whole.said('looking for').map(({ msg }) => msg)).toEqual([
    'polling 2 targets of the configuration, and looking for targets in Shield',
  ]);
  expect(whole.said('asked the API').length).toBeGreaterThan(2);
  expect(JSON.stringify(whole.log)).not.toContain('the-key-of-the-account');
});

it('sums up the targets by their states, of which only failing ones count as failing', async () => {
  const whole = await startWhole({
    document: {
      // Zone 8 is not in the listing.
      pull_zones: { targets: [7, 8] },
      applications: { targets: ['a', 'b', 'c'] },
    },
    routes: {
      '/pullzone': () => ({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
      '/mc/apps/a/summary': () => ({ monthlyCost: 1 }),
      '/mc/apps/b/summary': () => reply(400),
      '/mc/apps/c/summary': () => reply(400),
    },
  });
  await whole.exporter.start();
  await whole.pass(130_000);
  expect(whole.said('first round').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(
      /^the first round of polls took [^:]+: 2 ok, 2 failing, 1 absent; it found 1 pull zone$/,
    ),
  ]);
});

it('does not count as failing what a pause holds back, nor what is too old already', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `app${n}`);
  const whole = await startWhole({
    api: { requests_per_second: 10 },
    document: { applications: { targets: ids, interval: '1m', stale_after: '90s' } },
    routes: {
      '*': ({ atMs }) =>
        atMs > 1000 && atMs < 600_000
          ? reply(429, '', { 'retry-after': '600' })
          : reply(200, '{"monthlyCost":1}'),
    },
  });
  await whole.exporter.start();
  await whole.pass(700_000);
  const [line = ''] = whole.said('first round').map(({ msg }) => msg);
  const counts = new Map(
    Array.from(line.matchAll(/(\d+) (ok|failing|absent|stale|pending)/g), ([, n, state]) => [
      state,
      Number(n),
    ]),
  );
  // When it is said, one at most was answered with 429; some were read before.
  expect([...counts.values()].reduce((sum, n) => sum + n, 0)).toBe(ids.length);
  expect(counts.get('failing')).toBeLessThanOrEqual(1);
});

it('reads each thing once with --once, and keeps what it read first until the last is there, however long that takes', async () => {
  const zones = 20;
  const whole = await startWhole({
    pollsOnce: true,
    api: { requests_per_second: 1 },
    // A page for each zone takes longer than the interval, and so do all applications.
    document: {
      pull_zones: { targets: 'all', interval: '10s', stale_after: '15s' },
      applications: {
        targets: Array.from({ length: 40 }, (_, n) => `app${n}`),
        interval: '10s',
        stale_after: '15s',
      },
    },
    routes: {
      '/pullzone': ({ query }) => {
        const page = Number(query.get('page'));
        const Items = [{ Id: page, Name: `zone${page}` }];
        return { Items, TotalItems: zones, HasMoreItems: page < zones };
      },
      '*': () => ({ monthlyCost: 1 }),
    },
  });
  expect(await whole.poll()).toBe(true);
  expect(whole.passedMs).toBeGreaterThan(30_000);
  expect(whole.requests).toHaveLength(60);
  expect(whole.exporter.targets().map(({ state }) => state)).toEqual(Array(60).fill('ok'));
  // None is polled again.
  const { targets } = JSON.parse((await whole.get('/api/v1/targets')).body) as {
    targets: { next_poll: unknown }[];
  };
  expect(targets.map(({ next_poll }) => next_poll)).toEqual(Array(60).fill(null));
});
