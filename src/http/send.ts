/** Sends the body of an answer as fast as the client reads it, until a deadline. */
import type { ServerResponse } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';

/** From the first byte of a body to the last; then the connection is cut. */
export const sendTimeoutMs = 30_000;

export type Parts = readonly Buffer[] | AsyncGenerator<string>;

/** Resolves when the body is sent, the client has disconnected or the deadline has passed. Rejects if the parts fail. */
export async function send(response: ServerResponse, parts: Parts, timeoutMs = sendTimeoutMs): Promise<void> {
  const { socket } = response.req;
  let deadline: NodeJS.Timeout | undefined;
  // The pipeline alone is not enough: before Node 24 a response that is queued behind another never closes.
  const cutOff = new Promise<void>((resolve) => {
    deadline = setTimeout(resolve, timeoutMs).unref();
  }).then(() => void socket.destroy());
  try {
    await Promise.race([write(response, parts), cutOff]);
  } catch (error) {
    if (!isDisconnect(error)) throw error;
  } finally {
    clearTimeout(deadline);
  }
}

/** Each part as a function changes it. */
export async function* mapParts(
  parts: AsyncGenerator<string>,
  change: (text: string) => string,
): AsyncGenerator<string> {
  for await (const part of parts) yield change(part);
}

function write(response: ServerResponse, parts: Parts): Promise<void> {
  if (Symbol.asyncIterator in parts) return pipeline(parts, response);
  // Parts that are in memory are handed to the system at once, however many they are.
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
  return finished(response);
}

function isDisconnect(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code.startsWith('ERR_STREAM_') || ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(code);
}
