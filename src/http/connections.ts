/** The open connections and their unanswered requests. Makes room for new ones, and cuts late responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebLimits } from './limits.ts';

interface Connection {
  readonly key: string;
  /** The outermost: the TLS socket once a request came through it. */
  socket: Socket;
  /** Has sent a request. */
  isUsed: boolean;
  /** The oldest first. */
  readonly unanswered: Set<ServerResponse>;
}

/** The same for a socket and for the TLS socket around it. */
function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}

export class Connections {
  readonly #limits: WebLimits;
  /** The one that was used longest ago comes first. */
  readonly #open = new Map<string, Connection>();
  #isClosing = false;

  constructor(limits: WebLimits) {
    this.#limits = limits;
  }

  /**
   * At the limit, cuts the one that was used longest ago: of those that never sent a request, else of the idle ones, else of
   * all. So strangers that hold connections open cannot keep scrapes away.
   */
  add(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) this.#cutOne();
    const key = keyOf(socket);
    const connection: Connection = { key, socket, isUsed: false, unanswered: new Set() };
    this.#open.set(key, connection);
    socket.once('close', () => {
      // A connection that was cut closes late: a new one may have its key by then.
      if (this.#open.get(key) === connection) this.#open.delete(key);
      // After the responses that Node itself closes.
      if (connection.unanswered.size > 0) setImmediate(() => abandon(connection));
    });
  }

  /** Follows a request until its response closes. Returns whether to answer it. */
  begin({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const { maxRequestsInFlight, responseTimeoutMs } = this.#limits;
    const key = keyOf(socket);
    const connection = this.#open.get(key);
    if (!connection || connection.unanswered.size >= maxRequestsInFlight) socket.destroy();
    if (!connection || socket.destroyed || this.#isClosing) return false;
    this.#open.delete(key);
    this.#open.set(key, connection);
    const { unanswered } = Object.assign(connection, { socket, isUsed: true });
    unanswered.add(response);
    const deadline = setTimeout(() => socket.destroy(), responseTimeoutMs).unref();
    response.once('close', () => {
      clearTimeout(deadline);
      unanswered.delete(response);
      // Once what was written has been sent.
      if (this.#isClosing && unanswered.size === 0) socket.destroySoon();
    });
    return true;
  }

  /** Closes each connection once its requests are answered. */
  closeAll(): void {
    this.#isClosing = true;
    for (const { socket, unanswered } of this.#open.values()) {
      if (unanswered.size === 0) socket.destroy();
      // Pipelined responses are sent in order, so the newest is the last.
      const newest = [...unanswered].at(-1);
      if (newest?.headersSent === false) newest.setHeader('Connection', 'close');
    }
  }

  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #cutOne(): void {
    const open = [...this.#open.values()];
    const cut =
      open.find(({ isUsed }) => !isUsed) ?? open.find(({ unanswered }) => unanswered.size === 0) ?? open[0];
    if (!cut) return;
    this.#open.delete(cut.key);
    cut.socket.destroy();
  }
}

/** Before Node 24 a response that is queued behind another never closes by itself, and its route waits forever. */
function abandon({ unanswered }: Connection): void {
  for (const response of unanswered) {
    response.destroy();
    response.emit('close');
  }
}
