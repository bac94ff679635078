/** One listening address: a server of node:http or node:https with the limits, and with TLS that follows the configuration. */
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { rawAnswer } from './answer.ts';
import type { Connections } from './connections.ts';
import type { WebLimits } from './limits.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { TlsSettings } from './tls.ts';

export interface ListenAddress {
  /** Every interface, over IPv6 and IPv4, without one. */
  readonly host?: string | undefined;
  /** 0 for any free one. */
  readonly port: number;
}

export type Listener = HttpServer | HttpsServer;

export interface ListenerOptions {
  /** The settings for the next handshake; always the same object while they do not change. Plain HTTP without it. */
  readonly tls: (() => TlsSettings) | undefined;
  readonly connections: Connections;
  readonly limits: WebLimits;
  readonly logRefusal: RefusalLog;
}

const statusOfParserError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export function createListener({ tls, connections, limits, logRefusal }: ListenerOptions): Listener {
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // A missing host is refused by our own code, so that the answer has the headers of every answer.
    requireHostHeader: false,
  };
  // Loaded where it is wanted: many do without TLS, and it takes a tenth of the time to start.
  const server = tls
    ? process.getBuiltinModule('node:https').createServer({
        ...options,
        ...tls().options,
        handshakeTimeout: limits.handshakeTimeoutMs,
      })
    : createHttpServer(options);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const code = error.code ?? '';
    const isHttp = code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (!isHttp || !socket.writable || connections.of(socket)?.isResponding) socket.destroy();
    else socket.end(rawAnswer(statusOfParserError[code] ?? 400), () => socket.destroy());
  });
  // Before Node's own listeners, which begin the handshake or wait for a request.
  server.prependListener('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    if (socket.remoteAddress === undefined) socket.destroy();
    else connections.add(socket);
  });
  if (tls && 'setSecureContext' in server) followTls(server, tls, logRefusal);
  return server;
}

/** Uses changed settings from the next handshake on, and cuts clients whose certificates the settings do not allow. */
function followTls(server: HttpsServer, current: () => TlsSettings, logRefusal: RefusalLog): void {
  let settings = current();
  server.prependListener('connection', () => {
    const next = current();
    if (next === settings) return;
    settings = next;
    server.setSecureContext(next.options);
    // Node reads these of the server at each handshake, and its types do not have them.
    const { requestCert, rejectUnauthorized } = next.options;
    Object.assign(server, { requestCert, rejectUnauthorized });
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // A probe of the port, which connects and leaves, is a reset too.
    if (error.code !== 'ECONNRESET') logRefusal(socket.remoteAddress, `TLS handshake: ${error.code}`);
    socket.destroy();
  });
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (isAdmitted(settings, socket)) return;
    const reason = socket.authorizationError ?? 'none, or not an allowed name';
    logRefusal(socket.remoteAddress, `client certificate: ${reason}`);
    socket.destroy();
  });
}

/** A certificate that Node cannot read is refused like any other. */
function isAdmitted(settings: TlsSettings, socket: TLSSocket): boolean {
  try {
    return settings.admits(socket);
  } catch {
    return false;
  }
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop the process that has it, or choose another with --web.listen-address',
  EACCES: 'this user may not use the port; choose one above 1023 with --web.listen-address',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --web.listen-address',
  ENOTFOUND: 'the host name is unknown; check --web.listen-address',
};

export function listen(server: Listener, { host, port }: ListenAddress): Promise<void> {
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

export function urlOf(server: Listener, scheme: string): string {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  return `${scheme}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
