import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiConfig, Config } from '../../src/config/config.ts';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import { resources } from '../../src/resources/index.ts';
import { apiNames } from '../../src/resources/resource.ts';
import { createCredentials } from '../../src/secrets/credentials.ts';
import { type Fault, type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import { type Operation, operations } from '../../src/simulator/request.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { apiOf, readPage } from '../faults/program.ts';
import { sectionConfig, targetConfig } from '../polling/fixtures.ts';

/** An hour of a usual configuration in a minute or so: what is polled every minute there is polled every second here. */
const intervalMs = 1000;
const warmUpSteps = 150;
const soakSteps = 800;
const stepMs = 50;
/** What the heap may have grown by, of some 60 MiB. */
const heapBoundBytes = 8 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    // Finalizers of what was collected run in between.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage().heapUsed;
}

/** What keeps the process alive, counted by its kind; timers come and go with the tests' own. */
function activeHandles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    if (name !== 'Timeout' && name !== 'Immediate') counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Mulberry32: the same story each time. */
function createRandom(seed: number) {
  let state = seed;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (bound: number) => Math.floor(unit() * bound);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  };
  return { unit, below, pick };
}

const simulator = createSimulator({
  maxPageSize: 4,
  shape: {
    applications: 80,
    zones: 12,
    endpoints: 40,
    rateLimitZones: 12,
    rulesPerZone: 2,
    libraries: 1,
    videosPerLibrary: 40,
  },
});
const types = Object.keys(faultTypes) as FaultType[];
const random = createRandom(20_260_815);
let exporter: Exporter;
let config: Config;
let handlesBefore: Record<string, number>;
let lines = 0;

function wholeConfig(): Config {
  const api = (baseUrl: string): ApiConfig => ({
    baseUrl,
    timeoutMs: 1500,
    maxConcurrency: 30,
    requestsPerSecond: 1000,
    maxRetries: 1,
    maxResponseBytes: 300_000,
  });
  const { application, shield, video } = simulator.baseUrls;
  const more = { intervalMs, staleAfterMs: 3 * intervalMs };
  const ofVideos = { ...more, credential: 'library' };
  return {
    credentials: { account: { env: 'ACCOUNT' }, library: { env: 'LIBRARY' } },
    apis: { application: api(application), shield: api(shield), core: api(shield), video: api(video) },
    sections: [
      sectionConfig(
        'application',
        simulator.applications.map(({ id, name }) => targetConfig({ app_id: id }, { ...more, name })),
        more,
      ),
      sectionConfig('shield_zone', 'all', more),
      sectionConfig(
        'api_guardian',
        simulator.endpoints.map(({ shieldZoneId, endpointId }) =>
          targetConfig({ shield_zone_id: shieldZoneId, endpoint_id: endpointId }, more),
        ),
        more,
      ),
      sectionConfig('rate_limit', 'all', more),
      sectionConfig(
        'video_storage',
        simulator.videos.map(({ libraryId, videoId }) =>
          targetConfig({ library_id: libraryId, video_id: videoId }, ofVideos),
        ),
        ofVideos,
      ),
    ],
    limits: { maxSeries: 1_000_000 },
  };
}

beforeAll(async () => {
  handlesBefore = activeHandles();
  await simulator.start();
  config = wholeConfig();
  const [library = ''] = simulator.libraryIds;
  const env = { ACCOUNT: simulator.keys.account, LIBRARY: simulator.keys.libraries[library] ?? '' };
  exporter = await createExporter({
    load: () => Promise.resolve({ config, credentials: createCredentials(config.credentials, env) }),
    addresses: [],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    log: pino({ level: 'info' }, { write: () => void lines++ }),
  });
});
afterAll(async () => {
  await exporter.stop();
  await simulator.stop();
});

function randomFault(): Fault {
  const type = random.pick(types);
  const kind = random.pick(faultTypes[type].appliesTo);
  return {
    type,
    kind,
    share: random.pick([0.1, 0.3, 1]),
    shareOf: random.pick(['requests', 'targets']),
    durationMs: random.pick([100, 500, 2000]),
    latencyMs: random.below(300),
    retryAfterSeconds: random.below(2),
    decodedBytes: 1_000_000,
    depth: 10_000,
  };
}

