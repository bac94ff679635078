/** An answer on its way out: status, headers and bytes, as a good server sends them. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { writeJson } from './json.ts';
import type { Answer } from './kind.ts';

export interface Reply {
  readonly status: number;
  /** In lower case; `content-length` is added when it is sent. */
  readonly headers: OutgoingHttpHeaders;
  /** JSON data, or bytes that are sent as they are; absent where there is no body. */
  readonly body?: unknown;
}

export function replyOf({ status, body }: Answer): Reply {
  if (body === undefined) return { status, headers: {} };
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, body };
}

export function textReply(status: number, type: string, text: string): Reply {
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, body: Buffer.from(text) };
}

/** The body as it is sent, empty where there is none. */
export function bytesOf({ body }: Reply): Buffer {
  if (body instanceof Buffer) return body;
  return Buffer.from(body === undefined ? '' : writeJson(body));
}

/** Sends the head, of a body of this length. */
export function sendHead(response: ServerResponse, reply: Reply, body = bytesOf(reply)): ServerResponse {
  return response.writeHead(reply.status, { ...reply.headers, 'content-length': body.byteLength });
}

export function sendReply(response: ServerResponse, reply: Reply): void {
  const body = bytesOf(reply);
  sendHead(response, reply, body).end(body);
}
