import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allKinds, type OperationName, operations } from '../../simulator/dataset.ts';
import { everything } from '../../simulator/everything.ts';
import { type Fault, type FaultType, faultTypes } from '../../simulator/faults.ts';
import { isPaged } from '../../simulator/kind.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import type { Config } from '../../src/config/config.ts';
import { load } from '../../src/demo.ts';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { type ApiName, apiNames } from '../../src/resources/resource.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { readPage } from '../simulator/page.ts';

const warmUpSteps = 150;
const soakSteps = 800;
const stepMs = 50;
/** The allowed growth of the heap, which is about 50 MiB. */
const heapBoundBytes = 8 * 1024 * 1024;

/** What keeps the process alive, counted by type. Timers are left out: the tests have some of their own. */
function activeHandles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    if (name !== 'Timeout' && name !== 'Immediate') counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Mulberry32, so that every run is the same. */
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

const maxPageSize = 4;
const simulator = createSimulator({
  maxPageSize,
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
/** Everything, polled every second: about a minute of it is an hour of a usual configuration. */
let whole: Awaited<ReturnType<typeof load>>;
/** The same at a pace that a busy machine keeps, at which all must recover. */
let calm: Config;
/** The same with a day between polls: soon none is under way. */
let resting: Config;
let config: Config;
let handlesBefore: Record<string, number>;
let lines = 0;

const loadWhole = (interval: string, staleAfter: string, timeout: string) =>
  load(
    everything(simulator, {
      isNamed: true,
      interval,
      staleAfter,
      api: () => ({
        timeout,
        max_concurrency: 30,
        requests_per_second: 1000,
        max_retries: 1,
        // The origin errors of a busy zone are more than 300 kB late in the day; the fault of a long answer has 1 MB.
        max_response_bytes: 600_000,
      }),
      sections: { shield_zone: { targets: 'all' }, rate_limit: { targets: 'all' } },
    }),
  );

async function change(to: Config): Promise<void> {
  config = to;
  await exporter.reload();
}

beforeAll(async () => {
  handlesBefore = activeHandles();
  await simulator.start();
  whole = await loadWhole('1s', '3s', '1500ms');
  ({ config: calm } = await loadWhole('5s', '1m', '10s'));
  ({ config: resting } = await loadWhole('24h', '48h', '10s'));
  config = whole.config;
  exporter = await createExporter({
    load: () => Promise.resolve({ config, credentials: whole.credentials }),
    addresses: [],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    log: pino({ level: 'debug' }, { write: () => void lines++ }),
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
    latencyMs: random.below(300),
    retryAfterSeconds: random.below(2),
    decodedBytes: 1_000_000,
    depth: 10_000,
  };
}

/** Some of the targets, some with other settings, and sometimes another pace. */
function randomConfig(): Config {
  const share = random.pick([0.3, 0.7, 1]);
  const sections = whole.config.sections.map((section) => ({
    ...section,
    targets:
      section.targets === 'all'
        ? section.targets
        : section.targets
            .filter(() => random.unit() < share)
            .map((target) => ({ ...target, name: random.unit() < 0.5 ? target.name : 'renamed' })),
  }));
  const maxConcurrency = random.pick([20, 30]);
  const application = { ...whole.config.apis.application, maxConcurrency };
  return {
    ...whole.config,
    // Other kinds still use the API, so its requests stay counted.
    sections: random.unit() < 0.1 ? sections.filter(({ kind }) => kind !== 'rate_limit') : sections,
    apis: { ...whole.config.apis, application },
  };
}

const restores: (() => void)[] = [];

/** One random event. */
async function happen(): Promise<void> {
  const what = random.below(10);
  if (what < 5) setTimeout(simulator.inject(randomFault()), random.pick([100, 500, 2000]));
  else if (what < 7) {
    await change(randomConfig());
  } else if (what < 8) {
    const { ids } = random.pick(random.pick(allKinds).targets(simulator));
    restores.push(simulator.remove(Object.values(ids).at(-1) ?? ''));
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
}

const seen = (of: readonly OperationName[]) =>
  of.reduce((sum, operation) => sum + simulator.counters[operation].requests, 0);
const seenBy = (api: ApiName) => seen(operations.filter((one) => one.api === api).map(({ name }) => name));
const polls = async () => (await readPage(exporter)).sum('bunnynet_exporter_polls_total{');

/** How far the counts of the exporter are from what arrived, for each API: zero once none is under way. One that is aborted may not have arrived. */
async function differences(): Promise<readonly number[]> {
  const page = await readPage(exporter);
  const counted = (api: ApiName, labels = '') =>
    page.sum(`bunnynet_exporter_api_requests_total{api="${api}"${labels}`);
  return apiNames.map((api) => {
    const missing = seenBy(api) - counted(api);
    return Math.max(missing, -missing - counted(api, ',code="aborted"'), 0);
  });
}

/** How many targets of each kind are up, out of how many. */
async function upByKind(): Promise<Record<string, number>> {
  const page = await readPage(exporter);
  return Object.fromEntries(
    resources.map(({ kind, metricPrefix }) => [kind, page.sum(`${metricPrefix}_up{`)]),
  );
}

const allUp = Object.fromEntries(allKinds.map(({ kind, targets }) => [kind, targets(simulator).length]));

/** Waits until every target has recovered; the heap then, without polls under way: those hold up to 10 MB of answers. */
async function heapOnceAllIsUp(): Promise<number> {
  await change(calm);
  // A pause after a 429 can last a while.
  await expect.poll(upByKind, { interval: 500 }).toEqual(allUp);
  await change(resting);
  let arrived = -1;
  const isAtRest = async () => {
    const before = arrived;
    arrived = seen(operations.map(({ name }) => name));
    return arrived === before && (await differences()).every((one) => one === 0);
  };
  // Polls that were due go on for an interval.
  await expect.poll(isAtRest, { interval: 6000 }).toBe(true);
  collectGarbage();
  const { heapUsed } = process.memoryUsage();
  await change(whole.config);
  return heapUsed;
}

/** Requests of one round of polls. */
function requestsOf({ operations: [operation], targets }: (typeof allKinds)[number]): number {
  const { length } = targets(simulator);
  return isPaged(operation) ? Math.ceil(length / maxPageSize) : length;
}

describe('a soak', () => {
  it('with random faults, reloads and changing targets leaks nothing and loses nothing', {
    timeout: 900_000,
  }, async () => {
    await exporter.pollOnce();
    await play(warmUpSteps);
    const heapBefore = await heapOnceAllIsUp();
    await play(soakSteps);
    const heapAfter = await heapOnceAllIsUp();
    expect(await polls()).toBeGreaterThan(5000);
    expect(lines).toBeGreaterThan(500);
    expect(heapAfter - heapBefore).toBeLessThan(heapBoundBytes);

    // No poll is lost: each goes on at its own interval.
    const before = new Map(operations.map(({ name }) => [name, seen([name])]));
    for (const kind of allKinds) {
      const { name } = kind.operations[0];
      await expect
        .poll(() => seen([name]) - (before.get(name) ?? 0))
        .toBeGreaterThanOrEqual(3 * requestsOf(kind));
    }

    // Nothing is wanted any more: once the requests under way have ended, both sides have counted the same.
    const sections = whole.config.sections.map((section) => ({ ...section, targets: [] }));
    await change({ ...whole.config, sections });
    await expect.poll(differences).toEqual(apiNames.map(() => 0));

    await exporter.stop();
    await simulator.stop();
    await expect.poll(activeHandles).toEqual(handlesBefore);
  });
});
