/**
 * The API without a socket: as a test declares it, request by request, with undici's own mock, or as a function that answers
 * every request.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { type Dispatcher, errors, MockAgent, Pool } from 'undici';
import { afterAll, afterEach, beforeAll } from 'vitest';

const loopback = /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

const undeclared: string[] = [];
let isDeclared = true;

function createAgent(): MockAgent {
  const agent = new MockAgent();
  agent.disableNetConnect();
  // Called for the host of a request that nothing declares: it is not sent either.
  agent.enableNetConnect(() => {
    isDeclared = false;
    return false;
  });
  return agent;
}

let declared = createAgent();

function answer(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
  isDeclared = true;
  try {
    return declared.dispatch(options, handler);
  } finally {
    if (!isDeclared) undeclared.push(`${options.method} ${String(options.origin)}${options.path}`);
  }
}

/**
 * For the tests of the file that calls it: they can only reach loopback, and a test fails if a declared request was not
 * made or an undeclared one was.
 */
export function expectDeclaredRequests(): void {
  const dispatch = Reflect.get(Pool.prototype, 'dispatch') as Pool['dispatch'];

  beforeAll(() => {
    // Every connection to an API belongs to a pool. A closed one says so itself.
    Pool.prototype.dispatch = function (options, handler) {
      return this.closed || this.destroyed || loopback.test(String(options.origin))
        ? dispatch.call(this, options, handler)
        : answer(options, handler);
    };
  });

  afterEach(() => {
    const problems = takeProblems();
    if (problems.length > 0)
      throw new Error(`the API saw other requests than declared:\n${problems.join('\n')}`);
  });

  afterAll(() => {
    Pool.prototype.dispatch = dispatch;
  });
}

/**
 * Declares requests to an origin. Each answers one request, or as many as `times` says:
 * `mockApi('https://api.example').get('/apps/a/summary').reply(200, { status: 'active' })`.
 *
 * @param headers what the request has to carry besides
 */
export function mockApi(origin: string, headers: Readonly<Record<string, string>> = {}) {
  return {
    get(path: string, times = 1) {
      const request = declared.get(origin).intercept({ path, method: 'GET', headers: { ...headers } });
      return {
        reply(
          status: number,
          body: string | object = '',
          answerHeaders: Readonly<Record<string, string>> = {},
        ) {
          request.reply(status, body, { headers: answerHeaders }).times(times);
        },
        /** The connection fails with this message. */
        replyWithError(message: string) {
          request.replyWithError(new Error(message)).times(times);
        },
      };
    },
  };
}

/** Declared requests that were not made, and undeclared ones that were, since the last call. */
function takeProblems(): readonly string[] {
  const problems = [
    ...declared
      .pendingInterceptors()
      .map(({ method, origin, path }) => `not made: ${String(method)} ${origin}${String(path)}`),
    ...undeclared.map((request) => `not declared: ${request}`),
  ];
  undeclared.length = 0;
  declared = createAgent();
  return problems;
}

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

/** Answers every request to an origin in this process, until the returned function is called. */
export function answerInProcess(
  origin: string,
  answerRequest: (request: ApiRequest, response: ApiResponse) => void,
): () => void {
  const before = Reflect.get(Pool.prototype, 'dispatch') as Pool['dispatch'];
  Pool.prototype.dispatch = function (options, handler) {
    if (String(options.origin) !== origin || this.closed || this.destroyed)
      return before.call(this, options, handler);
    const headers = Object.entries(options.headers as Readonly<Record<string, string>>);
    const named = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    answerRequest({ url: options.path, headers: Object.fromEntries(named) }, new ApiResponse(handler));
    return true;
  };
  return () => {
    Pool.prototype.dispatch = before;
  };
}