/** Some of the targets, some of them otherwise, and another pace now and then. */
function randomConfig(): Config {
  const whole = wholeConfig();
  const share = random.pick([0.3, 0.7, 1]);
  const sections = whole.sections.map((section) => ({
    ...section,
    targets:
      section.targets === 'all'
        ? section.targets
        : section.targets
            .filter(() => random.unit() < share)
            .map((target) => ({ ...target, name: random.unit() < 0.5 ? target.name : 'renamed' })),
  }));
  const maxConcurrency = random.pick([20, 30]);
  const application = { ...whole.apis.application, maxConcurrency };
  return {
    ...whole,
    sections: random.unit() < 0.1 ? sections.slice(1) : sections,
    apis: { ...whole.apis, application },
  };
}

const restores: (() => void)[] = [];

/** One thing that can happen, at random. */
async function happen(): Promise<void> {
  const what = random.below(10);
  if (what < 5) simulator.inject(randomFault());
  else if (what < 7) {
    config = randomConfig();
    await exporter.reload();
  } else if (what < 8) {
    const entity = random.pick([
      random.pick(simulator.applications).id,
      random.pick(simulator.zones).shieldZoneId,
      random.pick(simulator.endpoints).endpointId,
      random.pick(simulator.videos).videoId,
    ]);
    restores.push(simulator.remove(entity));
  } else if (what < 9) restores.shift()?.();
  else await exporter.page();
}

async function play(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await happen();
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
  simulator.clearFaults();
  for (const restore of restores.splice(0)) restore();
  config = wholeConfig();
  await exporter.reload();
}

const seen = (of: readonly Operation[]) =>
  of.reduce((sum, operation) => sum + simulator.counters[operation].requests, 0);
const polls = async () => (await readPage(exporter)).sum('bunnynet_exporter_polls_total{');

/** How many targets of each kind are up, of those that there are. */
async function upByKind(): Promise<Record<string, number>> {
  const page = await readPage(exporter);
  return Object.fromEntries(
    resources.map(({ kind, metricPrefix }) => [kind, page.sum(`${metricPrefix}_up{`)]),
  );
}

const allUp = {
  application: 80,
  shield_zone: 12,
  api_guardian: 40,
  rate_limit: 12,
  video_storage: 40,
};

describe('a soak', () => {
  it('of random faults, reloads and churn leaves nothing behind and loses nothing', {
    timeout: 280_000,
  }, async () => {
    await exporter.pollOnce();
    await play(warmUpSteps);
    await expect.poll(upByKind, { timeout: 90_000, interval: 500 }).toEqual(allUp);
    const heapBefore = await heapUsed();

    await play(soakSteps);
    // A pause after a 429 can last for a while; then every target is well again.
    await expect.poll(upByKind, { timeout: 90_000, interval: 500 }).toEqual(allUp);
    const heapAfter = await heapUsed();
    expect(await polls()).toBeGreaterThan(5000);
    expect(lines).toBeGreaterThan(1000);
    expect(heapAfter - heapBefore).toBeLessThan(heapBoundBytes);

    // No poll is lost: each goes on, at its own interval.
    const before = Object.fromEntries(operations.map((kind) => [kind, seen([kind])]));
    for (const kind of operations) {
      await expect
        .poll(() => seen([kind]) - (before[kind] ?? 0), { timeout: 30_000 })
        .toBeGreaterThanOrEqual(3 * (kind === 'shield_zone' ? 3 : allUp[kind]));
    }

    // Nothing is wanted any more: what is under way ends, and then both sides have counted the same.
    config = { ...wholeConfig(), sections: [] };
    await exporter.reload();
    const differences = async () => {
      const page = await readPage(exporter);
      return apiNames.map((api) => {
        const arrived = seen(operations.filter((kind) => apiOf(kind) === api));
        return page.sum(`bunnynet_exporter_api_requests_total{api="${api}"`) - arrived;
      });
    };
    await expect.poll(differences, { timeout: 30_000 }).toEqual(apiNames.map(() => 0));

    await exporter.stop();
    await simulator.stop();
    await expect.poll(activeHandles, { timeout: 30_000 }).toEqual(handlesBefore);
  });
});
