/**
 * A contender: a process that holds the readings and serves them as one page, either by the exporter's own store, handler
 * and server, or by prom-client, or as Buffers that never change.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipCallback, gzipSync } from 'node:zlib';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Store } from '../../src/exposition/store.ts';
import { createMetricsRoute } from '../../src/http/metrics-route.ts';
import { createWebServer } from '../../src/http/server.ts';
import { type FamilyRows, TargetStates } from '../../src/polling/target-states.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/index.ts';
import { hash } from '../../src/simulator/random.ts';
import { createTelemetry } from '../../src/telemetry.ts';
import { letGrowIfBusy, startSmall } from '../../src/v8.ts';
import { measuredKinds } from '../datasets.ts';
import { narrowedFile } from '../pages.ts';
import { serveCommands } from '../processes.ts';
import { readReadings, rowsOfTarget, type TargetReading, toTarget } from '../readings.ts';
import { stallMs } from '../statistics.ts';

/** Which applications a change is about: consecutive ones, as the scheduler polls them, or any. */
export type Spread = 'contiguous' | 'random';

/** Says that these rows are all that a target has. */
type Replace = (rows: readonly FamilyRows[]) => void;

interface Holder {
  /** The targets that there are. */
  expect(targets: readonly Omit<TargetReading, 'reading'>[]): void;
  /** A poll of one of them ended well. */
  take(reading: TargetReading): void;
  /** For a target that is expected, with all at hand that a poll of it would have. */
  replaceOf(target: TargetReading): Replace;
  /** Serves and resolves with the port. */
  serve(): Promise<number>;
}

const gzip = promisify<string | Buffer, Buffer>(gzipCallback);
const kinds = resources.map(({ kind }) => kind);
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

