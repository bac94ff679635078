/**
 * Discovers an account: its listings and targets are compared and scheduled at twenty times the default pace, with a
 * client that answers at once, so that only the exporter's own work is measured.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pino from 'pino';
import { Pacer } from '../../src/api/pacer.ts';
import { apis } from '../../src/config/apis.ts';
import type { Config, SectionConfig } from '../../src/config/config.ts';
import { PollEngine } from '../../src/polling/engine.ts';
import { resources } from '../../src/resources/index.ts';
import { type ApiName, apiNames } from '../../src/resources/resource.ts';
import { measuredKinds } from '../datasets.ts';
import { serveCommands } from '../processes.ts';
import { stallMs } from '../statistics.ts';

interface Account {
  readonly applications: number;
  readonly zones: number;
  readonly endpointsPerZone: number;
  readonly libraries: number;
  readonly videosPerLibrary: number;
}

/** The size of a very large account. */
const accounts: Readonly<Record<number, Account>> = {
  92000: { applications: 20_000, zones: 1_000, endpointsPerZone: 20, libraries: 200, videosPerLibrary: 250 },
  5000: { applications: 2_000, zones: 100, endpointsPerZone: 18, libraries: 10, videosPerLibrary: 100 },
};
const hourMs = 3_600_000;
/** Times the default pace of each API. */
const haste = 20;
/** From one listing to the next, which finds the rename. */
const relistMs = 60_000;

/** One page of `count` things, from 1. */
function pageOf<Item>(count: number, page: number, perPage: number, make: (index: number) => Item): Item[] {
  const length = Math.max(0, Math.min(perPage, count - (page - 1) * perPage));
  return Array.from({ length }, (_, at) => make((page - 1) * perPage + at));
}

/** The API's answer for a path; `renamed` is the index of the renamed application. */
function answerTo(path: string, account: Account, renamed: number | undefined): unknown {
  const [route = '', query = ''] = path.split('?');
  const asked = new URLSearchParams(query);
  const page = Number(asked.get('page') ?? asked.get('nextCursor') ?? 1);
  const steps = route.split('/');
  if (route === '/apps') {
    const items = pageOf(account.applications, page, 1000, (i) => ({
      id: `app${i}`,
      name: i === renamed ? 'renamed' : `application ${i}`,
    }));
    const hasMore = page * 1000 < account.applications;
    return { items, meta: { totalItems: account.applications }, cursor: hasMore ? String(page + 1) : null };
  }
  if (route === '/pullzone' || route === '/videolibrary') {
    const count = route === '/pullzone' ? account.zones : account.libraries;
    const Items = pageOf(count, page, 100, (i) => ({
      Id: i + 1,
      Name: `name ${i}`,
      ApiKey: `key-of-thing-${i}`,
    }));
    return { Items, TotalItems: count, HasMoreItems: page * 100 < count };
  }
  if (route === '/shield/shield-zones') {
    const { zones } = account;
    const data = pageOf(zones, page, 100, (i) => ({ shieldZoneId: i + 1, pullZoneId: i + 1 }));
    const totalPages = Math.ceil(zones / 100);
    return { data, page: { totalCount: zones, totalPages, currentPage: page, nextPage: page + 1 } };
  }
  if (route.endsWith('/api-guardian')) {
    const endpoints = pageOf(account.endpointsPerZone, 1, 1000, (i) => ({
      apiGuardianEndpointId: Number(steps[3]) * 1000 + i,
      requestMethod: 'GET',
      requestPath: `/v1/${i}`,
    }));
    return { data: { endpoints } };
  }
  if (route.startsWith('/shield/rate-limits/')) {
    const totals = { totalCount: 1, totalPages: 1, currentPage: 1 };
    return { data: [{ id: Number(steps[3]), ruleName: 'login' }], page: totals };
  }
  if (route.endsWith('/videos')) {
    const { videosPerLibrary } = account;
    const items = pageOf(videosPerLibrary, page, 1000, (i) => ({
      guid: `${steps[2]}-${i}`,
      title: `video ${i}`,
    }));
    return { totalItems: videosPerLibrary, items };
  }
  if (route.endsWith('/storage')) return { success: true, data: { originals: 1 } };
  if (route.startsWith('/apps/')) return { monthlyCost: 1 };
  return { data: route.includes('/endpoint/') ? { totalBlockedRequests: 1 } : [] };
}

