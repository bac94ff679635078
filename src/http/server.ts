/**
 * The web server: it listens, keeps its clients within bounds, asks who they are where the web configuration says so,
 * hands requests to the routes that it is given, and stops in order. It knows nothing of polling or of what pages say.
 */
import { createServer as createHttp1Server, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  constants,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  Http2ServerResponse,
} from 'node:http2';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { answerText, rawAnswer, securityHeaders } from './answer.ts';
import { createBasicAuth } from './basic-auth.ts';
import { type Connection, Connections } from './connections.ts';
import { WholeHttp2Response } from './http2-response.ts';
import { defaultWebLimits, type WebLimits } from './limits.ts';
import { createPasswordCheck } from './password-check.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import type { Route, WebLog } from './route.ts';
import { createRouter } from './router.ts';
import type { TlsSettings } from './tls.ts';
import type { WebConfig } from './web-config.ts';
import { openWebConfig, type WebConfigSource } from './web-config-source.ts';

export interface ListenAddress {
  /** Every interface, over IPv6 and IPv4, without one. */
  readonly host?: string | undefined;
  /** 0 for any free one. */
  readonly port: number;
}

export interface WebServerOptions {
  readonly addresses: readonly ListenAddress[];
  readonly routes: readonly Route[];
  /** TLS, users, headers and rate limit, in the format of Prometheus' exporter-toolkit. */
  readonly webConfigFile?: string | undefined;
  readonly log: WebLog;
  readonly limits?: Partial<WebLimits>;
}

export interface WebServer {
  /**
   * Resolves with the URLs it listens on. Rejects, with nothing left open, where one address cannot be had or the web
   * configuration is not valid (`WebConfigError`).
   */
  start(): Promise<readonly string[]>;
  /** Takes no more connections, lets responses under way end for `graceMs`, then cuts the rest. */
  stop(graceMs: number): Promise<void>;
  /** Reads the web configuration again. Rejects with a `WebConfigError`, and keeps the last good one, where it is broken. */
  reload(): Promise<void>;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

const noConfig: WebConfig = {
  tls: undefined,
  http2: false,
  headers: new Map(),
  users: new Map(),
  rateLimit: undefined,
  files: [],
  warnings: [],
};

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop the process that has it, or choose another with --web.listen-address',
  EACCES: 'this user may not use the port; choose one above 1023 with --web.listen-address',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --web.listen-address',
  ENOTFOUND: 'the host name is unknown; check --web.listen-address',
};

function listen(server: TcpServer, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = listenErrors[error.code ?? ''] ?? error.message;
      const name = host?.includes(':') ? `[${host}]` : (host ?? '');
      reject(new Error(`cannot listen on ${name}:${port}: ${reason}`, { cause: error }));
    });
    // Without a host Node listens on `::` for IPv4 too, and on 0.0.0.0 where there is no IPv6.
    server.listen(host === undefined ? { port } : { host, port }, resolve);
  });
}

