import { describe, expect, test } from 'vitest';
import { capacity } from '../../src/polling/capacity.ts';
import { resources } from '../../src/resources/index.ts';
import { account, load } from '../config/fixtures.ts';

function zones(n: number): string {
  return Array.from({ length: n }, (_, i) => i + 1).join();
}

describe('the pace', () => {
  test('that does not suffice is said with the numbers', async () => {
    const { config } = await load(`${account}rate_limits: { targets: [${zones(20_000)}] }`);
    const [shield] = capacity(config, resources);
    expect(shield).toMatchObject({
      api: 'shield',
      kinds: [
        {
          kind: 'rate_limit',
          targets: 20_000,
          shortestIntervalMs: 300_000,
          longestIntervalMs: 300_000,
        },
      ],
      allowedPerSecond: 10,
      roundMs: 2_000_000,
      message:
        'shield: 20,000 targets at 5m need 66.7 requests/s, requests_per_second is 10: a round takes 33m20s, ' +
        'values go stale after 15m; raise the interval, stale_after or apis.shield.requests_per_second',
    });
    expect(shield?.neededPerSecond).toBeCloseTo(66.667, 3);
    expect(shield?.kinds[0]?.requestsPerSecond).toBeCloseTo(66.667, 3);
  });

  test('of an API is shared by its kinds', async () => {
    const { config } = await load(`${account}
rate_limits: { interval: 10s, targets: [${zones(60)}] }
api_guardian: { interval: 1m, targets: [${Array.from({ length: 300 }, (_, i) => `1/${i + 1}`).join()}] }
`);
    const [shield] = capacity(config, resources);
    expect(
      shield?.kinds.map(({ kind, requestsPerSecond }) => [kind, Math.round(requestsPerSecond * 1e6) / 1e6]),
    ).toEqual([
      ['api_guardian', 5],
      ['rate_limit', 6],
    ]);
    expect(shield?.message).toBe(
      'shield: 360 targets at 10s to 1m need 11 requests/s, requests_per_second is 10: a round takes 36s, ' +
        'values go stale after 30s; raise the interval, stale_after or apis.shield.requests_per_second',
    );
  });

  test('that just suffices is not complained of', async () => {
    const { config } = await load(`${account}rate_limits: { interval: 10s, targets: [${zones(100)}] }`);
    expect(capacity(config, resources)).toMatchObject([{ roundMs: undefined, message: undefined }]);
  });

  test('counts one listing a credential, whatever the number of zones', async () => {
    const { config } = await load(`
credentials: { one: { env: BUNNYNET_ACCESS_KEY }, two: { env: BUNNYNET_VIDEO_ACCESS_KEY } }
shield_zones:
  credential: one
  interval: 10s
  targets: [1, { id: 2, interval: 5s }, 3, { id: 4, credential: two }]
`);
    expect(capacity(config, resources)[0]?.neededPerSecond).toBeCloseTo(0.3);
  });

  test('of an API without targets is left out', async () => {
    const { config } = await load(`${account}applications: { targets: [a] }`);
    expect(capacity(config, resources).map(({ api }) => api)).toEqual(['application']);
  });
});
