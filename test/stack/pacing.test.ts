import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { burstOf } from '../../src/api/pacer.ts';
import { load } from '../../src/demo.ts';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import type { OperationName } from '../../src/simulator/dataset.ts';
import { everything } from '../../src/simulator/everything.ts';
import { createSimulator, type SeenRequest } from '../../src/simulator/simulator.ts';

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
/** Each is read by the operation of its name. */
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
      // A listing of 100 pages, wanted again as soon as it has ended.
      sections: { shield_zone: { targets: 'all', interval: '1s' } },
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

/** Turns of the event loop that took their time: what was to be read or written waited so long. */
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
 * When a request began at the earliest, as far as this process can tell: before it arrived it had to be written and to be
 * read, and either may have waited for the longest stall about that time.
 */
function earliestStartMs({ atMs }: SeenRequest): number {
  const about = stalls.filter((stall) => stall.atMs > atMs - 1000 && stall.atMs < atMs + 50);
  return atMs - 2 * Math.max(0, ...about.map(({ durationMs }) => durationMs));
}

/** Requests of which more than `most` began within a second, whatever delayed them on their way. */
function tooMany(requests: readonly SeenRequest[], most: number): readonly SeenRequest[] {
  return requests.filter((first, i) => {
    const beyond = requests[i + most];
    return beyond !== undefined && beyond.atMs - earliestStartMs(first) < 1000;
  });
}

describe(`5,000 targets of an API at ${requestsPerSecond} requests a second`, () => {
  const of = (isMeant: (request: SeenRequest) => boolean) => simulator.requests.filter(isMeant);
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
  ])('never make more of them in any second on the %s API, but for the burst', (_, requests) => {
    expect(tooMany(requests(), requestsPerSecond + burstOf(requestsPerSecond))).toEqual([]);
    // It is the pace that holds them back, and nothing else.
    expect(tooMany(requests(), requestsPerSecond / 2)).not.toEqual([]);
  });

  it('are asked for in turn: none twice before all were once', () => {
    for (const requests of [ofApplications(), of(({ operation }) => operation === 'rate_limit')]) {
      expect(new Set(requests.map(({ path }) => path)).size).toBe(requests.length);
    }
  });

  it('leave each kind its share of the API', () => {
    const requests = ofShield().slice(0, requestsSeen);
    for (const name of shieldKinds) {
      const share = requests.filter(({ operation }) => operation === name).length / requests.length;
      expect(share, name).toBeGreaterThan(0.9 / shieldKinds.length);
      expect(share, name).toBeLessThan(1.11 / shieldKinds.length);
    }
  });
});
