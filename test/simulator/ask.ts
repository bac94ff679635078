/** Asks over loopback with plain node:http: no decoding, no redirects, no retries, so that a test sees what was sent. */
import { type IncomingHttpHeaders, request } from 'node:http';

export interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** Resolves when the whole answer was read; rejects when the connection breaks before that or the signal aborts. */
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

/** The element, where a test is sure that there is one. */
export function at<T>(list: readonly T[], index: number): T {
  const element = list.at(index);
  if (element === undefined) throw new RangeError(`There is no element ${index} of ${list.length}.`);
  return element;
}
