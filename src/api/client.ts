/**
 * Asks one API: the key in the header, the deadline, the bounds and the retries. It gives a parsed body or a typed error,
 * and knows nothing of what the body means.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, errors, request } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ApiName } from '../resources/resource.ts';
import { version } from '../version.ts';
import { decodeBody, parseJson, tooLongMessage } from './body.ts';
import {
  AbsentError,
  type Answer,
  ApiError,
  ConnectionError,
  DeadlineError,
  KeyRefusedError,
  RateLimitedError,
  RequestRejectedError,
  ServerFailureError,
  UnreadableBodyError,
} from './errors.ts';
import type { Pacer, Turn } from './pacer.ts';
import { createPool } from './pool.ts';
import type { ForwardProxy } from './proxy.ts';
import { parseRetryAfter, pauseMs, retryDelayMs } from './retry.ts';

/** What the client tells of its requests. */
export interface ClientObserver {
  /** code: the HTTP status, or `timeout`, `network` or `schema` (too long) where no answer was complete. */
  requested(api: ApiName, code: string, durationSeconds: number, path: string): void;
  /** A 429 has paused the API until then (Unix time). */
  paused(api: ApiName, untilMs: number): void;
}

/** A key that only says what it is when asked to. */
export interface Key {
  reveal(): string;
}

/** Reads the key of a credential. Rejects, without the key in the error, where it cannot be read. */
export type ReadKey = (credential: string) => Promise<Key>;

export interface Request {
  /** Under the base URL, with its slash. */
  readonly path: string;
  readonly kind: string;
  readonly credential: string;
  /** No further try begins later than this after the first. */
  readonly budgetMs: number;
  /** The turn that the caller holds already; it is released in any case. */
  readonly turn?: Turn | undefined;
}

/** Statuses that are an answer to read. 202 is among them: shield sends errors so (see unwrapData). */
function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function headerOf(headers: Dispatcher.ResponseData['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** When the answer was sent by the clock that its dates are of, in Unix time; by our own where it does not say. */
function servedAtMs(date: string | undefined): number {
  const atMs = Date.parse(date ?? '');
  return Number.isNaN(atMs) ? Date.now() : atMs;
}

/** Takes the key out of a text. */
type Hide = (text: string) => string;

function hideIn(value: unknown, hide: Hide): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => hideIn(element, hide));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [hide(name), hideIn(inner, hide)]));
}

/** An answer that repeats the key must not carry it any further, nor one that writes it with the escapes of JSON. */
function parseBody(text: string, answer: Answer, hide: Hide): unknown {
  const body = parseJson(text, answer);
  return text.includes('\\') || hide(text) !== text ? hideIn(body, hide) : body;
}

