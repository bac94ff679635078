import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { capacity, pollsOf } from '../../src/polling/capacity.ts';
import { resources } from '../../src/resources/index.ts';
import { account, load } from '../config/fixtures.ts';

const capacityOf = (config: Config) =>
  capacity(
    pollsOf(config, resources, () => true),
    config.apis,
  );

function zones(n: number): string {
  return Array.from({ length: n }, (_, i) => i + 1).join();
}

describe('the pace', () => {
  test('that does not suffice is said with the numbers', async () => {
    const { config } = await load(`${account}applications: { targets: [${zones(20_000)}] }`);
    const [application] = capacityOf(config);
    expect(application).toMatchObject({
      api: 'application',
      polls: 20_000,
      allowedPerSecond: 10,
      shortfall:
        'application: 20,000 polls at 1m need 333.3 requests/s, requests_per_second is 10: a round takes 33m20s, ' +
        'values go stale after 3m; raise the interval of application, stale_after or apis.application.requests_per_second',
    });
    expect(application?.neededPerSecond).toBeCloseTo(333.333, 3);
  });

  test('of an API is shared by its kinds', async () => {
    const { config } = await load(`${account}
rate_limits: { interval: 10s, targets: [${zones(60)}] }
api_guardian: { interval: 1m, targets: [${Array.from({ length: 300 }, (_, i) => `1/${i + 1}`).join()}] }
`);
    const [shield] = capacityOf(config);
    // The names of each zone's rate limits are listed, too.
    expect(shield?.neededPerSecond).toBeCloseTo(11.1, 3);
    expect(shield?.shortfall).toBe(
      'shield: 420 polls at 10s to 10m need 11.1 requests/s, requests_per_second is 10: a round takes 42s, ' +
        'values go stale after 30s; raise the interval of rate_limit (it needs most: 6.1), stale_after or apis.shield.requests_per_second',
    );
  });

  test('that just suffices is not complained of', async () => {
    const { config } = await load(`${account}applications: { interval: 10s, targets: [${zones(100)}] }`);
    expect(capacityOf(config)).toMatchObject([{ shortfall: undefined }]);
  });

  test('counts one listing a credential, whatever the number of zones', async () => {
    const { config } = await load(`
credentials: { one: { env: BUNNYNET_ACCESS_KEY }, two: { env: BUNNYNET_VIDEO_ACCESS_KEY } }
shield_zones:
  credential: one
  interval: 10s
  targets: [1, { id: 2, interval: 5s }, 3, { id: 4, credential: two }]
`);
    expect(capacityOf(config)[0]?.neededPerSecond).toBeCloseTo(0.3);
  });

  test('of an API without targets is left out', async () => {
    const { config } = await load(`${account}applications: { targets: [a] }`);
    expect(capacityOf(config).map(({ api }) => api)).toEqual(['application']);
  });
});
