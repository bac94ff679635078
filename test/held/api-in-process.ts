/** An API in this process, without a socket: a function that answers every request to an origin. */
import type { OutgoingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import { type CreateSender, createPool } from '../../src/api/pool.ts';

/** A request that is answered in this process. */
export interface ApiRequest {
  /** With its query. */
  readonly url: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a test uses of Node's `ServerResponse`. A request that was aborted gets nothing more. */
export class ApiResponse {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #controller: Dispatcher.DispatchController;
  #isOver = false;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
    const abort = (reason: Error) => this.destroy(reason);
    const isOver = () => this.#isOver;
    this.#controller = {
      abort,
      pause: () => undefined,
      resume: () => undefined,
      get aborted() {
        return isOver();
      },
      paused: false,
      reason: null,
    };
    handler.onRequestStart?.(this.#controller, {});
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
    if (!this.#isOver)
      this.#handler.onResponseStart?.(
        this.#controller,
        status,
        Object.fromEntries(given) as Record<string, string>,
      );
    return this;
  }

  write(body: string | Uint8Array): this {
    if (!this.#isOver) this.#handler.onResponseData?.(this.#controller, Buffer.from(body));
    return this;
  }

  end(body: string | Uint8Array = ''): void {
    this.write(body);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseEnd?.(this.#controller, {});
  }

  /** The connection fails, by default as if the other side had closed it. */
  destroy(error: Error = new errors.SocketError('other side closed')): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError?.(this.#controller, error);
  }
}

type Answer = (request: ApiRequest, response: ApiResponse) => void;

const answers = new Map<string, Answer>();

/** Answers every request to an origin in this process, until the returned function is called. */
export function answerInProcess(origin: string, answer: Answer): () => void {
  answers.set(origin, answer);
  return () => void answers.delete(origin);
}

/** For an exporter that asks them; other origins have connections. */
export const createSender: CreateSender = (config, proxy) => {
  const { origin } = new URL(config.baseUrl);
  if (!answers.has(origin)) return createPool(config, proxy);
  let isClosed = false;
  const close = () => {
    isClosed = true;
    return Promise.resolve();
  };
  return {
    dispatch({ path, headers }, handler) {
      const answer = answers.get(origin);
      if (isClosed || !answer) throw new errors.ClientClosedError();
      const named = Object.entries(headers as Readonly<Record<string, string>>).map(
        ([name, value]) => [name.toLowerCase(), value] as const,
      );
      answer({ url: path, headers: Object.fromEntries(named) }, new ApiResponse(handler));
      return true;
    },
    close,
    destroy: close,
  };
};
