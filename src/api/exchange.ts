/** One GET with undici and one deadline for all of it, from connecting to the last byte of the answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Sender } from './pool.ts';
import { type Dispatcher, errors } from './undici.ts';

export interface HttpGet {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** From now to the last byte of the answer. */
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty if it broke off and the status is not 2xx: then the status is enough. */
  readonly body: Buffer;
}

/** 2xx. The Shield API sends errors with 202 (see unwrapData). */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Rejects with undici's error if there is no answer. At the deadline that is a `ConnectTimeoutError` before there was a
 * connection and a `RequestAbortedError` afterwards; undici's `request` cannot tell the two apart, so we use `dispatch`. An aborted
 * signal is a `RequestAbortedError` too.
 */
export function exchange(
  dispatcher: Sender,
  { timeoutMs, ...request }: HttpGet,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let answer: Omit<HttpAnswer, 'body'> | undefined;
    let sending: Dispatcher.DispatchController | undefined;
    let aborted: Error | undefined;

    const end = () => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', abort);
    };
    const fail = (error: Error) => {
      end();
      if (answer && !isSuccess(answer.status)) resolve({ ...answer, body: Buffer.alloc(0) });
      else reject(error);
    };
    const giveUp = (reason: Error) => {
      aborted = reason;
      // Without a connection there is nothing to abort yet; onRequestStart refuses it then.
      if (sending) sending.abort(reason);
      else fail(reason);
    };
    const abort = () => giveUp(new errors.RequestAbortedError());
    const expire = () =>
      giveUp(sending ? new errors.RequestAbortedError() : new errors.ConnectTimeoutError());
    const deadline = setTimeout(expire, timeoutMs);
    signal.addEventListener('abort', abort);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        // The connection has nothing of it yet, and is good for the next one. An abort would end both.
        if (aborted) throw aborted;
        sending = controller;
      },
      onResponseStart(_, status, headers) {
        // Skip 103 and other interim answers.
        if (status >= 200) answer = { status, headers };
      },
      onResponseData(_, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        end();
        if (answer) resolve({ ...answer, body: Buffer.concat(chunks) });
        else reject(new errors.SocketError('the answer has no status'));
      },
      onResponseError(_, error) {
        fail(error);
      },
    };
    try {
      dispatcher.dispatch({ ...request, method: 'GET' }, handler);
    } catch (error) {
      fail(error as Error);
    }
  });
}
