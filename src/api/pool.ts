/** The connections to one API: how many, for how long, whom they trust, and through which proxy they go. */
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import tls from 'node:tls';
import type { ApiConfig } from '../config/config.ts';
import { type ForwardProxy, ProxyError, proxyOf } from './proxy.ts';
import { buildConnector, connect, type Dispatcher, errors, Pool, ProxyAgent } from './undici.ts';

/**
 * Connects to a host with several addresses, trying one after another, each for its share of the timeout. Node gives each 250 ms:
 * too little for one that is far away, if the others are dead.
 */
function connectorOf(options: buildConnector.BuildOptions & { readonly timeout: number }) {
  // Node has to know the share before it looks the host up. So it is that of the last time; at first, of an IPv4 and an IPv6 address.
  let addresses = 2;
  const lookup: LookupFunction = (host, about, found) =>
    dns.lookup(host, about, (error, list, family) => {
      if (Array.isArray(list)) addresses = Math.max(1, list.length);
      found(error, list, family);
    });
  const connector: buildConnector.connector = (target, callback) => {
    const autoSelectFamilyAttemptTimeout = Math.ceil(options.timeout / addresses);
    buildConnector({ ...options, autoSelectFamily: true, autoSelectFamilyAttemptTimeout, lookup })(
      target,
      callback,
    );
  };
  return withoutReconnecting(connector);
}

/**
 * After a request that was aborted, undici ends its connection with an error by which it knows that the request is still to be
 * made, and connects again for it: a host that hangs would get two connections for each request. With another error it does not.
 */
function withoutReconnecting(connector: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connector(target, (...[error, socket]) => {
      if (!socket) {
        callback(error ?? new Error('there is no connection'), null);
        return;
      }
      const destroy = socket.destroy.bind(socket);
      socket.destroy = (reason) =>
        destroy(reason?.message === 'aborted' ? new errors.RequestAbortedError() : reason);
      callback(null, socket);
    });
}

/**
 * The tunnels through a proxy. What fails before there is one is a `ProxyError`. (If a proxy closes the connection instead of
 * answering CONNECT, undici would take the error itself for that of a stale connection, and retry forever.)
 */
function createTunnels(origin: URL, settings: Pool.Options): Pool {
  const pool = new Pool(origin, settings);
  const connectOnce = (options: Dispatcher.ConnectOptions) =>
    connect.call(pool, options).catch((cause: Error) => {
      throw new ProxyError(cause);
    });
  return Object.assign(pool, { connect: connectOnce });
}

/** For an idle connection, unless the API says otherwise: longer than the usual minute between polls. */
const keepAliveMs = 70_000;

/** What Node trusts by default: the public authorities and those of NODE_EXTRA_CA_CERTS. */
function defaultAuthorities(): readonly string[] {
  // Node 20 does not have it.
  const { getCACertificates } = tls as typeof tls & { getCACertificates?: () => string[] };
  if (getCACertificates) return getCACertificates();
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  try {
    return [...tls.rootCertificates, ...(file ? [readFileSync(file, 'utf8')] : [])];
  } catch {
    // Node warned about it at the start.
    return tls.rootCertificates;
  }
}

/** Connections are made anew after this time, since the host's name may mean another address by then. */
const maxAgeMs = 5 * 60_000;

/** And after so many failures in a row, of whatever kind: the old address of a host may still answer, such as with 503. */
const maxFailures = 3;

/** What requests are sent with: a pool of connections to one API. */
export interface Sender {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
  /** Resolves once the requests under way have ended. */
  close(): Promise<void>;
  /** Ends the requests under way, too. */
  destroy(): Promise<void>;
}

/** Throws if the settings cannot be used. */
export type CreateSender = (config: ApiConfig, proxy: ForwardProxy | undefined) => Sender;

/** Connections that were begun since a time, until those of the next generation replace them. */
export interface Generation {
  readonly dispatcher: Sender;
  readonly begunAtMs: number;
  /** How many requests have failed since the last success. */
  failures: number;
}

/** The connections for new requests. Those under way end on the connections that they began on. */
export class Connections {
  readonly #create: () => Sender;
  readonly #uptimeMs: () => number;
  #current: Generation;
  #isClosed = false;

  /** Throws if the settings cannot be used. uptimeMs: a clock that never jumps. */
  constructor(
    config: ApiConfig,
    proxy: ForwardProxy | undefined,
    uptimeMs: () => number,
    create: CreateSender = createPool,
  ) {
    this.#create = () => create(config, proxy);
    this.#uptimeMs = uptimeMs;
    this.#current = this.#begin();
  }

  /** For the next request, which notes there whether it failed. */
  current(): Generation {
    const { begunAtMs, failures } = this.#current;
    const isOver = failures >= maxFailures || this.#uptimeMs() - begunAtMs > maxAgeMs;
    if (isOver && !this.#isClosed) {
      void this.#current.dispatcher.close();
      this.#current = this.#begin();
    }
    return this.#current;
  }

  /** Resolves once the requests under way have ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#current.dispatcher.close();
  }

  /** Ends the requests under way, too. */
  destroy(): Promise<void> {
    this.#isClosed = true;
    return this.#current.dispatcher.destroy();
  }

  #begin(): Generation {
    return { dispatcher: this.#create(), begunAtMs: this.#uptimeMs(), failures: 0 };
  }
}

/** The credentials of a proxy whose address has a user without a password: undici sends them only where both are there. */
function userAlone(url: string): { readonly token?: string } {
  const { username, password } = new URL(url);
  if (username === '' || password !== '') return {};
  return { token: `Basic ${Buffer.from(`${decodeURIComponent(username)}:`).toString('base64')}` };
}

export function createPool(config: ApiConfig, proxy: ForwardProxy | undefined): Dispatcher {
  const { baseUrl, authorities, timeoutMs } = config;
  const verified = {
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
    // Without it undici would wait for a connection long after the request gave up.
    timeout: timeoutMs,
  };
  const { minVersion } = verified;
  // One for all connections: with `ca` alone, each would read all of these certificates anew, which holds up everything for 20 ms.
  const trust =
    authorities === undefined
      ? verified
      : {
          ...verified,
          secureContext: tls.createSecureContext({ ca: [...defaultAuthorities(), authorities], minVersion }),
        };
  const options = {
    connections: config.maxConcurrency,
    pipelining: 1,
    maxResponseSize: config.maxResponseBytes,
    keepAliveTimeout: keepAliveMs,
    // Each request has one deadline for all of it instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const through = proxyOf(baseUrl, proxy);
  if (!through) return new Pool(new URL(baseUrl).origin, { ...options, connect: connectorOf(trust) });
  return new ProxyAgent({
    ...options,
    uri: through.url,
    ...userAlone(through.url),
    requestTls: trust,
    factory: (origin: URL, settings: Pool.Options & { readonly connect: buildConnector.connector }) =>
      new Pool(origin, { ...settings, connect: withoutReconnecting(settings.connect) }),
    // A CONNECT that is never answered must not outlive its request.
    clientFactory: (origin, settings) =>
      createTunnels(origin, { ...settings, connect: connectorOf(verified), headersTimeout: timeoutMs }),
  });
}
