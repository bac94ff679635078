import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { describeConfig } from '../../src/config/describe.ts';
import { type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { resources } from '../../src/resources/index.ts';
import { runs } from '../runs.ts';
import { account, canary, env, load } from './fixtures.ts';

type Document = NonNullable<LoadOptions['document']>;

describe('the configuration in force', () => {
  test('is the file with every default filled in and no key', async () => {
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
      discovery: { interval: '10m' },
      limits: { max_series: 1_000_000 },
    });
    expect(JSON.stringify(described)).not.toContain(canary);
  });

  test('shows discovery, selections and overrides as in a file', async () => {
    const { config } = await load(`${account}
discovery: { interval: 5m, kinds: all }
applications: { targets: all, include: a.*, overrides: [{ id: ab, interval: 30s }] }
api_guardian:
  targets: all
  parents: { exclude: [b, c] }
  overrides: [{ shield_zone_id: 1, endpoint_id: 2, name: x }]
`);
    expect(describeConfig(config, resources)).toMatchObject({
      discovery: { interval: '5m' },
      applications: {
        targets: 'all',
        include: ['a.*'],
        overrides: [{ id: 'ab', interval: '30s', stale_after: '1m30s' }],
      },
      api_guardian: {
        targets: 'all',
        parents: { exclude: ['b', 'c'] },
        overrides: [{ shield_zone_id: '1', endpoint_id: '2', name: 'x' }],
      },
      rate_limits: { credential: 'account', targets: 'all' },
    });
  });

  test("names no credential where a library's own key is used instead", async () => {
    const { config } = await load(`${account}video_storage: { targets: all }`);
    expect(describeConfig(config, resources)['video_storage']).not.toHaveProperty('credential');
  });

  test('gives the same configuration when it is loaded', async () => {
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
    const pattern = fc.constantFrom('a.*', '(b|c)+', '7', ' ');
    const patterns = fc.oneof(pattern, fc.array(pattern, { minLength: 1, maxLength: 3 }));
    const override = fc.record(
      {
        shield_zone_id: fc.constant(1),
        endpoint_id: fc.integer({ min: 1, max: 9 }),
        name: fc.constantFrom('x', 'y'),
        interval: interval.map((seconds) => `${seconds}s`),
      },
      { requiredKeys: ['shield_zone_id', 'endpoint_id'] },
    );
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
      discovery: fc.record(
        {
          interval: interval.map((seconds) => `${seconds}s`),
          kinds: fc.constantFrom('all', 'none'),
        },
        { requiredKeys: [] },
      ),
      api_guardian: fc.record(
        {
          credential: fc.constantFrom('one', 'two'),
          targets: fc.constant('all'),
          include: patterns,
          exclude: patterns,
          parents: fc.record({ include: patterns, exclude: patterns }, { requiredKeys: [] }),
          overrides: fc.uniqueArray(override, { maxLength: 4, selector: ({ endpoint_id }) => endpoint_id }),
        },
        { requiredKeys: ['credential', 'targets'] },
      ),
      video_storage: fc.record(
        { credential: fc.constantFrom('one', 'two'), targets: fc.constant('all') },
        { requiredKeys: ['targets'] },
      ),
    });
    const loaded = async (content: Document): Promise<Config> =>
      (await loadConfig({ document: content, env, resources })).config;
    await fc.assert(
      fc.asyncProperty(document, async (content) => {
        const config = await loaded(content);
        expect(await loaded(describeConfig(config, resources))).toEqual(config);
      }),
      { numRuns: runs(15, 500) },
    );
  });
});
