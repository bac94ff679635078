import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { burstOf } from '../../src/api/pacer.ts';
import { load } from '../../src/demo.ts';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import type { OperationName } from '../../src/simulator/dataset.ts';
import { everything } from '../../src/simulator/everything.ts';
import { createSimulator, type LoggedRequest } from '../../src/simulator/simulator.ts';

const requestsPerSecond = 20;
/** Per API. At this pace they take 20 seconds, and one round of all targets more than 4 minutes. */
const requestsSeen = 400;

const simulator = createSimulator({
  logRequests: true,
  maxPageSize: 10,
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
/** Each is read by the operation of the same name. */
const shieldKinds: readonly OperationName[] = ['shield_zone', 'api_guardian', 'rate_limit'];
let exporter: Exporter;

beforeAll(async () => {
  await simulator.start();
  const loaded = await load(
    everything(simulator, {
      kinds: ['application', ...shieldKinds],
      isNamed: true,
      interval: '1m',
      api: () => ({ requests_per_second: requestsPerSecond }),
      // A listing of 250 pages, which takes longer than what is looked at here.
      sections: { shield_zone: { targets: 'all' } },
    }),
  );
  exporter = await createExporter({
    load: () => Promise.resolve(loaded),
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

/** Delays of the event loop, during which nothing was read or written. */
const stalls: { readonly atMs: number; readonly durationMs: number }[] = [];

function watchStalls(): NodeJS.Timeout {
  const everyMs = 5;
  let lastMs = performance.now();
  return setInterval(() => {
    const atMs = performance.now();
    stalls.push({ atMs, durationMs: Math.max(0, atMs - lastMs - everyMs) });
    lastMs = atMs;
  }, everyMs);
}

/**
 * The earliest time when a request may have begun: it was written and read before it counted, and either may have waited
 * for the longest stall around that time.
 */
function earliestStartMs({ atMs }: LoggedRequest): number {
  const about = stalls.filter((stall) => stall.atMs > atMs - 1000 && stall.atMs < atMs + 50);
  return atMs - 2 * Math.max(0, ...about.map(({ durationMs }) => durationMs));
}

/** Requests after which more than `most` began within a second, allowing for delays on their way. */
function tooMany(requests: readonly LoggedRequest[], most: number): readonly LoggedRequest[] {
  return requests.filter((first, i) => {
    const beyond = requests[i + most];
    return beyond !== undefined && beyond.atMs - earliestStartMs(first) < 1000;
  });
}

describe(`5,000 targets of an API at ${requestsPerSecond} requests a second`, () => {
  const of = (isMeant: (request: LoggedRequest) => boolean) => simulator.requests.filter(isMeant);
  const ofApplications = () => of(({ operation }) => operation === 'application');
  const ofShield = () => of(({ operation }) => shieldKinds.some((kind) => kind === operation));

  beforeAll(async () => {
    const watch = watchStalls();
    void exporter.pollOnce();
    const enough = () =>
      expect(Math.min(ofApplications().length, ofShield().length)).toBeGreaterThanOrEqual(requestsSeen);
    await vi.waitFor(enough, { timeout: 100_000, interval: 500 });
    clearInterval(watch);
  });

  it.each([
    ['application', ofApplications],
    ['shield', ofShield],
  ])('never exceed the rate plus the burst in any second on the %s API', (_, requests) => {
    expect(tooMany(requests(), requestsPerSecond + burstOf(requestsPerSecond))).toEqual([]);
    // Only the pace limits them.
    expect(tooMany(requests(), requestsPerSecond / 2)).not.toEqual([]);
  });

  it('are polled in turn: none twice before all were polled once', () => {
    for (const requests of [ofApplications(), of(({ operation }) => operation === 'rate_limit')]) {
      expect(new Set(requests.map(({ path }) => path)).size).toBe(requests.length);
    }
  });

  it('give each kind its share of the API', () => {
    // Rate limits begin later: they wait for the names of their rules.
    const from = ofShield().findIndex(({ operation }) => operation === 'rate_limit');
    const requests = ofShield().slice(from, requestsSeen);
    expect(requests.length).toBeGreaterThan(requestsSeen / 2);
    for (const name of shieldKinds) {
      const share = requests.filter(({ operation }) => operation === name).length / requests.length;
      expect(share, name).toBeGreaterThan(0.9 / shieldKinds.length);
      expect(share, name).toBeLessThan(1.11 / shieldKinds.length);
    }
  });
});