/** What a body says of its error, in one line: problem details (reference 2.2) or an envelope (2.3). */
function describeError(text: string, hide: Hide): { reason: string; errorKey: string | undefined } {
  let body: unknown;
  try {
    body = parseBody(text, {}, hide);
  } catch {
    return { reason: '', errorKey: undefined };
  }
  const outer = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const envelope = outer['error'] ?? outer['errorResponse'];
  const inner = (typeof envelope === 'object' && envelope !== null ? envelope : {}) as Record<
    string,
    unknown
  >;
  const pick = (name: string): string | undefined => {
    const value = inner[name] ?? outer[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const parts = [pick('errorKey'), pick('title'), pick('detail') ?? pick('message')];
  return { reason: parts.filter((part) => part !== undefined).join(': '), errorKey: pick('errorKey') };
}

/** The error that a status without success stands for (reference 7). */
function errorOfStatus(
  status: number,
  text: string,
  hide: Hide,
  retryAfterMs: number | undefined,
  answer: Answer,
): ApiError {
  const { reason, errorKey } = describeError(text, hide);
  const message = `HTTP ${status}${reason === '' ? '' : `: ${reason}`}`;
  const about = { ...answer, errorKey };
  if (status === 401 || status === 403) return new KeyRefusedError(message, about);
  if (status === 404 || status === 410) return new AbsentError(message, about);
  if (status === 408) return new DeadlineError(message, about);
  if (status === 429) return new RateLimitedError(message, about, retryAfterMs);
  if (status >= 500) return new ServerFailureError(message, about, retryAfterMs);
  if (status >= 300 && status < 400) {
    return new RequestRejectedError(`${message}: a redirect, which is not followed; check base_url`, about);
  }
  return new RequestRejectedError(message, about);
}

/** What undici throws, in the exporter's terms. */
function errorOfTransport(cause: unknown, timeoutMs: number, maxBytes: number): ApiError {
  if (cause instanceof ApiError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined) {
    return new ConnectionError(`the proxy refused the tunnel: HTTP ${refusal}`, {}, { cause });
  }
  const wasAborted = code === 'UND_ERR_ABORTED' || (cause as Error).name === 'AbortError';
  // The latter is of a proxy that does not answer; an API has the deadline alone.
  if (wasAborted || cause instanceof errors.HeadersTimeoutError) {
    return new DeadlineError(`no whole answer within ${timeoutMs} ms`, {}, { cause });
  }
  if (cause instanceof errors.ResponseExceededMaxSizeError) {
    return new UnreadableBodyError(tooLongMessage(maxBytes));
  }
  const reason = message === '' ? (code ?? 'unknown') : message;
  return new ConnectionError(code && !reason.includes(code) ? `${code}: ${reason}` : reason, {}, { cause });
}

export class ApiClient {
  readonly #api: ApiName;
  #config: ApiConfig;
  readonly #pacer: Pacer;
  readonly #readKey: ReadKey;
  readonly #observer: ClientObserver;
  readonly #proxy: ForwardProxy | undefined;
  #dispatcher: Dispatcher;
  /** 429s that began a pause, since the last success. */
  #refusals = 0;
  #pausedUntilMs = 0;

  constructor(
    api: ApiName,
    config: ApiConfig,
    pacer: Pacer,
    readKey: ReadKey,
    observer: ClientObserver,
    proxy?: ForwardProxy,
  ) {
    this.#api = api;
    this.#config = config;
    this.#pacer = pacer;
    this.#readKey = readKey;
    this.#observer = observer;
    this.#proxy = proxy;
    this.#dispatcher = createPool(config, proxy);
  }

  /** Goes on with other settings; requests under way end with the old ones. */
  async reconfigure(config: ApiConfig): Promise<void> {
    const old = this.#dispatcher;
    this.#config = config;
    this.#dispatcher = createPool(config, this.#proxy);
    await old.close();
  }

  /**
   * Gets a path and parses its JSON body, with further tries as the configuration allows.
   *
   * @throws {ApiError} for each way to fail; the signal's reason when it was aborted
   */
  async get(asked: Request, signal: AbortSignal): Promise<unknown> {
    const giveUpAtMs = performance.now() + asked.budgetMs;
    let turn = asked.turn ?? (await this.#pacer.turn(asked.kind, signal));
    for (let attempt = 0; ; attempt++) {
      const held = turn;
      const outcome = await this.#tryOnce(asked, signal).finally(() => held.release());
      if (!(outcome instanceof ApiError)) return outcome.body;
      signal.throwIfAborted();
      const retryAfterMs =
        'retryAfterMs' in outcome ? (outcome.retryAfterMs as number | undefined) : undefined;
      const delayMs = retryDelayMs(attempt, retryAfterMs);
      const mayRetry = outcome.retryable && attempt < this.#config.maxRetries;
      if (!mayRetry || performance.now() + delayMs > giveUpAtMs) throw outcome;
      await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      const next = await this.#turnUntil(giveUpAtMs, asked.kind, signal);
      if (!next) throw outcome;
      turn = next;
    }
  }

  /** A turn, or undefined where none came in time: a paused API must not keep a poll that failed from saying so. */
  async #turnUntil(giveUpAtMs: number, kind: string, signal: AbortSignal): Promise<Turn | undefined> {
    const tooLate = new AbortController();
    const timer = setTimeout(() => tooLate.abort(), giveUpAtMs - performance.now());
    try {
      return await this.#pacer.turn(kind, AbortSignal.any([signal, tooLate.signal]));
    } catch (error) {
      if (signal.aborted || !tooLate.signal.aborted) throw error;
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #keyFor(credential: string): Promise<Key> {
    try {
      return await this.#readKey(credential);
    } catch (cause) {
      throw new KeyRefusedError(`the key cannot be read: ${(cause as Error).message}`);
    }
  }

  async #tryOnce(asked: Request, signal: AbortSignal): Promise<ApiError | { body: unknown }> {
    const startedMs = performance.now();
    let status: number | undefined;
    let error: ApiError | undefined;
    try {
      const key = await this.#keyFor(asked.credential);
      const { answer, text, hide, retryAfterMs } = await this.#send(asked.path, key, signal);
      status = answer.status;
      if (!isSuccess(status)) throw errorOfStatus(status, text, hide, retryAfterMs, answer);
      this.#refusals = 0;
      return { body: parseBody(text, answer, hide) };
    } catch (cause) {
      error = errorOfTransport(cause, this.#config.timeoutMs, this.#config.maxResponseBytes);
      status ??= error.answer.status;
      if (error instanceof RateLimitedError) this.#pause(error);
      return error;
    } finally {
      const code = status === undefined ? (error?.result ?? 'network') : String(status);
      const wasSent = code !== 'auth' && !signal.aborted;
      const seconds = (performance.now() - startedMs) / 1000;
      if (wasSent) this.#observer.requested(this.#api, code, seconds, asked.path);
    }
  }

  async #send(path: string, key: Key, signal: AbortSignal) {
    // While the key was read the signal had nobody to tell.
    signal.throwIfAborted();
    const { baseUrl, timeoutMs, maxResponseBytes } = this.#config;
    const secret = key.reveal();
    const hide: Hide = (text) => text.replaceAll(secret, '[redacted]');
    const abort = new AbortController();
    const stop = () => abort.abort();
    const deadline = setTimeout(stop, timeoutMs);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { statusCode, headers, body } = await request(`${baseUrl}${path}`, {
        dispatcher: this.#dispatcher,
        signal: abort.signal,
        headers: {
          accept: 'application/json',
          AccessKey: secret,
          'user-agent': `bunnynet-exporter/${version}`,
        },
      });
      const header = (name: string) => {
        const value = headerOf(headers, name);
        return value === undefined ? undefined : hide(value);
      };
      const answer = { status: statusCode, requestId: header('cdn-requestid') };
      const coding = header('content-encoding');
      const reading = body
        .arrayBuffer()
        .then((bytes) => decodeBody(Buffer.from(bytes), coding, maxResponseBytes, answer));
      // A failure is told by its status; its body only adds words, and may never come.
      const text = await (isSuccess(statusCode) ? reading : reading.catch(() => ''));
      const retryAfterMs = parseRetryAfter(header('retry-after'), servedAtMs(header('date')));
      return { answer, text, hide, retryAfterMs };
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener('abort', stop);
    }
  }

  /** Rests the API for everybody. The refusals of requests that were under way already are one refusal. */
  #pause({ retryAfterMs }: RateLimitedError): void {
    const isNew = performance.now() >= this.#pausedUntilMs;
    if (isNew) this.#refusals++;
    else if (retryAfterMs === undefined) return;
    const durationMs = pauseMs(this.#refusals - 1, retryAfterMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
    this.#pacer.pause(durationMs);
    this.#observer.paused(this.#api, Date.now() + (this.#pausedUntilMs - performance.now()));
  }
}
