/** The open connections and their unanswered requests: makes room for new ones, cuts late responses, closes all of them in order. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebLimits } from './limits.ts';

interface Connection {
  /** The TLS socket once a request has come through it. */
  socket: Socket;
  /** Whether it ever sent a request. */
  isUsed: boolean;
  /** The oldest first. */
  readonly unanswered: Set<ServerResponse>;
}

/** Tells connections apart, also through the TLS layer that wraps the socket. */
function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}

export class Connections {
  readonly #limits: WebLimits;
  /** The least recently used comes first. */
  readonly #open = new Map<string, Connection>();
  #isClosing = false;

  constructor(limits: WebLimits) {
    this.#limits = limits;
  }

  /**
   * At the limit, cuts the least recently used connection to make room: one that never sent a request if there is one, else
   * an idle one, else any. So clients that just hold connections cannot keep scrapes away.
   */
  add(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) this.#cutOne();
    const key = keyOf(socket);
    const connection: Connection = { socket, isUsed: false, unanswered: new Set() };
    this.#open.set(key, connection);
    socket.once('close', () => {
      // A cut connection closes late, when its key may already belong to another.
      if (this.#open.get(key) === connection) this.#open.delete(key);
      // Once Node has closed the responses that it closes itself.
      if (connection.unanswered.size > 0) setImmediate(() => abandon(connection));
    });
  }

  /** Tracks a request until its response closes. Undefined if it must not be answered. */
  begin(
    request: IncomingMessage,
    response: ServerResponse,
  ): { readonly isAwaited: () => boolean } | undefined {
    const { socket } = request;
    const { maxRequestsInFlight, responseTimeoutMs } = this.#limits;
    const key = keyOf(socket);
    const connection = this.#open.get(key);
    if (!connection || connection.unanswered.size >= maxRequestsInFlight) socket.destroy();
    if (!connection || socket.destroyed || this.#isClosing) return undefined;
    this.#open.delete(key);
    this.#open.set(key, connection);
    const { unanswered } = Object.assign(connection, { socket, isUsed: true });
    unanswered.add(response);
    const deadline = setTimeout(() => socket.destroy(), responseTimeoutMs).unref();
    response.once('close', () => {
      clearTimeout(deadline);
      unanswered.delete(response);
      // After sending what was written.
      if (this.#isClosing && unanswered.size === 0) socket.destroySoon();
    });
    return { isAwaited: () => unanswered.has(response) };
  }

  /** Closes each connection once its requests are answered. */
  closeAll(): void {
    this.#isClosing = true;
    for (const { socket, unanswered } of this.#open.values()) {
      if (unanswered.size === 0) socket.destroy();
      // Pipelined responses are sent in order, so the connection ends with the newest.
      const newest = [...unanswered].at(-1);
      if (newest?.headersSent === false) newest.setHeader('Connection', 'close');
    }
  }

  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #cutOne(): void {
    const open = [...this.#open];
    const [key, connection] =
      open.find(([, { isUsed }]) => !isUsed) ??
      open.find(([, { unanswered }]) => unanswered.size === 0) ??
      open[0] ??
      [];
    if (key === undefined) return;
    this.#open.delete(key);
    connection?.socket.destroy();
  }
}

/** Before Node 24 a response queued behind another never closes by itself, and its route would wait forever. */
function abandon({ unanswered }: Connection): void {
  for (const response of unanswered) {
    response.destroy();
    response.emit('close');
  }
}
