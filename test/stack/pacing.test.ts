import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { burstOf } from '../../src/api/pacer.ts';
import type { ApiConfig, Config } from '../../src/config/config.ts';
import { createCredentials } from '../../src/config/credentials.ts';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import { createSimulator, type SeenRequest } from '../../src/simulator/simulator.ts';
import { sectionConfig, targetConfig } from '../polling/fixtures.ts';

const requestsPerSecond = 20;
/** Of each API; at this pace it takes 20 seconds to see them, and more than 4 minutes to ask for every target once. */
const requestsSeen = 400;

const simulator = createSimulator({
  logRequests: true,
  maxPageSize: 25,
  shape: {
    applications: 5000,
    zones: 2500,
    endpoints: 2500,
    rateLimitZones: 2500,
    rulesPerZone: 1,
    libraries: 0,
    videosPerLibrary: 0,
  },
});
let exporter: Exporter;

beforeAll(async () => {
  await simulator.start();
  const api = (baseUrl: string): ApiConfig => ({
    baseUrl,
    timeoutMs: 10_000,
    maxConcurrency: 8,
    requestsPerSecond,
    maxRetries: 2,
    maxResponseBytes: 10_000_000,
  });
  const { application, shield, video } = simulator.baseUrls;
  const config: Config = {
    credentials: { account: { env: 'KEY' } },
    apis: { application: api(application), shield: api(shield), video: api(video) },
    sections: [
      sectionConfig(
        'application',
        simulator.applications.map(({ id }) => targetConfig({ app_id: id })),
      ),
      // A listing of 100 pages, wanted again as soon as it has ended.
      sectionConfig('shield_zone', 'all', { intervalMs: 1000 }),
      sectionConfig(
        'api_guardian',
        simulator.endpoints.map(({ shieldZoneId, endpointId }) =>
          targetConfig({ shield_zone_id: shieldZoneId, endpoint_id: endpointId }),
        ),
      ),
      sectionConfig(
        'rate_limit',
        simulator.rateLimitZones.map(({ shieldZoneId }) => targetConfig({ shield_zone_id: shieldZoneId })),
      ),
    ],
    limits: { maxSeries: 1_000_000 },
  };
  const env = { KEY: simulator.keys.account };
  exporter = await createExporter({
    load: () => Promise.resolve({ config, credentials: createCredentials(config.credentials, env) }),
    addresses: [],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    log: pino({ level: 'silent' }),
  });
});
afterAll(async () => {
  await exporter.stop();
  await simulator.stop();
});

/** The most requests that arrived in any second. */
function busiestSecond(requests: readonly SeenRequest[]): number {
  let most = 0;
  let from = 0;
  for (const [to, { atMs }] of requests.entries()) {
    while ((requests[from]?.atMs ?? atMs) <= atMs - 1000) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

describe(`5,000 targets of an API at ${requestsPerSecond} requests a second`, () => {
  const of = (isMeant: (request: SeenRequest) => boolean) => simulator.requests.filter(isMeant);
  const ofApplications = () => of(({ operation }) => operation === 'application');
  const ofShield = () => of(({ operation }) => operation !== 'application');

  beforeAll(async () => {
    void exporter.pollOnce();
    await expect
      .poll(() => Math.min(ofApplications().length, ofShield().length), { timeout: 100_000, interval: 500 })
      .toBeGreaterThanOrEqual(requestsSeen);
  });

  it.each([
    ['application', ofApplications],
    ['shield', ofShield],
  ])('never make more of them in any second on the %s API, but for the burst', (_, requests) => {
    expect(busiestSecond(requests())).toBeLessThanOrEqual(requestsPerSecond + burstOf(requestsPerSecond));
    // It is the pace that holds them back, and nothing else.
    expect(busiestSecond(requests())).toBeGreaterThanOrEqual(requestsPerSecond / 2);
  });

  it('are asked for in turn: none twice before all were once', () => {
    for (const requests of [ofApplications(), of(({ operation }) => operation === 'rate_limit')]) {
      expect(new Set(requests.map(({ path }) => path)).size).toBe(requests.length);
    }
  });

  it('leave each kind its share of the API', () => {
    const requests = ofShield().slice(0, requestsSeen);
    for (const kind of ['shield_zone', 'api_guardian', 'rate_limit'] as const) {
      const share = requests.filter(({ operation }) => operation === kind).length / requests.length;
      expect(share, kind).toBeGreaterThan(0.3);
      expect(share, kind).toBeLessThan(0.37);
    }
  });
});
