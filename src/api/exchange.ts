/** One GET through undici, from its dispatch to the last byte of the answer, within a deadline. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';

export interface Asked {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** From now to the last byte of the answer. */
  readonly timeoutMs: number;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty where it did not arrive whole and the status is no success: the status alone makes it a failure. */
  readonly body: Buffer;
}

/** Statuses whose body is read as an answer; with 202 the shield API sends errors (see unwrapData). */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Rejects with undici's error where there is no answer: at the deadline with a `ConnectTimeoutError`, or a
 * `RequestAbortedError` once there was a connection, and with the latter when the signal is aborted. undici's `dispatch` is
 * used because the streams and signals of its `request` take a fifth of the time of a poll.
 */
export function exchange(dispatcher: Dispatcher, asked: Asked, signal: AbortSignal): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { origin, path, headers, timeoutMs } = asked;
    const handler = new Exchange(signal, timeoutMs, resolve, reject);
    try {
      dispatcher.dispatch({ origin, path, method: 'GET', headers }, handler);
    } catch (error) {
      handler.fail(error as Error);
    }
  });
}

/**
 * What undici, the timer and the signal of one request call. One object: a function for each would be a tenth of what a poll
 * allocates.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #resolve: (answered: Answered) => void;
  readonly #reject: (error: Error) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #sending: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #answer: Omit<Answered, 'body'> | undefined;

  constructor(
    signal: AbortSignal,
    timeoutMs: number,
    resolve: (answered: Answered) => void,
    reject: (error: Error) => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#deadline = setTimeout(expireOne, timeoutMs, this);
    signal.addEventListener('abort', this, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#aborted) controller.abort(this.#aborted);
    else this.#sending = controller;
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    // 103 and the like only announce the answer.
    if (status >= 200) this.#answer = { status, headers };
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const answer = this.#answer;
    if (!answer) {
      this.fail(new errors.SocketError('the answer has no status'));
      return;
    }
    this.#end();
    this.#resolve({ ...answer, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_: unknown, error: Error): void {
    this.fail(error);
  }

  /** There is no whole answer. */
  fail(error: Error): void {
    this.#end();
    const answer = this.#answer;
    if (answer && !isSuccess(answer.status)) this.#resolve({ ...answer, body: Buffer.alloc(0) });
    else this.#reject(error);
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.#abort(new errors.RequestAbortedError());
  }

  /** The deadline has passed. */
  expire(): void {
    this.#abort(this.#sending ? new errors.RequestAbortedError() : new errors.ConnectTimeoutError());
  }

  #abort(reason: Error): void {
    this.#aborted = reason;
    // While it still waits for a connection, it is told when it gets one.
    if (this.#sending) this.#sending.abort(reason);
    else this.fail(reason);
  }

  #end(): void {
    clearTimeout(this.#deadline);
    this.#signal.removeEventListener('abort', this);
  }
}

/** The same function for all requests: the timer hands it the one whose deadline has passed. */
function expireOne(one: Exchange): void {
  one.expire();
}
