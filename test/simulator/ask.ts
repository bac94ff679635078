/** Requests over loopback with plain node:http, without decoding, redirects or retries, so that a test sees what was sent. */
import { type IncomingHttpHeaders, request } from 'node:http';

export interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** Resolves once the whole answer was read; rejects if the connection breaks first or the signal aborts. */
export async function ask(url: string, key?: string, method = 'GET', signal?: AbortSignal): Promise<Heard> {
  return await new Promise((resolve, reject) => {
    const headers = key === undefined ? {} : { AccessKey: key };
    const asked = request(url, { method, headers, agent: false, ...(signal && { signal }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body,
          text: body.toString('utf8'),
        });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The outcome of a request that may never be fully answered. */
export interface Outcome {
  /** complete: the whole answer arrived; left: we hung up; else the error code of the broken connection. */
  readonly end: string;
  /** 0 if there was no status line. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** When to hang up if the answer has not ended. */
export interface Patience {
  /** After this many bytes of the body. */
  readonly bytes?: number;
  /** Milliseconds since the request. */
  readonly timeMs?: number;
}

/** Sends a request, and hangs up when it runs out of patience. */
export async function observe(url: string, key: string, patience: Patience): Promise<Outcome> {
  return await new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    const asked = request(url, { headers: { AccessKey: key }, agent: false });
    const timer = patience.timeMs === undefined ? undefined : setTimeout(() => end('left'), patience.timeMs);
    const end = (how: string) => {
      clearTimeout(timer);
      asked.destroy();
      resolve({ end: how, status, headers, body: Buffer.concat(chunks) });
    };
    const broken = (error: NodeJS.ErrnoException) => end(error.code ?? error.message);
    asked.on('error', broken);
    asked.on('response', (response) => {
      status = response.statusCode ?? 0;
      headers = response.headers;
      response.on('error', broken);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        const heardBytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
        if (heardBytes >= (patience.bytes ?? Number.POSITIVE_INFINITY)) end('left');
      });
      response.on('end', () => end('complete'));
    });
    asked.end();
  });
}

export type JsonObject = Record<string, unknown>;

export function objectOf(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`Expected an object, got ${JSON.stringify(value)}.`);
  }
  return value as JsonObject;
}

export function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`Expected a list, got ${JSON.stringify(value)}.`);
  return value;
}

export function jsonOf({ text }: Heard): JsonObject {
  return objectOf(JSON.parse(text));
}

/** The element at this index; throws if there is none. */
export function at<T>(list: readonly T[], index: number): T {
  const element = list.at(index);
  if (element === undefined) throw new RangeError(`There is no element ${index} of ${list.length}.`);
  return element;
}
