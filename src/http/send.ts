/** Sends a page at the pace of its reader and by a deadline, without copying it or handing all of a large one over at once. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Handed to the socket at a time. TLS encrypts this much ahead of a slow reader. */
const batchBytes = 1024 * 1024;
const smallBytes = 64 * 1024;

export interface SendOptions {
  /** The headers alone, with the length that the body would have. */
  readonly headersOnly: boolean;
  /** From the first byte to the last; a reader that takes longer is cut off. */
  readonly writeTimeoutMs: number;
}

/** Sends the parts as the body of a response whose status and other headers are set. Resolves when the response closed. */
export async function send(
  response: ServerResponse,
  parts: readonly Buffer[],
  { headersOnly, writeTimeoutMs }: SendOptions,
): Promise<void> {
  if (response.destroyed) return;
  const closed = once(response, 'close');
  const deadline = setTimeout(() => response.destroy(), writeTimeoutMs);
  try {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    response.setHeader('Content-Length', length);
    if (headersOnly) response.end();
    // A small page is copied sooner than it is handed over part by part.
    else if (length <= smallBytes) response.end(Buffer.concat(parts));
    else await write(response, parts, closed);
    await closed;
  } finally {
    clearTimeout(deadline);
  }
}

async function write(response: ServerResponse, parts: readonly Buffer[], closed: Promise<unknown>) {
  let batch = 0;
  response.cork();
  for (const part of parts) {
    response.write(part);
    batch += part.length;
    if (batch < batchBytes) continue;
    response.uncork();
    if (response.writableNeedDrain) await Promise.race([once(response, 'drain'), closed]);
    // Otherwise a reader that keeps up gets the whole page in one turn of the event loop.
    await nextTurn();
    if (response.destroyed) return;
    response.cork();
    batch = 0;
  }
  response.end();
  response.uncork();
}
