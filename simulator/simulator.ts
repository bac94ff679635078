/**
 * The bunny.net read API on loopback: an HTTP server whose answers depend on the seed, the entity and the time alone. It
 * shares nothing with the exporter, not even a type.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi } from './api.ts';
import { createDataset, createKeys, type Dataset, type Keys, type Shape, scales } from './dataset.ts';
import { count, hash } from './entities.ts';
import { faultTypes, tlsAlert } from './fault-types.ts';
import { createFaults, type Fault } from './faults.ts';
import { type ApiName, apiNames, prefixes, type Scale } from './kind.ts';
import { createRequestLog, type RequestLog } from './log.ts';
import { replyOf, sendReply } from './reply.ts';

export type { Counter, LoggedRequest } from './log.ts';

export interface SimulatorOptions {
  /** The same seed gives the same dataset and, at the same time, the same answers. Default 1. */
  readonly seed?: number;
  /** Default small. */
  readonly scale?: Scale;
  /** Sizes that replace those of the scale, one by one. */
  readonly shape?: Partial<Shape>;
  /** How many accounts the API has, each with a dataset and keys of its own. Default 1. */
  readonly accounts?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Keys that replace the generated ones of the first account, one by one. `account-2` opens the second one for the key `account`. */
  readonly keys?: Partial<Keys>;
  /** The most items on a page, even if a query requests more. Default 1000. */
  readonly maxPageSize?: number;
  /** Keep every request in `requests`, the newest 100,000. Default false; `counters` always count. */
  readonly logRequests?: boolean;
}

/** The things of an account, and its keys. */
export type SimulatedAccount = Dataset & { readonly keys: Keys };

/** Its own things and keys are those of the first account. */
export interface Simulator extends SimulatedAccount, Pick<RequestLog, 'counters' | 'requests'> {
  /** Listens on a free port of 127.0.0.1; after a `stop`, on the same one again. */
  start(): Promise<{ readonly origin: string }>;
  /** Ends every connection, also those that a fault keeps open. From then on the address refuses connections. */
  stop(): Promise<void>;
  /**
   * `http://127.0.0.1:port`, after `start`. With `https:` instead, every TLS handshake on this port fails.
   */
  readonly origin: string;
  readonly baseUrls: BaseUrls;
  /** All accounts, the first one too. */
  readonly accounts: readonly SimulatedAccount[];
  /** Replaces the valid key of an owner: `account`, or the id of a video library. */
  replaceKey(owner: string, key: string): void;
  /**
   * Adds a fault, which strikes from the next request on; the returned function removes it. Latencies add up; of other
   * faults the newest wins. Throws a RangeError for a fault that can never strike.
   */
  inject(fault: Fault): () => void;
  clearFaults(): void;
  /** Deletes an entity by its id, from listings too; the returned function brings it back. */
  remove(id: string): () => void;
  /** Renames an entity by its id. A Shield Zone has no name of its own, but that of its pull zone. */
  rename(id: string, name: string): void;
}

/** The base URL of each API. */
export type BaseUrls = Readonly<Record<ApiName, string>>;

export function baseUrlsOf(origin: string): BaseUrls {
  return Object.fromEntries(apiNames.map((api) => [api, origin + prefixes[api]])) as BaseUrls;
}

export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const { seed = 1, scale = 'small', now = Date.now, maxPageSize = 1_000, logRequests = false } = options;
  const shape = { ...scales[scale], ...options.shape };
  const dataset = createDataset(seed, shape);
  const made = createKeys(seed, dataset.libraryIds);
  const libraries: Record<string, string> = { ...made.libraries, ...options.keys?.libraries };
  const keys = { ...made, ...options.keys, libraries };
  const api = createApi({ dataset, keys, now, maxPageSize });
  const others = count((options.accounts ?? 1) - 1, (index) => {
    const own = createDataset(seed + 1 + index, shape);
    const ownKeys = {
      ...createKeys(seed + 1 + index, own.libraryIds),
      account: `${keys.account}-${index + 2}`,
    };
    return {
      account: { ...own, keys: ownKeys },
      api: createApi({ dataset: own, keys: ownKeys, now, maxPageSize }),
    };
  });
  /** Of the account that the key is of; a key of none is refused by the first. */
  const apiOf = (key: string | undefined) => others.find((other) => other.api.knows(key))?.api ?? api;
  const faults = createFaults(seed);
  const log = createRequestLog(logRequests);
  let requestCount = 0;
  /** 0, for any free port, until the first start; then kept, so that a further start has the same address. */
  let port = 0;
  const originNow = () => `http://127.0.0.1:${port}`;

  function respond(request: IncomingMessage, response: ServerResponse): void {
    requestCount += 1;
    request.resume();
    const figures = [1, 2, 3, 4].map((figure) => hash(seed, requestCount, figure));
    const id = figures.map((figure) => figure.toString(16).padStart(8, '0')).join('');
    response.setHeader('cdn-requestid', id);
    response.setHeader('date', new Date(now()).toUTCString());
    const { method = '', url = '/', headers } = request;
    const key = headers['accesskey']?.toString();
    const exchange = apiOf(key).handle({ method, url, key });
    const answered = log.arrived({ method, url, key }, exchange);
    const { operation, pages } = exchange;
    const right = replyOf(exchange.answer);
    const { fault, latencyMs } = operation
      ? faults.strike(operation, url)
      : { fault: undefined, latencyMs: 0 };

    const answer = () => {
      if (operation === undefined || fault === undefined) {
        answered(right.status);
        sendReply(response, right);
        return;
      }
      const { change, send = sendReply, isSilent } = faultTypes[fault.type];
      const situation = { operation, pages, sentKey: key ?? '', parameters: fault, origin: originNow() };
      const reply = change ? change(right, situation) : right;
      if (!isSilent) answered(reply.status);
      send(response, reply);
    };
    if (latencyMs === 0) {
      answer();
      return;
    }
    const timer = setTimeout(answer, latencyMs);
    response.once('close', () => clearTimeout(timer));
  }

  const server = createServer({ keepAlive: true, keepAliveTimeout: 75_000 }, respond);
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(tlsAlert, () => socket.destroy());
    else socket.destroy();
  });

  return {
    ...dataset,
    counters: log.counters,
    requests: log.requests,
    keys,
    accounts: [{ ...dataset, keys }, ...others.map(({ account }) => account)],
    get origin() {
      return originNow();
    },
    get baseUrls() {
      return baseUrlsOf(originNow());
    },
    async start() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
      return { origin: originNow() };
    },
    async stop() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
    replaceKey(owner, key) {
      if (owner === 'account') keys.account = key;
      else libraries[owner] = key;
    },
    inject: (fault) => faults.inject(fault),
    clearFaults: () => faults.clear(),
    remove: (id) => api.remove(id),
    rename: (id, name) => api.rename(id, name),
  };
}
