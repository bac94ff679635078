/** The clients that pages are being sent to, bounded so that those that do not read keep nobody else away. */
import type { ServerResponse } from 'node:http';

export const maxReaders = 16;

export class Readers {
  readonly #max: number;
  /** The one that has gone longest without taking anything comes first. */
  readonly #sending = new Set<ServerResponse>();

  /** Each reader holds a page, and with it the rendered blocks that newer pages have replaced: at most `max` of them. */
  constructor(max = maxReaders) {
    this.#max = max;
  }

  /**
   * Runs `send`, which ends or gives up when the response closes. Where as many are being sent to already, the one that
   * has gone longest without taking anything is cut, so a new reader never waits and is never refused.
   */
  async serve(response: ServerResponse, send: () => Promise<void>): Promise<void> {
    for (const slowest of this.#sending) {
      if (this.#sending.size < this.#max) break;
      this.#sending.delete(slowest);
      slowest.destroy();
      // Node does not tell a response that waits behind another of its connection.
      slowest.emit('close');
    }
    this.#sending.add(response);
    const progressed = () => {
      if (this.#sending.delete(response)) this.#sending.add(response);
    };
    response.on('drain', progressed);
    try {
      await send();
    } finally {
      response.off('drain', progressed);
      this.#sending.delete(response);
    }
  }
}
