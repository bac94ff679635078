/**
 * A contender that holds a page of the exporter and serves it: with prom-client, as Buffers that never change, or with the
 * exporter's own store alone, whose values can be changed at once.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { gzip as gzipCallback, gzipSync } from 'node:zlib';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Store, type StoredTarget } from '../../src/exposition/store.ts';
import { createMetricsRoute } from '../../src/http/metrics-route.ts';
import { allLabelsOf, catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { serveCommands } from '../processes.ts';

export type Mode = 'buffer' | 'prom-client' | 'store';

type Labels = Record<string, string>;

/** A series of a target. */
interface Row {
  /** Its place in the catalogue. */
  readonly family: number;
  readonly labels: Labels;
  readonly value: number;
}

interface Holder {
  /** Takes the page. */
  readonly fill: () => Promise<void>;
  readonly answer: RequestListener;
  /** Adds to every value; resolves with the milliseconds that storing them took. */
  readonly changeAll: (by: number) => Promise<number>;
}

const [mode = '', page = ''] = process.argv.slice(2);
const gzip = promisify<string | Buffer, Buffer>(gzipCallback);
const contentType = 'text/plain; version=0.0.4; charset=utf-8';
const families = new Map(catalogue.map(({ name }, index) => [name, index]));

/** The series of targets on the page, one by one, so that no contender holds more than it needs. */
async function* rows(): AsyncGenerator<Row> {
  for await (const line of createInterface({ input: createReadStream(page) })) {
    const [, name = '', labels = '', value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    const family = families.get(name);
    if (family === undefined) continue;
    const pairs = [...labels.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)];
    yield {
      family,
      labels: Object.fromEntries(
        pairs.map(([, label = '', text = '']) => [label, JSON.parse(text) as string]),
      ),
      value: Number(value),
    };
  }
}

/** The usual way with prom-client: a gauge for each family, rendered and compressed at every scrape. */
function holdInPromClient(): Holder {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauges = catalogue.map(
    (family) =>
      new Gauge({
        name: family.name,
        help: family.help,
        labelNames: [...allLabelsOf(family)],
        registers: [registry],
      }),
  );
  const answer = async (...[{ headers }, response]: Parameters<RequestListener>) => {
    const text = await registry.metrics();
    response.setHeader('content-type', contentType);
    if (!headers['accept-encoding']?.includes('gzip')) return void response.end(text);
    response.setHeader('content-encoding', 'gzip').end(await gzip(text));
  };
  return {
    async fill() {
      for await (const { family, labels, value } of rows()) gauges[family]?.set(labels, value);
    },
    answer: (request, response) =>
      void answer(request, response).catch((error: Error) => response.destroy(error)),
    async changeAll(by) {
      const all: Row[] = [];
      for await (const row of rows()) all.push({ ...row, value: row.value + by });
      const startedMs = performance.now();
      for (const { family, labels, value } of all) gauges[family]?.set(labels, value);
      return performance.now() - startedMs;
    },
  };
}

/** The exporter from the end of a poll to the socket. */
function holdInStore(): Holder {
  const store = new Store(catalogue);
  const kinds = resources.map(({ kind }) => kind);
  const idLabels = new Map(resources.map(({ kind, ids }) => [kind, ids.map(({ label }) => label)]));
  const handle = createMetricsRoute({ store, kinds, ownMetrics: () => Promise.resolve([]) });
  const stored = new Map<string, StoredTarget>();
  const changeAll = async (by: number) => {
    const targets = new Map<string, Map<number, Omit<Row, 'family'>[]>>();
    for await (const { family, labels, value } of rows()) {
      const kind = catalogue[family]?.kind ?? '';
      const ids = Object.fromEntries((idLabels.get(kind) ?? []).map((label) => [label, labels[label] ?? '']));
      const key = [kind, ...Object.values(ids)].join('/');
      if (!stored.has(key)) stored.set(key, store.add(kind, ids));
      const ofTarget = targets.get(key) ?? new Map<number, Omit<Row, 'family'>[]>();
      targets.set(key, ofTarget);
      const own = Object.fromEntries(Object.entries(labels).filter(([label]) => !(label in ids)));
      ofTarget.set(family, [...(ofTarget.get(family) ?? []), { labels: own, value: value + by }]);
    }
    const all = Array.from(targets, ([key, ofTarget]) => {
      return { key, families: Array.from(ofTarget, ([family, samples]) => ({ family, samples })) };
    });
    const startedMs = performance.now();
    for (const { key, families } of all) stored.get(key)?.set(families);
    return performance.now() - startedMs;
  };
  return {
    fill: async () => void (await changeAll(0)),
    answer: (request, response) => void handle(request, response, new URLSearchParams()),
    changeAll,
  };
}

/** The minimum for a server: sends bytes from memory. */
function holdAsBuffers(): Holder {
  const identity = readFileSync(page);
  const compressed = gzipSync(identity);
  return {
    fill: () => Promise.resolve(),
    answer(request, response) {
      const isCoded = request.headers['accept-encoding']?.includes('gzip') ?? false;
      const body = isCoded ? compressed : identity;
      if (isCoded) response.setHeader('content-encoding', 'gzip');
      response.setHeader('content-type', contentType).setHeader('content-length', body.length).end(body);
    },
    changeAll: () => Promise.reject(new Error('a static Buffer does not change')),
  };
}

const holders: Readonly<Record<Mode, () => Holder>> = {
  buffer: holdAsBuffers,
  'prom-client': holdInPromClient,
  store: holdInStore,
};

const holder = holders[mode as Mode]();

const commands = {
  /** Takes the page and starts to serve; resolves with the port. */
  async serve() {
    await holder.fill();
    const server = createServer({ keepAliveTimeout: 600_000 }, holder.answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
  changeAll: ({ by }: { by: number }) => holder.changeAll(by),
};
export type HoldCommands = typeof commands;

serveCommands(commands);
