/** One listening address: a server of node:http or node:https with the limits, and with TLS that follows the configuration. */
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Connections } from './connections.ts';
import type { WebLimits } from './limits.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { TlsSettings } from './tls-section.ts';
import type { WebConfig } from './web-config.ts';

export interface ListenAddress {
  /** Every interface, over IPv6 and IPv4, without one. */
  readonly host?: string | undefined;
  /** 0 for any free one. */
  readonly port: number;
}

export type Listener = HttpServer | HttpsServer;

export interface ListenerOptions {
  /** Asked at each handshake for its TLS; the same object while nothing changes. Plain HTTP where it has none at first. */
  readonly config: () => WebConfig;
  readonly connections: Connections;
  readonly limits: WebLimits;
  readonly logRefusal: RefusalLog;
}

export function createListener({ config, connections, limits, logRefusal }: ListenerOptions): Listener {
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
  };
  const { tls } = config();
  const server = tls
    ? createHttpsServer({ ...options, ...tls.options, handshakeTimeout: limits.handshakeTimeoutMs })
    : createHttpServer(options);
  // Before Node's own listeners, which begin the handshake or wait for a request.
  server.prependListener('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    if (socket.remoteAddress === undefined) socket.destroy();
    else connections.add(socket);
  });
  if (tls && 'setSecureContext' in server) followTls(server, tls, config, logRefusal);
  return server;
}

/** Uses changed settings from the next handshake on, and cuts clients whose certificates the settings do not allow. */
function followTls(
  server: HttpsServer,
  initial: TlsSettings,
  config: () => WebConfig,
  logRefusal: RefusalLog,
): void {
  let settings = initial;
  server.prependListener('connection', () => {
    const { tls } = config();
    if (!tls || tls === settings) return;
    settings = tls;
    server.setSecureContext(tls.options);
    // Node reads these of the server at each handshake, and its types do not have them.
    const { requestCert, rejectUnauthorized } = tls.options;
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

export function urlOf(server: Listener): string {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  return `${scheme}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
