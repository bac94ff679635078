/**
 * A contender: a process that holds the readings and serves them as one page, with the exporter's own store, handler and
 * server, with prom-client, or as Buffers that never change.
 */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip as gzipCallback, gzipSync } from 'node:zlib';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { answersOf } from '../../src/causes/answers.ts';
import { Store } from '../../src/exposition/store.ts';
import { createMetricsRoute } from '../../src/http/metrics-route.ts';
import { WebServer } from '../../src/http/server.ts';
import { neverPolled } from '../../src/polling/loop.ts';
import { type FamilyRows, TargetStates } from '../../src/polling/target-states.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/index.ts';
import { createTelemetry } from '../../src/telemetry.ts';
import { measuredKinds } from '../datasets.ts';
import { serveCommands } from '../processes.ts';
import { readReadings, rowsOfTarget, type TargetReading, toTarget } from '../readings.ts';

/** Replaces all rows of a target. */
type Replace = (rows: readonly FamilyRows[]) => void;

interface Holder {
  /** Adds these targets. */
  expect(targets: readonly Omit<TargetReading, 'reading'>[]): void;
  /** Stores the reading of a successful poll. */
  take(reading: TargetReading): void;
  /** Prepares to replace the rows of a target, so that lookups are not measured. */
  replaceOf(target: TargetReading): Replace;
  /** Starts to serve; resolves with the port. */
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

const polled = { record: neverPolled };

/** The exporter from the end of a poll to the socket. */
function holdAsExporter(): Holder {
  const store = new Store(catalogue);
  const states = new TargetStates(store);
  const targetOf = (key: string) => {
    const target = states.status(key)?.target;
    if (!target) throw new Error(`${key} is not expected`);
    return target;
  };
  const kindsOn = resources.filter(({ kind }) => (measuredKinds as readonly string[]).includes(kind));
  const telemetry = createTelemetry(kindsOn, {
    counts: () => states.counts(),
    store,
    listings: () => [],
    answers: () => answersOf([], 0),
    capacities: () => [],
    configuration: () => ({ loadedAtMs: 0, refused: undefined }),
    droppedLogLines: () => 0,
  });
  const handle = createMetricsRoute({
    store,
    kinds,
    ownMetrics: (format) => telemetry.render(format),
    beforeScrape: () => {
      states.dropStale();
    },
  });
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };
  return {
    expect(expected) {
      for (const one of expected) states.add(toTarget(one), polled);
    },
    take({ key, reading, atMs }) {
      states.succeeded(key, reading, atMs);
    },
    replaceOf({ key }) {
      const { kind, ids } = targetOf(key);
      return (rows) => store.set(key, kind, ids, rows);
    },
    async serve() {
      const server = new WebServer({
        addresses: [{ host: '127.0.0.1', port: 0 }],
        routes: [{ path: '/metrics', methods: ['GET'], handle }],
        log,
      });
      const [url = ''] = await server.start();
      return Number(new URL(url).port);
    },
  };
}

/** The usual way with prom-client: a gauge for each family, rendered and compressed at every scrape. */
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
          const text = `${await registry.metrics()}${await ownRegistry.metrics()}`;
          response.setHeader('content-type', contentType);
          if (!request.headers['accept-encoding']?.includes('gzip')) return void response.end(text);
          response.setHeader('content-encoding', 'gzip').end(await gzip(text));
        };
        answer().catch((error: Error) => response.destroy(error));
      }),
  };
}

/** The minimum for a server: sends bytes from memory. */
function holdAsBuffers(file: string): Holder {
  const identity = readFileSync(file);
  const compressed = gzipSync(identity);
  return {
    expect: () => undefined,
    take: () => undefined,
    replaceOf: () => () => undefined,
    serve: () =>
      listen((request, response) => {
        const coded = request.headers['accept-encoding']?.includes('gzip') ?? false;
        const body = coded ? compressed : identity;
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

const commands = {
  /** Stores a version of the readings. */
  async fill({ folder }: { folder: string }) {
    const targets: Omit<TargetReading, 'reading'>[] = [];
    for await (const { reading: _, ...target } of readReadings(folder, 0)) targets.push(target);
    holder.expect(targets);
    for await (const target of readReadings(folder, 0)) holder.take(target);
  },
  serve: () => holder.serve(),
  /** Polls a fifth of the applications: `turn` says which, `version` what is read. */
  async change(asked: { folder: string; version: number; turn: number; applications: number }) {
    const { folder, version, turn, applications } = asked;
    const isMeant = (at: number) => at < applications && Math.floor((at * 5) / applications) === turn % 5;
    for await (const target of readReadings(folder, version, isMeant)) holder.take(target);
  },
  /** Changes every value; resolves with the milliseconds that the contender took to store them. */
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
};
export type HoldCommands = typeof commands;

serveCommands(commands);