function urlOf(server: TcpServer, scheme: string): string {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  return `${scheme}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

/** The body is of no use to any page: it is read up to the bound and dropped. Resolves with false beyond the bound. */
function dropBody(request: Request, maxBytes: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return resolve(false);
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) resolve(false);
    });
    request.on('end', () => resolve(true));
    request.on('close', () => resolve(true));
  });
}

const statusOfParserError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** One line in so long at most: strangers shall not fill the log. */
const refusalLogIntervalMs = 10_000;

function createRefusalLog(log: WebLog): (client: string | undefined, reason: string) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (client, reason) => {
    if (performance.now() - lastMs < refusalLogIntervalMs) {
      unlogged += 1;
      return;
    }
    log.warn({ client, reason, unlogged }, 'A client was refused');
    lastMs = performance.now();
    unlogged = 0;
  };
}

/** What a request is refused with before a route is looked for, if it is. */
function refusal(request: Request, target: string, limits: WebLimits): number | undefined {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) return 400;
  if (request.headers.expect !== undefined && request.headers.expect.toLowerCase() !== '100-continue')
    return 417;
  if (target.length > limits.maxUrlLength) return 414;
  return undefined;
}

export function createWebServer(options: WebServerOptions): WebServer {
  const { addresses, routes, webConfigFile, log } = options;
  const limits = { ...defaultWebLimits, ...options.limits };
  const connections = new Connections(limits);
  const route = createRouter(routes, log);
  const passwords = createPasswordCheck();
  const auth = createBasicAuth(passwords);
  let source: WebConfigSource | undefined;
  let listeners: readonly TcpServer[] = [];

  /** Made anew whenever the configuration is another. */
  let limiter: { readonly config: WebConfig; readonly bucket: RateLimiter } | undefined;
  function withinRate(config: WebConfig): boolean {
    if (!config.rateLimit) return true;
    if (limiter?.config !== config) limiter = { config, bucket: createRateLimiter(config.rateLimit) };
    return limiter.bucket.allow(performance.now());
  }

  const refused = createRefusalLog(log);

  /** Counts the request; false where it is one too many, which is then cut, refused or left without answer. */
  function take(connection: Connection, response: Response): boolean {
    connection.requests += 1;
    const tooMany = connection.inFlight >= limits.maxRequestsInFlight;
    if (tooMany && response instanceof Http2ServerResponse) {
      response.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return false;
    }
    if (tooMany || connection.requests > limits.maxRequestsPerConnection + limits.maxRequestsInFlight) {
      connection.destroy();
      return false;
    }
    // What a client sends beyond the last request that is taken stays unanswered.
    if (connection.closing) return false;
    connection.begin(response);
    if (connection.requests >= limits.maxRequestsPerConnection) connection.close();
    return true;
  }

  async function answer(request: Request, response: Response, connection: Connection): Promise<void> {
    const config = source ? await source.current() : noConfig;
    const fixed = config.headers;
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    for (const [name, value] of fixed) response.setHeader(name, value);
    const target = request.url ?? '';

    const body = dropBody(request, limits.maxBodyBytes);
    let status = refusal(request, target, limits) ?? (withinRate(config) ? undefined : 429);
    status ??= await refusalToStranger(request, response, config);
    if (!(await body)) status ??= 413;
    // The client may have gone meanwhile.
    if (!connection.awaits(response)) return;
    if (status === undefined) return route(request, response, target, fixed);
    // One that keeps to HTTP may go on asking.
    if (![401, 429, 503].includes(status)) connection.close();
    answerText(response, status);
  }

  async function refusalToStranger(
    request: Request,
    response: Response,
    config: WebConfig,
  ): Promise<401 | 503 | undefined> {
    if (config.users.size === 0) return undefined;
    const { remoteAddress = '' } = request.socket;
    const { authorization } = request.headers;
    const verdict = await auth.judge(config.users, authorization, remoteAddress);
    if (verdict === 'allowed') return undefined;
    if (verdict === 'busy') {
      response.setHeader('Retry-After', '1');
      return 503;
    }
    if (authorization !== undefined) refused(remoteAddress, 'wrong user or password');
    response.setHeader('WWW-Authenticate', 'Basic');
    return 401;
  }

  function onRequest(request: Request, response: Response): void {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const connection = connections.of(request.socket);
    if (!connection) return void request.socket.destroy();
    if (!take(connection, response)) return;
    answer(request, response, connection).catch((err: unknown) => {
      log.error({ err }, 'A request could not be answered; it was cut');
      response.destroy();
    });
  }

  const http1 = createHttp1Server({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // Answered here, so that these answers too have the headers of every answer.
    requireHostHeader: false,
  });
  http1.on('request', onRequest);
  http1.on('checkExpectation', onRequest);
  http1.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || connections.of(socket)?.responding) socket.destroy();
    else socket.end(rawAnswer(statusOfParserError[error.code ?? ''] ?? 400), () => socket.destroy());
  });

  const http2 = createHttp2Server({
    Http2ServerResponse: WholeHttp2Response,
    maxHeaderListPairs: 128,
    settings: {
      enablePush: false,
      maxConcurrentStreams: limits.maxRequestsInFlight,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
  });
  http2.on('request', onRequest);
  http2.on('checkExpectation', onRequest);
  http2.on('session', (session) => {
    session.on('error', () => undefined);
    const connection = session.socket && connections.of(session.socket);
    if (connection) connection.session = session;
  });

  /** Begins with a handshake by the rules in force; a configuration has one TLS server, made anew when it is another. */
  let handshakes: { readonly config: WebConfig; readonly server: TlsServer } | undefined;
  async function handshake(socket: Socket, webConfig: WebConfigSource): Promise<void> {
    const config = await webConfig.current();
    if (!config.tls || socket.destroyed) return void socket.destroy();
    if (handshakes?.config !== config) handshakes = { config, server: tlsServerFor(config, config.tls) };
    handshakes.server.emit('connection', socket);
  }

  function tlsServerFor(config: WebConfig, tls: TlsSettings): TlsServer {
    const server = createTlsServer({
      ...tls.options,
      // Without HTTP/2 there is nothing to choose, so any offer is taken as HTTP/1.1, as Go's server does.
      ...(config.http2 ? { ALPNProtocols: ['h2', 'http/1.1'] } : {}),
      handshakeTimeout: limits.handshakeTimeoutMs,
    });
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      // Also what a probe of the port looks like, which connects and leaves.
      if (error.code !== 'ECONNRESET') refused(socket.remoteAddress, `TLS handshake: ${error.code}`);
      socket.destroy();
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', () => undefined);
      const connection = connections.of(socket);
      if (!connection) return void socket.destroy();
      if (!admitted(tls, socket)) {
        refused(
          socket.remoteAddress,
          `client certificate: ${socket.authorizationError ?? 'none, or not an allowed name'}`,
        );
        return void socket.destroy();
      }
      connection.socket = socket;
      (socket.alpnProtocol === 'h2' ? http2 : http1).emit('connection', socket);
    });
    return server;
  }

  /** A certificate that Node cannot read is no reason to fall over. */
  function admitted(tls: TlsSettings, socket: TLSSocket): boolean {
    try {
      return tls.admits(socket);
    } catch {
      return false;
    }
  }

  function accept(socket: Socket, secure: WebConfigSource | undefined): void {
    socket.on('error', () => undefined);
    // It is gone already.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    connections.add(socket);
    if (!secure) return void http1.emit('connection', socket);
    handshake(socket, secure).catch((err: unknown) => {
      log.error({ err }, 'A connection could not begin its handshake; it was cut');
      socket.destroy();
    });
  }

  async function stop(graceMs: number): Promise<void> {
    const closed = listeners.map(
      (listener) => new Promise<void>((resolve) => listener.close(() => resolve())),
    );
    connections.closeAll();
    const cut = setTimeout(() => connections.destroyAll(), graceMs);
    await Promise.all(closed);
    clearTimeout(cut);
    connections.destroyAll();
    http1.close();
    passwords.stop();
  }

  return {
    async start() {
      source = webConfigFile === undefined ? undefined : await openWebConfig(webConfigFile, log);
      const secure = (await source?.current())?.tls ? source : undefined;
      // node:http starts its timeouts when it listens; here it is given its connections instead.
      http1.emit('listening');
      // As node:http itself would: a client may end its side first.
      const tcp = { allowHalfOpen: true, noDelay: true };
      listeners = addresses.map(() => createTcpServer(tcp, (socket) => accept(socket, secure)));
      const results = await Promise.allSettled(
        listeners.map((listener, index) => listen(listener, addresses[index] ?? { port: 0 })),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) {
        await stop(0);
        throw failed.reason;
      }
      // From now on: what the system could not give, such as one more open file.
      for (const listener of listeners) {
        listener.on('error', (error: NodeJS.ErrnoException) =>
          refused(undefined, `accepting: ${error.code}`),
        );
      }
      return listeners.map((listener) => urlOf(listener, secure ? 'https' : 'http'));
    },

    stop,

    async reload() {
      await source?.reload();
    },
  };
}
