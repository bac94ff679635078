/** The open connections and their unanswered requests: makes room for a new one, cuts late responses, closes all in order. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebLimits } from './limits.ts';

/** Tells connections apart, also through the TLS layer that wraps the socket. */
function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}

export class Connection {
  /** Whether it ever sent a request. */
  isUsed = false;
  /** The outermost: the TLS socket once a request came through it. */
  #socket: Socket;
  #isClosing = false;
  /** The oldest first. */
  readonly #unanswered = new Set<ServerResponse>();
  readonly #limits: WebLimits;

  constructor(socket: Socket, limits: WebLimits) {
    this.#socket = socket;
    this.#limits = limits;
  }

  get isIdle(): boolean {
    return this.#unanswered.size === 0;
  }

  /** Whether the response is still to be ended, and the client still there. */
  awaits(response: ServerResponse): boolean {
    return this.#unanswered.has(response);
  }

  /** Keeps track of a request until its response closes; false where it is not to be answered. */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    this.#socket = request.socket;
    this.isUsed = true;
    if (this.#unanswered.size >= this.#limits.maxRequestsInFlight) this.destroy();
    if (this.#isClosing || this.#socket.destroyed) return false;
    this.#unanswered.add(response);
    const deadline = setTimeout(() => this.destroy(), this.#limits.responseTimeoutMs).unref();
    response.once('close', () => {
      clearTimeout(deadline);
      this.#unanswered.delete(response);
      // Lets what was written leave first.
      if (this.#isClosing && this.isIdle) this.#socket.destroySoon();
    });
    return true;
  }

  /** Closes it once every request is answered. */
  close(): void {
    this.#isClosing = true;
    if (this.isIdle) this.#socket.destroy();
    // Pipelined responses leave in turn: the connection ends with the newest.
    const newest = [...this.#unanswered].at(-1);
    if (newest?.headersSent === false) newest.setHeader('Connection', 'close');
  }

  /** Before Node 24 a response that was queued behind another never closes by itself, and its route would wait for ever. */
  abandon(): void {
    for (const response of this.#unanswered) {
      response.destroy();
      response.emit('close');
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

export class Connections {
  readonly #limits: WebLimits;
  /** The one that was used longest ago comes first. */
  readonly #open = new Map<string, Connection>();

  constructor(limits: WebLimits) {
    this.#limits = limits;
  }

  /**
   * At the limit it cuts, to make room, the connection that was used longest ago: of those that never sent a request, else
   * of the idle ones, else of all. So strangers that hold connections keep no scrape away.
   */
  add(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) this.#cutOne();
    const key = keyOf(socket);
    const connection = new Connection(socket, this.#limits);
    this.#open.set(key, connection);
    socket.once('close', () => {
      // One that was cut closes late: by then its key may be another's.
      if (this.#open.get(key) === connection) this.#open.delete(key);
      // After the responses that Node itself closes.
      if (!connection.isIdle) setImmediate(() => connection.abandon());
    });
  }

  /** The connection of a request that begins; undefined where it is closed already. */
  use(socket: Socket): Connection | undefined {
    const key = keyOf(socket);
    const connection = this.#open.get(key);
    if (connection && this.#open.delete(key)) this.#open.set(key, connection);
    return connection;
  }

  closeAll(): void {
    for (const connection of this.#open.values()) connection.close();
  }

  destroyAll(): void {
    for (const connection of this.#open.values()) connection.destroy();
  }

  #cutOne(): void {
    const open = [...this.#open];
    const [key, connection] =
      open.find(([, { isUsed }]) => !isUsed) ?? open.find(([, { isIdle }]) => isIdle) ?? open[0] ?? [];
    if (key === undefined) return;
    this.#open.delete(key);
    connection?.destroy();
  }
}
