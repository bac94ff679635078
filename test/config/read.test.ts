import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { describeConfig } from '../../src/config/read.ts';
import { account, canary, env, fewKinds, load } from './fixtures.ts';

type Document = NonNullable<LoadOptions['document']>;

describe('the settings that lead to a host', () => {
  const hostOf = async (apis: string) =>
    (await load(`${account}discovery: { kinds: all }\napis: { ${apis} }\n`)).config.apis.core.names.host;
  const at = (...apis: readonly string[]) =>
    apis.map((api) => `${api}: { base_url: "https://proxy.example" }`).join(', ');

  test('are named one by one where there are two, and counted where there are more', async () => {
    expect(await hostOf('')).toEqual([]);
    expect(await hostOf(at('shield', 'core'))).toEqual(['apis.core.base_url', 'apis.shield.base_url']);
    expect(await hostOf(at('application', 'shield', 'core', 'video', 'origin_errors'))).toEqual([
      'apis.core.base_url',
      'the addresses of the 2 other APIs at this host',
    ]);
  });
});

describe('the configuration in force', () => {
  test('is the file with every default filled in and no key', async () => {
    const { config } = await load(`${account}applications: { targets: [{ id: a, name: shop }] }`);
    const described = describeConfig(config, fewKinds);
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
      accounts: ['account'],
      applications: {
        interval: '1m',
        stale_after: '3m',
        latency_unit: 'milliseconds',
        latency_chart: 'latest',
        targets: [{ id: 'a', name: 'shop', credential: 'account', interval: '1m', stale_after: '3m' }],
      },
      discovery: { interval: '10m' },
    });
    expect(JSON.stringify(described)).not.toContain(canary);
  });

  test("names no credential where a library's own key is used instead", async () => {
    const { config } = await load(`${account}video_storage: { targets: all }`);
    expect(describeConfig(config, fewKinds)['video_storage']).not.toHaveProperty('credential');
  });

  test('gives the same configuration when it is loaded', async () => {
    const document = {
      credentials: { one: { env: 'BUNNYNET_ACCESS_KEY' }, two: { env: 'BUNNYNET_VIDEO_ACCESS_KEY' } },
      apis: {
        shield: {
          base_url: 'http://b.example.com/x/',
          allow_insecure_http: true,
          max_response_bytes: 1_234_567,
          requests_per_second: 0.1,
        },
      },
      applications: {
        interval: '86399s',
        latency_chart: 'points',
        targets: [
          { id: 'a', name: 'a "b"', credential: 'one' },
          { id: 'b-_', interval: '1s', credential: 'two' },
        ],
      },
      rate_limits: { credential: 'two', targets: [1, 2] },
      discovery: { interval: '90s', kinds: 'all' },
      api_guardian: {
        credential: 'one',
        targets: 'all',
        include: '(b|c)+',
        exclude: ['7', ' '],
        parents: { include: ['a.*'] },
        overrides: [
          { shield_zone_id: 1, endpoint_id: 1, interval: '61s' },
          { shield_zone_id: 1, endpoint_id: 2, name: 'x' },
        ],
      },
      video_storage: { credential: 'two', targets: 'all' },
    };
    const loaded = async (content: Document): Promise<Config> =>
      (await loadConfig({ document: content, env, resources: fewKinds })).config;
    const config = await loaded(document);
    expect(await loaded(describeConfig(config, fewKinds))).toEqual(config);
  });
});
