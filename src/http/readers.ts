/** Sends pages at the pace of their readers. Readers that stall cannot keep others away. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Handed to the socket at a time. TLS encrypts this much ahead of a slow reader. */
const batchBytes = 4 * 1024 * 1024;

export type Parts = Iterable<Buffer> | AsyncIterable<string | Buffer>;

/**
 * A function that sends the body of a response and resolves when the response has closed. Beyond `max` the reader that has taken
 * nothing for longest is cut, so a new one never waits and is never refused.
 *
 * @param max pages at once: each holds its blocks, also those that newer pages have replaced
 * @param timeoutMs from the first byte of a page to the last; then the reader is cut
 */
export function createSender(max = 16, timeoutMs = 120_000) {
  /** The one that has taken nothing for longest comes first. */
  const sending = new Set<ServerResponse>();

  return async (response: ServerResponse, parts: Parts): Promise<void> => {
    if (response.destroyed) return;
    const [slowest] = sending;
    if (slowest && sending.size >= max) {
      sending.delete(slowest);
      slowest.req.socket.destroy();
    }
    sending.add(response);
    response.on('drain', () => {
      if (sending.delete(response)) sending.add(response);
    });
    const closed = once(response, 'close');
    const deadline = setTimeout(() => response.destroy(), timeoutMs);
    let batch = 0;
    try {
      response.cork();
      for await (const part of parts) {
        response.write(part);
        batch += part.length;
        if (batch < batchBytes) continue;
        response.uncork();
        if (response.writableNeedDrain) await Promise.race([once(response, 'drain'), closed]);
        // Otherwise a fast reader would get the whole page in one turn of the event loop.
        await nextTurn();
        if (response.destroyed) return;
        response.cork();
        batch = 0;
      }
      response.end();
      response.uncork();
      await closed;
    } finally {
      clearTimeout(deadline);
      sending.delete(response);
    }
  };
}
