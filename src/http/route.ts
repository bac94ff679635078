/** What the server needs of a page: a path, its methods and a function that answers. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';

/** The part of `IncomingMessage` that routes use. The body was read and dropped. */
export interface WebRequest {
  /** GET, HEAD or POST. */
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The part of `ServerResponse` that routes use. A body that is written for a HEAD is not sent. */
export type WebResponse = Writable & {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  removeHeader(name: string): unknown;
};

export interface Route {
  /** Matched exactly, byte for byte: `/metrics`. */
  readonly path: string;
  /** GET implies HEAD. */
  readonly methods: readonly ('GET' | 'POST')[];
  /** Replace the server's headers (a page's own Content-Security-Policy). Those of the web configuration win. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>;
  /** Ends the response, now or later. An error becomes a 500 without detail and one line in the log. */
  handle(request: WebRequest, response: WebResponse, query: URLSearchParams): void | Promise<void>;
}

/** pino's shape. */
export interface WebLog {
  info(object: object, message: string): void;
  warn(object: object, message: string): void;
  error(object: object, message: string): void;
}
