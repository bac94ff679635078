/** What a page is to the server: a path, its methods and a function that answers. It knows nothing of what pages say. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';

/** The part that requests of HTTP/1.1 and HTTP/2 share. Its body was read and dropped. */
export interface WebRequest {
  /** GET, HEAD or POST. */
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The part that responses of HTTP/1.1 and HTTP/2 share. What is written for a HEAD is not sent. */
export type WebResponse = Writable & {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  removeHeader(name: string): unknown;
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown;
};

export interface Route {
  /** Matched exactly, byte for byte: `/metrics`. */
  readonly path: string;
  /** GET implies HEAD. */
  readonly methods: readonly ('GET' | 'POST')[];
  /** Headers in place of the server's (a page's own Content-Security-Policy). Those of the web configuration win. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Ends the response, now or later. What it throws becomes a 500 without detail and one line in the log.
   * `url` is the route's path with the query of the request; its host means nothing.
   */
  handle(request: WebRequest, response: WebResponse, url: URL): void | Promise<void>;
}

/** pino's shape. */
export interface WebLog {
  info(object: object, message: string): void;
  warn(object: object, message: string): void;
  error(object: object, message: string): void;
}
