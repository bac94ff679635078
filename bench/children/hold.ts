/** A contender: holds a page of the exporter with prom-client and serves it, as a program of one's own would. */
import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { allLabelsOf, catalogue } from '../../src/resources/catalogue.ts';
import { serveCommands } from '../processes.ts';

/** A series of a target. */
interface Row {
  /** Its place in the catalogue. */
  readonly family: number;
  readonly labels: Record<string, string>;
  readonly value: number;
}

const [page = ''] = process.argv.slice(2);
const gzip = promisify<string | Buffer, Buffer>(gzipCallback);
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

/** The usual way: everything is rendered and compressed at every scrape. */
async function answer({ headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await registry.metrics();
  response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
  if (!headers['accept-encoding']?.includes('gzip')) return void response.end(text);
  response.setHeader('content-encoding', 'gzip').end(await gzip(text));
}

const commands = {
  /** Takes the page and starts to serve; resolves with the port. */
  async serve() {
    for await (const { family, labels, value } of rows()) gauges[family]?.set(labels, value);
    const server = createServer(
      { keepAliveTimeout: 600_000 },
      (request, response) => void answer(request, response).catch((error: Error) => response.destroy(error)),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
};
export type HoldCommands = typeof commands;

serveCommands(commands);