function listen(listener: RequestListener): Promise<number> {
  const server = createServer({ keepAliveTimeout: 600_000 }, listener);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** The exporter from the end of a poll to the socket, with the settings of V8 that the command makes. */
function holdAsExporter(): Holder {
  startSmall();
  const store = new Store(catalogue);
  const states = new TargetStates(store);
  const targetOf = (key: string) => {
    const target = states.status(key)?.target;
    if (!target) throw new Error(`${key} is not expected`);
    return target;
  };
  const kindsOn = resources.filter(({ kind }) => (measuredKinds as readonly string[]).includes(kind));
  const telemetry = createTelemetry(kindsOn, {
    targets: (kind) => states.counts(kind).targets,
    staleTargets: (kind) => states.counts(kind).stale,
    series: (kind) => store.series(kind),
    droppedSeries: (kind) => store.dropped(kind),
    listings: () => [],
    refusedKeys: () => 0,
    droppedLogLines: () => 0,
  });
  const handle = createMetricsRoute({
    store,
    kinds,
    ownMetrics: (format) => telemetry.render(format),
    beforeScrape: () => {
      letGrowIfBusy();
      states.dropStale();
    },
    maxConcurrentScrapes: 16,
    writeTimeoutMs: 30_000,
  });
  const log = { info: () => undefined, warn: () => undefined, error: console.error };
  return {
    expect(expected) {
      for (const one of expected) states.add(toTarget(one));
    },
    take({ key, reading, atMs }) {
      // As with each request to the API.
      letGrowIfBusy();
      states.succeeded(targetOf(key), reading, 0.1, atMs);
    },
    replaceOf({ key }) {
      const { kind, ids } = targetOf(key);
      return (rows) => store.set(key, kind, ids, rows);
    },
    async serve() {
      const server = createWebServer({
        addresses: [{ host: '127.0.0.1', port: 0 }],
        routes: [{ path: '/metrics', methods: ['GET'], handle }],
        log,
      });
      const [url = ''] = await server.start();
      return Number(new URL(url).port);
    },
  };
}

/** The usual way: a gauge a family, rendered and compressed at every scrape. */
function holdAsPromClient(): Holder {
  const registry = new Registry();
  const gauges = catalogue.map(
    ({ name, help, allLabels }) =>
      new Gauge({ name, help, labelNames: [...allLabels], registers: [registry] }),
  );
  const ownRegistry = new Registry();
  collectDefaultMetrics({ register: ownRegistry });
  const set = (ids: TargetReading['ids'], rows: readonly FamilyRows[]) => {
    for (const { family, samples } of rows) {
      for (const { labels, value } of samples) gauges[family]?.set({ ...ids, ...labels }, value);
    }
  };
  return {
    expect: () => undefined,
    take: (reading) => set(reading.ids, rowsOfTarget(reading)),
    replaceOf:
      ({ ids }) =>
      (rows) =>
        set(ids, rows),
    serve: () =>
      listen((request, response) => {
        const answer = async () => {
          const own = request.url?.includes('?kind=') ? '' : await ownRegistry.metrics();
          const text = `${await registry.metrics()}${own}`;
          response.setHeader('content-type', contentType);
          if (!request.headers['accept-encoding']?.includes('gzip')) return void response.end(text);
          response.setHeader('content-encoding', 'gzip').end(await gzip(text));
        };
        answer().catch((error: Error) => response.destroy(error));
      }),
  };
}

/** The least that a server can do: send bytes that are there. */
function holdAsBuffers(file: string): Holder {
  const read = (name: string) => {
    const identity = readFileSync(name);
    return { identity, gzip: gzipSync(identity) };
  };
  const whole = read(file);
  // Made by whoever asks for it.
  const narrowed = existsSync(narrowedFile(file)) ? read(narrowedFile(file)) : whole;
  return {
    expect: () => undefined,
    take: () => undefined,
    replaceOf: () => () => undefined,
    serve: () =>
      listen((request, response) => {
        const coded = request.headers['accept-encoding']?.includes('gzip') ?? false;
        const page = request.url?.includes('?kind=') ? narrowed : whole;
        const body = coded ? page.gzip : page.identity;
        if (coded) response.setHeader('content-encoding', 'gzip');
        response.setHeader('content-type', contentType).setHeader('content-length', body.length).end(body);
      }),
  };
}

const [mode = '', source = ''] = process.argv.slice(2);
const holders: Readonly<Record<string, () => Holder>> = {
  exporter: holdAsExporter,
  'prom-client': holdAsPromClient,
  static: () => holdAsBuffers(source),
};
const makeHolder = holders[mode];
if (!makeHolder) throw new Error(`there is no contender ${mode}`);
const holder = makeHolder();

const delay = monitorEventLoopDelay({ resolution: 1 });
let feeding: AbortController | undefined;

/** Takes readings in evenly over time, as polls that go on would, until it is stopped. */
async function feed(folder: string, version: number, perSecond: number, signal: AbortSignal): Promise<void> {
  const startedMs = performance.now();
  let taken = 0;
  for await (const target of readReadings(folder, version)) {
    holder.take(target);
    taken++;
    const aheadMs = (taken / perSecond) * 1000 - (performance.now() - startedMs);
    if (aheadMs > 1) await sleep(aheadMs, undefined, { signal });
    if (signal.aborted) return;
  }
}

const commands = {
  /** Takes a version of the readings in. */
  async fill({ folder }: { folder: string }) {
    const targets: Omit<TargetReading, 'reading'>[] = [];
    for await (const { reading: _, ...target } of readReadings(folder, 0)) targets.push(target);
    holder.expect(targets);
    for await (const target of readReadings(folder, 0)) holder.take(target);
  },
  serve: () => holder.serve(),
  /** A fifth of the applications is polled: the turn says which fifth, the version what is read. */
  async change(asked: {
    folder: string;
    version: number;
    turn: number;
    applications: number;
    spread: Spread;
  }) {
    const { folder, version, turn, applications, spread } = asked;
    const fifth = turn % 5;
    const isMeant =
      spread === 'contiguous'
        ? (at: number) => Math.floor((at * 5) / applications) === fifth
        : (at: number) => hash(at) % 5 === fifth;
    for await (const target of readReadings(folder, version, (at) => at < applications && isMeant(at))) {
      holder.take(target);
    }
  },
  /** Every value becomes another; resolves with the milliseconds that taking them in took, less the making of them. */
  async changeAll({ folder, by }: { folder: string; by: number }) {
    let tookMs = 0;
    let batch: { replace: Replace; rows: readonly FamilyRows[] }[] = [];
    const replaceAll = () => {
      const startedMs = performance.now();
      for (const { replace, rows } of batch) replace(rows);
      tookMs += performance.now() - startedMs;
      batch = [];
    };
    for await (const target of readReadings(folder, 0)) {
      const rows = rowsOfTarget(target).map(({ family, samples }) => ({
        family,
        samples: samples.map((sample) => ({ ...sample, value: sample.value + by })),
      }));
      batch.push({ replace: holder.replaceOf(target), rows });
      if (batch.length === 500) replaceAll();
    }
    replaceAll();
    return tookMs;
  },
  /** Begins to watch the event loop and, for a contender that is polled, to take readings in. */
  watch({ polls }: { polls?: { folder: string; version: number; perSecond: number } }) {
    delay.reset();
    delay.enable();
    if (!polls) return;
    feeding = new AbortController();
    feed(polls.folder, polls.version, polls.perSecond, feeding.signal).catch(() => undefined);
  },
  /** The longest stall since, in milliseconds. */
  unwatch() {
    feeding?.abort();
    delay.disable();
    return stallMs(delay);
  },
};
export type HoldCommands = typeof commands;

serveCommands(commands);
