/**
 * The bunny.net read API on loopback: an HTTP server whose answers depend on the seed, the entity and the time alone. It
 * shares nothing with the exporter, not even a type.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi } from './api.ts';
import { createDataset, createKeys, type Dataset, type Keys, type Shape, scales } from './dataset.ts';
import type { Situation } from './fault.ts';
import { faultTypes, tlsAlert } from './fault-types.ts';
import { createFaults, type Fault, type Strike } from './faults.ts';
import { type ApiName, prefixes, type Scale } from './kind.ts';
import { createRequestLog, type RequestLog } from './log.ts';
import { hash } from './random.ts';
import { type Reply, replyOf, sendReply } from './reply.ts';

export type { Counter, SeenRequest } from './log.ts';

export interface SimulatorOptions {
  /** The same seed gives the same dataset and, at the same time, the same answers. Default 1. */
  readonly seed?: number;
  /** Default small: about 4,000 series; medium 70,000; full 700,000. */
  readonly scale?: Scale;
  /** Sizes that replace those of the scale, one by one. */
  readonly shape?: Partial<Shape>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Keys that replace the generated ones, one by one. */
  readonly keys?: Partial<Keys>;
  /** Items on a page at most, whatever a query asks for. Default 1000. */
  readonly maxPageSize?: number;
  /** Keep every request in `requests`, the newest 100,000. Default false; `counters` always count. */
  readonly logRequests?: boolean;
}

export interface Simulator extends Dataset, Pick<RequestLog, 'counters' | 'requests'> {
  /** Listens on a free port of 127.0.0.1; after a `stop`, on the same one again. */
  start(): Promise<{ readonly origin: string }>;
  /** Ends every connection, also those that a fault keeps open. From then on the address refuses connections. */
  stop(): Promise<void>;
  /**
   * `http://127.0.0.1:port`; throws before `start`. Asked with `https:` instead, the same port breaks every TLS handshake.
   */
  readonly origin: string;
  /** Throws before `start`. */
  readonly baseUrls: BaseUrls;
  readonly keys: Keys;
  /** From now on another key is the right one: of the account, or of the library with this id. */
  replaceKey(owner: string, key: string): void;
  /**
   * Puts in a fault, which strikes from the next request on; the returned function removes it. Latencies add up; of other
   * faults that strike the same request the newest plays. Throws a RangeError for a fault that can never strike.
   */
  inject(fault: Fault): () => void;
  clearFaults(): void;
  /** Deletes an entity by its id, from listings too; the returned function brings it back. */
  remove(id: string): () => void;
  /** Renames an entity by its id. A Shield Zone has no name of its own: it is called as its pull zone is. */
  rename(id: string, name: string): void;
}

/** The base URL of each API. */
export type BaseUrls = Readonly<Record<ApiName, string>>;

export function baseUrlsOf(origin: string): BaseUrls {
  const entries = Object.entries(prefixes).map(([api, prefix]) => [api, origin + prefix]);
  return Object.fromEntries(entries) as BaseUrls;
}

export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const { seed = 1, now = Date.now, maxPageSize = 1_000, logRequests = false } = options;
  const dataset = createDataset(seed, { ...scales[options.scale ?? 'small'], ...options.shape });
  const { keys, replaceKey } = createKeyring(createKeys(seed, dataset.libraryIds), options.keys);
  const api = createApi({ dataset, keys, now, maxPageSize });
  const faults = createFaults(seed, now);
  const log = createRequestLog(logRequests);
  let requestCount = 0;

  const listener = createListener((request, response) => {
    requestCount += 1;
    request.resume();
    response.setHeader('cdn-requestid', requestId(seed, requestCount));
    const key = request.headers['accesskey'];
    const asked = {
      method: request.method ?? '',
      url: request.url ?? '/',
      key: typeof key === 'string' ? key : undefined,
    };
    const exchange = api.ask(asked);
    const answered = log.arrived(asked, exchange);
    const { operation, parts } = exchange;
    const strike = operation && faults.strike(operation.name, parts);
    const right = replyOf(exchange.answer);
    if (operation === undefined || strike === undefined) {
      answered(right.status);
      sendReply(response, right);
      return;
    }
    const { pages } = exchange;
    const sentKey = asked.key ?? '';
    const situation = {
      operation,
      pages,
      sentKey,
      parameters: strike.fault ?? {},
      origin: listener.origin(),
    };
    play(strike, situation, right, response, answered);
  });

  return {
    ...dataset,
    counters: log.counters,
    requests: log.requests,
    keys,
    get origin() {
      return listener.origin();
    },
    get baseUrls() {
      return baseUrlsOf(listener.origin());
    },
    start: () => listener.start(),
    stop: () => listener.stop(),
    replaceKey,
    inject: (fault) => faults.inject(fault),
    clearFaults: () => faults.clear(),
    remove: (id) => api.remove(id),
    rename: (id, name) => api.rename(id, name),
  };
}

/** Answers as the fault wants it, after the latency. */
function play(
  { fault, latencyMs }: Strike,
  situation: Situation,
  right: Reply,
  response: ServerResponse,
  answered: (status: number) => void,
): void {
  const answer = () => {
    const { change, wire } = fault ? faultTypes[fault.type] : {};
    if (wire) {
      if (wire.sendsHead) answered(right.status);
      wire.send(response, right);
      return;
    }
    const reply = change ? change(right, situation) : right;
    answered(reply.status);
    sendReply(response, reply);
  };
  if (latencyMs === 0) {
    answer();
    return;
  }
  const timer = setTimeout(answer, latencyMs);
  response.once('close', () => clearTimeout(timer));
}

function createKeyring(generated: Keys, given: Partial<Keys> = {}) {
  const libraries: Record<string, string> = { ...generated.libraries, ...given.libraries };
  const readOnlyLibraries = { ...generated.readOnlyLibraries, ...given.readOnlyLibraries };
  const keys = { account: given.account ?? generated.account, libraries, readOnlyLibraries };
  const replaceKey = (owner: string, key: string): void => {
    if (owner === 'account') keys.account = key;
    else libraries[owner] = key;
  };
  return { keys, replaceKey };
}

/** The server on its port: one free at the first start, kept so that a second start is at the same address. */
function createListener(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  let port = 0;
  const server = createServer({ keepAlive: true, keepAliveTimeout: 75_000 }, handle);
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(tlsAlert, () => socket.destroy());
    else socket.destroy();
  });
  const origin = (): string => {
    if (port === 0) throw new Error('The simulator was never started.');
    return `http://127.0.0.1:${port}`;
  };
  return {
    origin,
    async start(): Promise<{ readonly origin: string }> {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => {
          server.removeListener('error', reject);
          resolve();
        });
      });
      port = (server.address() as AddressInfo).port;
      return { origin: origin() };
    },
    async stop(): Promise<void> {
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function requestId(seed: number, requestCount: number): string {
  return [1, 2, 3, 4]
    .map((figure) => hash(seed, requestCount, figure).toString(16).padStart(8, '0'))
    .join('');
}
