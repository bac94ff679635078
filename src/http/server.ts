/** The web server: listens on every address, follows the web configuration, and stops gracefully. */
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { defaultWebLimits, type WebLimits } from './limits.ts';
import { createRequestListener } from './requests.ts';
import type { Route, WebLog } from './route.ts';
import type { TlsSettings } from './tls-section.ts';
import { WebConfigSource } from './web-config-source.ts';

export interface ListenAddress {
  /** Default: every interface, IPv6 and IPv4. */
  readonly host?: string | undefined;
  /** 0 for any free port. */
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

type Listener = HttpServer | HttpsServer;

export class WebServer {
  readonly #options: WebServerOptions;
  readonly #limits: WebLimits;
  #source: WebConfigSource | undefined;
  readonly #listeners: Listener[] = [];
  /** All of them. Node's `closeAllConnections` leaves out those whose TLS handshake is under way. */
  readonly #connections = new Set<Socket>();
  #isStopping = false;
  readonly #stopped = new AbortController();

  constructor(options: WebServerOptions) {
    this.#options = options;
    this.#limits = { ...defaultWebLimits, ...options.limits };
  }

  /**
   * Resolves with the URLs it listens on. Rejects, with nothing left open, if it cannot listen on one of the addresses or
   * the web configuration is not valid (`ConfigError`).
   */
  async start(): Promise<readonly string[]> {
    const { addresses, routes, webConfigFile, log } = this.#options;
    const source = new WebConfigSource(webConfigFile, log);
    this.#source = source;
    const answer = createRequestListener({
      config: () => source.fresh(),
      routes,
      log,
      isStopping: () => this.#isStopping,
      signal: this.#stopped.signal,
    });
    const listening = addresses.map((address) => {
      const listener = this.#createListener(source).on('request', answer);
      this.#listeners.push(listener);
      return listen(listener, address);
    });
    const outcomes = await Promise.allSettled(listening);
    if (outcomes.some(({ status }) => status === 'rejected')) await this.stop(0);
    return Promise.all(listening);
  }

  /** Accepts no more connections, drains those that are open for at most `graceMs`, then cuts the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    // Node closes idle connections with the listener.
    const closed = this.#listeners.map((listener) => new Promise((resolve) => listener.close(resolve)));
    const cut = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy();
    }, graceMs);
    await Promise.all(closed);
    clearTimeout(cut);
    this.#stopped.abort();
  }

  /** Reads the web configuration again. Throws a `ConfigError`, and keeps the previous one, if it is not valid. */
  reload(): void {
    this.#source?.reload();
  }

  #createListener(source: WebConfigSource): Listener {
    const { log } = this.#options;
    const { tls } = source.current();
    const listener = tls
      ? createHttpsServer({ ...this.#limits, ...tls.options })
      : createHttpServer(this.#limits);
    const { maxConnections, timeout } = this.#limits;
    Object.assign(listener, { maxConnections, timeout });
    listener.on('connection', (connection: Socket) => {
      this.#connections.add(connection);
      connection.once('close', () => this.#connections.delete(connection));
    });
    // Once it listens: a connection cannot be accepted, for example because there are too many open files.
    listener.on('error', (err) => {
      if (listener.listening) log.warn({ err }, 'a connection could not be accepted');
    });
    if (tls && 'setSecureContext' in listener) followTls(listener, tls, source, log);
    return listener;
  }
}

/** Uses changed settings from the next handshake on, and disconnects clients that the settings do not admit. */
function followTls(listener: HttpsServer, initial: TlsSettings, source: WebConfigSource, log: WebLog): void {
  let settings = initial;
  listener.prependListener('connection', () => {
    const { tls } = source.current();
    if (!tls || tls === settings) return;
    settings = tls;
    listener.setSecureContext(tls.options);
    // Node reads these properties at each handshake; its types lack them.
    const { requestCert, rejectUnauthorized } = tls.options;
    Object.assign(listener, { requestCert, rejectUnauthorized });
  });
  listener.on('tlsClientError', ({ code }: NodeJS.ErrnoException, { remoteAddress: client }) => {
    log.debug({ client, code }, 'the TLS handshake failed');
  });
  listener.prependListener('secureConnection', (socket: TLSSocket) => {
    if (settings.admits(socket)) return;
    const reason = socket.authorizationError ?? 'none, or not an allowed name';
    log.debug({ client: socket.remoteAddress, reason }, 'the certificate of the client was refused');
    socket.destroy();
  });
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop the process that has it, or choose another with --web.listen-address',
  EACCES: 'this user may not use the port; choose one above 1023 with --web.listen-address',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --web.listen-address',
  ENOTFOUND: 'the host name is unknown; check --web.listen-address',
};

/** Resolves with the URL. */
function listen(listener: Listener, { host, port }: ListenAddress): Promise<string> {
  return new Promise((resolve, reject) => {
    listener.once('error', (error: NodeJS.ErrnoException) => {
      const reason = listenErrors[error.code ?? ''] ?? error.message;
      const name = host?.includes(':') ? `[${host}]` : (host ?? '');
      reject(new Error(`cannot listen on ${name}:${port}: ${reason}`, { cause: error }));
    });
    // Without a host Node listens on `::` for IPv4 too, and on 0.0.0.0 where there is no IPv6.
    listener.listen(host === undefined ? { port } : { host, port }, () => {
      const { address, port: bound } = listener.address() as AddressInfo;
      const scheme = 'setSecureContext' in listener ? 'https' : 'http';
      resolve(`${scheme}://${address.includes(':') ? `[${address}]` : address}:${bound}`);
    });
  });
}