function paceOf(name: ApiName) {
  const { maxConcurrency, requestsPerSecond } = apis[name];
  return { maxConcurrency, requestsPerSecond: haste * requestsPerSecond };
}

function configOf(): Config {
  const api = (name: ApiName) => ({
    baseUrl: 'http://127.0.0.1:9',
    timeoutMs: 1000,
    ...paceOf(name),
    maxRetries: 0,
    maxResponseBytes: 1_000_000,
  });
  const section = (kind: string): SectionConfig => ({
    kind,
    credential: 'account',
    intervalMs: hourMs,
    staleAfterMs: 3 * hourMs,
    settings: { latency_unit: 'milliseconds', latency_chart: 'off' },
    targets: 'all',
  });
  return {
    credentials: {},
    apis: Object.fromEntries(apiNames.map((name) => [name, api(name)])) as Config['apis'],
    discovery: { intervalMs: relistMs },
    sections: measuredKinds.map(section),
    limits: { maxSeries: 1_000_000 },
  };
}

const ignore = () => undefined;

function createEngine(account: Account, renamed: () => number | undefined): PollEngine {
  const pacers = new Map(apiNames.map((name) => [name, new Pacer(paceOf(name))]));
  return new PollEngine({
    resources,
    store: { set: ignore, setFamily: ignore, delete: ignore, leaveOut: ignore, isOverfull: false },
    clientOf: () => ({
      async get({ path, permit }) {
        await nextTurn();
        permit?.release();
        return answerTo(path, account, renamed());
      },
    }),
    paceOf: (name) => pacers.get(name) as Pacer,
    observer: { polled: ignore, mismatched: ignore, unrecognized: ignore, started: ignore },
    log: pino({ level: 'silent' }),
    foundKeys: { learn: () => false, retain: () => [] },
    redact: (text) => text,
    owns: () => true,
  });
}

/** The size of the heap after a garbage collection. */
function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const delays = monitorEventLoopDelay({ resolution: 1 });

const commands = {
  /** Starts watching the event loop, and does nothing else. */
  idle: () => {
    delays.enable();
  },
  /** The longest stall so far, in milliseconds. */
  idled: () => stallMs(delays),
  async find({ targets }: { targets: number }) {
    const account = accounts[targets];
    if (!account) throw new Error(`there is no account of ${targets} targets`);
    const { applications } = account;
    let renamed: number | undefined;
    const engine = createEngine(account, () => renamed);
    const heapBefore = heapBytes();
    delays.enable();
    const startedMs = performance.now();
    const cpuBefore = process.cpuUsage();
    engine.apply(configOf());
    while ((engine.sizes['states'] ?? 0) < targets) await sleep(500);
    const foundMs = performance.now() - startedMs;
    const cpuMs = process.cpuUsage(cpuBefore).user / 1000;
    const foundStallMs = stallMs(delays);
    const bytesPerTarget = (heapBytes() - heapBefore) / targets;
    // Do not count the garbage collection above as a stall.
    await sleep(100);
    delays.reset();
    renamed = Math.floor(applications / 2);
    const key = `application/app${renamed}`;
    while (engine.states.status(key)?.target.name !== 'renamed') await sleep(50);
    const renameStallMs = stallMs(delays);
    delays.disable();
    await engine.stop();
    return { foundMs, cpuMs, bytesPerTarget, foundStallMs, renameStallMs };
  },
};
export type DiscoverCommands = typeof commands;

serveCommands(commands);
