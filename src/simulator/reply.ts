/** An answer on its way out: status, headers and bytes, as a good server sends them. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { writeJson } from './json.ts';
import type { Answer } from './kind.ts';

export interface Reply {
  readonly status: number;
  /** In lower case; `content-length` comes when it is sent. */
  readonly headers: OutgoingHttpHeaders;
  /** The body as JSON data, while it still is; absent where there is none or `bytes` stand for it. */
  readonly json?: unknown;
  readonly bytes?: Buffer;
}

export function replyOf({ status, body: json }: Answer): Reply {
  if (json === undefined) return { status, headers: {} };
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, json };
}

export function textReply(status: number, type: string, text: string): Reply {
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, bytes: Buffer.from(text) };
}

/** The body as it is sent, empty where there is none. */
export function bytesOf({ json, bytes }: Reply): Buffer {
  if (bytes !== undefined) return bytes;
  return json === undefined ? Buffer.alloc(0) : Buffer.from(writeJson(json));
}

export function sendReply(response: ServerResponse, reply: Reply): void {
  const body = bytesOf(reply);
  response.writeHead(reply.status, { ...reply.headers, 'content-length': body.byteLength }).end(body);
}
