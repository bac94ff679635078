import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { describeConfig, paceReport, summary } from '../../src/config/summary.ts';
import { resources } from '../../src/resources/index.ts';
import { account, canary, directory, env, load } from './fixtures.ts';

function zones(n: number): string {
  return Array.from({ length: n }, (_, i) => i + 1).join();
}

describe('the pace', () => {
  test('that does not suffice is said with the numbers', async () => {
    const { config } = await load(`${account}rate_limits: { targets: [${zones(20_000)}] }`);
    const [shield] = paceReport(config, resources);
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
    const [shield] = paceReport(config, resources);
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
    expect(paceReport(config, resources)).toMatchObject([{ roundMs: undefined, message: undefined }]);
  });

  test('counts one listing a credential, whatever the number of zones', async () => {
    const { config } = await load(`
credentials: { one: { env: BUNNYNET_ACCESS_KEY }, two: { env: BUNNYNET_VIDEO_ACCESS_KEY } }
shield_zones:
  credential: one
  interval: 10s
  targets: [1, { id: 2, interval: 5s }, 3, { id: 4, credential: two }]
`);
    expect(paceReport(config, resources)[0]?.neededPerSecond).toBeCloseTo(0.3);
  });

  test('of an API without targets is left out', async () => {
    const { config } = await load(`${account}applications: { targets: [a] }`);
    expect(paceReport(config, resources).map(({ api }) => api)).toEqual(['application']);
  });
});

test('the summary is a table by kind and one by API', async () => {
  const { config } = await load(`
credentials: { account: { env: BUNNYNET_ACCESS_KEY }, video: { env: BUNNYNET_VIDEO_ACCESS_KEY } }
applications: { credential: account, targets: [a, { id: b, interval: 30s }] }
shield_zones: { credential: account, targets: all }
video_storage:
  credential: video
  interval: 1s
  targets:
    - 1/0f8c3f9e-1b2a-4c3d-8e4f-000000000001
    - 1/0f8c3f9e-1b2a-4c3d-8e4f-000000000002
    - 1/0f8c3f9e-1b2a-4c3d-8e4f-000000000003
`);
  expect(summary(config, resources)).toBe(`\
kind           targets  interval
application    2        30s to 1m
shield_zone    all      10m
video_storage  3        1s

API          requests/s needed  allowed  address
application  0.05               10       https://api.bunny.net/mc
shield       at least <0.01     10       https://api.bunny.net
video        3                  2        https://video.bunnycdn.com

video: 3 targets at 1s need 3 requests/s, requests_per_second is 2: a round takes 2s, values go stale after 3s; raise the interval or apis.video.requests_per_second
`);
});

describe('the configuration in force', () => {
  test('is the file with every default filled in and without any key', async () => {
    const { config } = await load(`${account}applications: { targets: [{ id: a, name: shop }] }`);
    const described = describeConfig(config, resources);
    expect(described).toMatchObject({
      credentials: { account: { env: 'BUNNYNET_ACCESS_KEY' } },
      apis: {
        video: {
          base_url: 'https://video.bunnycdn.com',
          timeout: '10s',
          max_concurrency: 2,
          requests_per_second: 2,
          max_retries: 2,
          max_response_bytes: '8MiB',
        },
      },
      applications: {
        credential: 'account',
        interval: '1m',
        stale_after: '3m',
        latency_unit: 'milliseconds',
        latency_chart: 'latest',
        targets: [{ id: 'a', name: 'shop', credential: 'account', interval: '1m', stale_after: '3m' }],
      },
      limits: { max_series: 1_000_000 },
    });
    expect(JSON.stringify(described)).not.toContain(canary);
  });

  test('loads to itself', async () => {
    const interval = fc.integer({ min: 1, max: 86_400 });
    const target = fc.record({
      id: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
      name: fc.option(fc.stringMatching(/^[!-~]{1,20}$/), { nil: undefined }),
      interval: fc.option(
        interval.map((seconds) => `${seconds}s`),
        { nil: undefined },
      ),
      credential: fc.constantFrom('one', 'two'),
    });
    const document = fc.record({
      credentials: fc.constant({
        one: { env: 'BUNNYNET_ACCESS_KEY' },
        two: { env: 'BUNNYNET_VIDEO_ACCESS_KEY' },
      }),
      apis: fc.record({
        shield: fc.record({
          base_url: fc.constantFrom('https://a.example.com/x/', 'http://127.0.0.1:1', 'http://b.example.com'),
          allow_insecure_http: fc.constant(true),
          max_response_bytes: fc.integer({ min: 1024, max: 2 ** 28 }),
          requests_per_second: fc.double({ min: 0.1, max: 1e4, noNaN: true }),
        }),
      }),
      applications: fc.record({
        interval: interval.map((seconds) => `${seconds}s`),
        latency_chart: fc.constantFrom('latest', 'points', 'off'),
        targets: fc.uniqueArray(target, { maxLength: 5, selector: ({ id }) => id }),
      }),
      rate_limits: fc.record({
        credential: fc.constantFrom('one', 'two'),
        targets: fc.constantFrom('all', [1, 2]),
      }),
    });
    const file = join(await directory(), 'config.yml');
    const loaded = async (content: unknown): Promise<Config> => {
      await writeFile(file, JSON.stringify(content));
      return (await loadConfig({ file, env, resources })).config;
    };
    await fc.assert(
      fc.asyncProperty(document, async (content) => {
        const config = await loaded(content);
        expect(await loaded(describeConfig(config, resources))).toEqual(config);
      }),
      { numRuns: 200 },
    );
  });
});
