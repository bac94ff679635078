import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { capacity, specsOf } from '../../src/polling/capacity.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { askedFor, once } from '../../src/resources/queries.ts';
import { isReadAlone } from '../../src/resources/resource.ts';
import { account, load } from '../config/fixtures.ts';
import { large, neededIn, planOfAccount } from './accounts.ts';

const capacityOf = (config: Config) => capacity(specsOf(config, resources), config.apis);

function zones(n: number): string {
  return Array.from({ length: n }, (_, i) => i + 1).join();
}

const largeAccount = () => planOfAccount(large);

const dayMs = 86_400_000;
const midnight = Date.parse('2026-11-28T00:00:00Z');

describe('the request rate', () => {
  test('of a large account with every kind except video_storage is below 3 requests/s', async () => {
    const { everything } = await largeAccount();
    const counts: Record<string, number> = {};
    for (const { kind } of everything.targets.values()) counts[kind] = (counts[kind] ?? 0) + 1;
    expect(counts).toMatchObject({
      application: 20,
      shield_zone: 50,
      api_guardian_zone: 50,
      api_guardian: 100,
      rate_limit: 50,
      pull_zone_statistics: 100,
      pull_zone_optimizer: 20,
      pull_zone_origin_shield: 20,
      pull_zone_safehop: 20,
      dns_zone: 50,
      video_library_statistics: 20,
      video_library_drm: 20,
      billing: 1,
    });
    expect(Object.keys(counts).toSorted()).toEqual(
      resources
        .filter(({ isCostly }) => !isCostly)
        .map(({ kind }) => kind)
        .toSorted(),
    );
    expect(await neededIn(large)).toBeLessThan(3);
  });

  test('of a large account is at most 3 % more for the days that may have grown', async () => {
    const { everything } = await largeAccount();
    let polls = 0;
    let requests = 0;
    for (const { intervalMs } of everything.listings.values()) {
      polls += dayMs / intervalMs;
      requests += dayMs / intervalMs;
    }
    const targets = [...everything.targets.values()].filter(({ fedBy }) => fedBy === undefined);
    // All targets of a kind are polled alike.
    for (const resource of new Set(targets.map((one) => one.resource))) {
      if (!isReadAlone(resource)) continue;
      const { query = once } = resource;
      const intervals = targets.filter((one) => one.resource === resource).map((one) => one.intervalMs);
      const [intervalMs = dayMs] = intervals;
      expect(new Set(intervals)).toEqual(new Set([intervalMs]));
      let caughtUpMs = midnight - 1;
      for (let nowMs = midnight; nowMs < midnight + dayMs; nowMs += intervalMs) {
        const { range, isCaughtUp } = askedFor({ nowMs, caughtUpMs, newestDayMs: midnight }, query);
        if (isCaughtUp) caughtUpMs = nowMs;
        polls += intervals.length;
        requests += intervals.length * query.requestsFor(range).length;
      }
    }
    expect(requests / polls).toBeGreaterThan(1.01);
    expect(requests / polls).toBeLessThan(1.03);
  });

  test('of an API is shared by its kinds, and reported with the numbers if it is too low', async () => {
    const { config } = await load(`${account}
rate_limits: { interval: 10s, targets: [${zones(60)}] }
api_guardian: { interval: 1m, targets: [${Array.from({ length: 300 }, (_, i) => `1/${i + 1}`).join()}] }
`);
    const [shield] = capacityOf(config);
    // The names of each zone's rate limits are listed, too.
    expect(shield).toMatchObject({ api: 'shield', polls: 420, neededPerSecond: 11.1, allowedPerSecond: 10 });
    expect(shield?.shortfall).toBe(
      'shield: 420 polls need 11.1 requests/s, requests_per_second is 10: a round takes 42s; ' +
        'raise interval_factor, apis.shield.requests_per_second, or interval and stale_after (rate_limit needs most)',
    );
  });

  test('counts one listing per credential, whatever the number of zones', async () => {
    const { config } = await load(`
credentials: { one: { env: BUNNYNET_ACCESS_KEY }, two: { env: BUNNYNET_VIDEO_ACCESS_KEY } }
shield_zones:
  credential: one
  interval: 10s
  targets: [1, { id: 2, interval: 5s }, 3, { id: 4, credential: two }]
`);
    expect(capacityOf(config)[0]?.neededPerSecond).toBeCloseTo(0.3);
  });
});
