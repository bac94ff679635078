/**
 * The web server: it listens, keeps its clients within bounds, hands requests to the routes that it is given, and stops in
 * order. It knows nothing of polling or of what the pages say.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { answerText, rawAnswer, securityHeaders } from './answer.ts';
import { Connections } from './connections.ts';
import { defaultWebLimits, type WebLimits } from './limits.ts';
import type { Route, WebLog } from './route.ts';
import { createRouter } from './router.ts';

export interface ListenAddress {
  /** Every interface, over IPv6 and IPv4, without one. */
  readonly host?: string | undefined;
  /** 0 for any free one. */
  readonly port: number;
}

export interface WebServerOptions {
  readonly addresses: readonly ListenAddress[];
  readonly routes: readonly Route[];
  readonly log: WebLog;
  readonly limits?: Partial<WebLimits>;
}

export interface WebServer {
  /** Resolves with the URLs it listens on; rejects, with nothing left open, where one address cannot be had. */
  start(): Promise<readonly string[]>;
  /** Takes no more connections, lets responses under way end for `graceMs`, then cuts the rest. */
  stop(graceMs: number): Promise<void>;
}

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
function dropBody(request: IncomingMessage, maxBytes: number): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) resolve(false);
    });
    request.on('end', () => resolve(true));
    request.on('close', () => resolve(bytes <= maxBytes));
  });
}

const statusOfParserError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export function createWebServer(options: WebServerOptions): WebServer {
  const { addresses, routes, log } = options;
  const limits = { ...defaultWebLimits, ...options.limits };
  const connections = new Connections(limits);
  const route = createRouter(routes, log);
  const fixed: ReadonlyMap<string, string> = new Map();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const connection = connections.of(request.socket);
    if (!connection) return void request.socket.destroy();
    connection.requests += 1;
    if (
      connection.inFlight >= limits.maxRequestsInFlight ||
      connection.requests > limits.maxRequestsPerConnection + limits.maxRequestsInFlight
    ) {
      return connection.destroy();
    }
    // What a client sends beyond the last request that is taken stays unanswered.
    if (connection.closing) return;
    connection.begin(response);
    if (connection.requests >= limits.maxRequestsPerConnection) connection.close();
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    for (const [name, value] of fixed) response.setHeader(name, value);

    const target = request.url ?? '';
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      connection.close();
      return answerText(response, 400);
    }
    if (request.headers.expect !== undefined && request.headers.expect.toLowerCase() !== '100-continue') {
      connection.close();
      return answerText(response, 417);
    }
    if (target.length > limits.maxUrlLength) {
      connection.close();
      return answerText(response, 414);
    }
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > limits.maxBodyBytes || !(await dropBody(request, limits.maxBodyBytes))) {
      connection.close();
      return answerText(response, 413);
    }
    if (response.destroyed) return;
    await route(request, response, target, fixed);
  }

  const http1 = createHttpServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // Answered here, so that these answers too have the headers of every answer.
    requireHostHeader: false,
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch((err: unknown) => {
      log.error({ err }, 'A request could not be answered; it was cut');
      response.destroy();
    });
  };
  http1.on('request', onRequest);
  http1.on('checkExpectation', onRequest);
  http1.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || connections.of(socket)?.responding) socket.destroy();
    else socket.end(rawAnswer(statusOfParserError[error.code ?? ''] ?? 400), () => socket.destroy());
  });

  function accept(socket: Socket): void {
    socket.on('error', () => undefined);
    connections.add(socket);
    http1.emit('connection', socket);
  }

  let listeners: readonly TcpServer[] = [];

  return {
    async start() {
      // node:http starts its timeouts when it listens; here it is given its connections instead.
      http1.emit('listening');
      // As node:http itself would: a client may end its side first.
      listeners = addresses.map(() => createTcpServer({ allowHalfOpen: true, noDelay: true }, accept));
      const results = await Promise.allSettled(
        listeners.map((listener, index) => listen(listener, addresses[index] ?? { port: 0 })),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) {
        await this.stop(0);
        throw failed.reason;
      }
      return listeners.map((listener) => urlOf(listener, 'http'));
    },

    async stop(graceMs) {
      const closed = listeners.map(
        (listener) => new Promise<void>((resolve) => listener.close(() => resolve())),
      );
      connections.closeAll();
      const cut = setTimeout(() => connections.destroyAll(), graceMs);
      await Promise.all(closed);
      clearTimeout(cut);
      connections.destroyAll();
      http1.close();
    },
  };
}
