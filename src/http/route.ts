/** A page as the server sees it: a path, its methods and a function that answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Route {
  /** Matched exactly, byte for byte: `/metrics`. */
  readonly path: string;
  /** GET implies HEAD. */
  readonly methods: readonly ('GET' | 'POST')[];
  /** Replace the server's headers; those of the web configuration win. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Ends the response, now or later. Must not read the request's body; the body of an answer to HEAD is not sent. An error
   * becomes a 500 without detail and one line in the log.
   */
  handle(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void | Promise<void>;
}

/** The methods of pino that the server calls. */
export interface WebLog {
  debug(object: object, message: string): void;
  info(object: object, message: string): void;
  warn(object: object, message: string): void;
  error(object: object, message: string): void;
}
