/** Sends the body of an answer at the pace of its reader, and not for ever. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** From the first byte of a body to the last; then the connection is cut. */
export const sendTimeoutMs = 30_000;

export type Parts = Iterable<Buffer> | AsyncIterable<string | Buffer>;

/** Resolves when the body was sent, its reader has gone or the time is over. Rejects if the parts themselves fail. */
export async function send(response: ServerResponse, parts: Parts, timeoutMs = sendTimeoutMs): Promise<void> {
  const { socket } = response.req;
  let deadline: NodeJS.Timeout | undefined;
  // The pipeline alone is not enough: before Node 24 a response that is queued behind another never closes.
  const isOver = new Promise<void>((resolve) => {
    deadline = setTimeout(resolve, timeoutMs).unref();
  }).then(() => void socket.destroy());
  try {
    await Promise.race([pipeline(parts, response), isOver]);
  } catch (error) {
    if (!readerHasGone(error)) throw error;
  } finally {
    clearTimeout(deadline);
  }
}

function readerHasGone(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code.startsWith('ERR_STREAM_') || ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(code);
}
