/**
 * Who is connected, since when and with which unanswered requests: it makes room for a new connection, cuts what takes
 * too long and closes all in order at the end. It knows nothing of TLS, paths or pages.
 */
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { WebLimits } from './limits.ts';
import type { WebResponse } from './route.ts';

/** What tells one TCP connection from another, also through the TLS or HTTP/2 layers that wrap its socket. */
export type Endpoints = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

function keyOf(socket: Endpoints): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}

export class Connection {
  /** The outermost: the TLS socket once there is one. */
  socket: Socket;
  /** When it was opened or last became idle, in milliseconds of the process' clock. */
  idleSinceMs = performance.now();
  requests = 0;
  /** The HTTP/2 session that runs on it, if one does. */
  session: ServerHttp2Session | undefined;
  #closing = false;
  /** Unanswered requests and when each began, the oldest first. */
  readonly #inFlight = new Map<WebResponse, number>();

  constructor(socket: Socket) {
    this.socket = socket;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** When the oldest unanswered request began; infinite for none. */
  get busySinceMs(): number {
    for (const sinceMs of this.#inFlight.values()) return sinceMs;
    return Number.POSITIVE_INFINITY;
  }

  get responding(): boolean {
    for (const response of this.#inFlight.keys()) if (response.headersSent) return true;
    return false;
  }

  /** Whether it is to be closed: further requests are not answered. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Whether the response is still to be ended, and somebody there to read it. */
  awaits(response: WebResponse): boolean {
    return this.#inFlight.has(response);
  }

  begin(response: WebResponse): void {
    this.#inFlight.set(response, performance.now());
    response.once('close', () => {
      this.#inFlight.delete(response);
      this.idleSinceMs = performance.now();
      if (this.#closing && this.#inFlight.size === 0) this.#end();
    });
  }

  /** Closes it once nothing is unanswered. */
  close(): void {
    this.#closing = true;
    if (this.#inFlight.size === 0) {
      this.#end();
    } else {
      this.session?.close();
      // Pipelined responses leave in turn: the connection ends with the newest.
      const newest = [...this.#inFlight.keys()].at(-1);
      if (!this.session && newest?.headersSent === false) newest.setHeader('Connection', 'close');
    }
  }

  /**
   * Closes the responses that were queued behind another when the socket died: Node before 24 tells them nothing, and who
   * answers them would wait for ever.
   */
  abandon(): void {
    for (const response of this.#inFlight.keys()) {
      response.destroy();
      if (this.#inFlight.has(response)) response.emit('close');
    }
  }

  destroy(): void {
    this.session?.destroy();
    this.socket.destroy();
  }

  /** Lets what was written leave first. */
  #end(): void {
    if (this.requests === 0) this.destroy();
    else if (this.session) this.session.close();
    else this.socket.destroySoon();
  }
}

export class Connections {
  readonly #limits: WebLimits;
  readonly #open = new Map<string, Connection>();
  readonly #timer: NodeJS.Timeout;

  constructor(limits: WebLimits) {
    this.#limits = limits;
    this.#timer = setInterval(() => this.#cutLate(), limits.checkIntervalMs).unref();
  }

  add(socket: Socket): Connection {
    if (this.#open.size >= this.#limits.maxConnections) this.#displaced()?.destroy();
    const connection = new Connection(socket);
    const key = keyOf(socket);
    this.#open.set(key, connection);
    // A displaced socket closes late: by then its key may be another's.
    socket.once('close', () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
      // After those that Node itself closes.
      if (!connection.session) setImmediate(() => connection.abandon());
    });
    return connection;
  }

  /** Nothing for a connection that is closed already. */
  of(socket: Endpoints): Connection | undefined {
    return this.#open.get(keyOf(socket));
  }

  closeAll(): void {
    for (const connection of this.#open.values()) connection.close();
  }

  destroyAll(): void {
    clearInterval(this.#timer);
    for (const connection of this.#open.values()) connection.destroy();
  }

  /** The one that is missed least: see `WebLimits.maxConnections`. */
  #displaced(): Connection | undefined {
    const open = [...this.#open.values()].filter(({ socket }) => !socket.destroyed);
    if (open.length < this.#limits.maxConnections) return undefined;
    const idle = open.filter(({ inFlight }) => inFlight === 0);
    const unused = idle.filter(({ requests }) => requests === 0);
    const oldest = (of: Connection[], since: (connection: Connection) => number) =>
      of.reduce<Connection | undefined>((a, b) => (a && since(a) <= since(b) ? a : b), undefined);
    return (
      oldest(unused, ({ idleSinceMs }) => idleSinceMs) ??
      oldest(idle, ({ idleSinceMs }) => idleSinceMs) ??
      oldest(open, ({ busySinceMs }) => busySinceMs)
    );
  }

  #cutLate(): void {
    const nowMs = performance.now();
    const { responseTimeoutMs, keepAliveTimeoutMs, headersTimeoutMs } = this.#limits;
    for (const connection of this.#open.values()) {
      if (nowMs - connection.busySinceMs > responseTimeoutMs) connection.destroy();
      // Idle HTTP/1 connections are timed by node:http.
      const idleMs = connection.inFlight > 0 ? 0 : nowMs - connection.idleSinceMs;
      if (connection.session && idleMs > (connection.requests > 0 ? keepAliveTimeoutMs : headersTimeoutMs)) {
        connection.destroy();
      }
    }
  }
}
