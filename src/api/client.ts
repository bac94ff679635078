/** Requests to one API: the key in the header, the deadline, the limits and the retries. Gives a parsed body or an ApiError. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ApiName } from '../resources/resource.ts';
import { version } from '../version.ts';
import { decodeBody, parseJson } from './body.ts';
import { type Answer, ApiError, failureOf } from './errors.ts';
import { exchange, isSuccess } from './exchange.ts';
import type { Pacer, Permit } from './pacer.ts';
import { createPool } from './pool.ts';
import type { ForwardProxy } from './proxy.ts';
import { parseRetryAfter, pauseMs, retryDelayMs } from './retry.ts';
import { errorOfTransport } from './transport-error.ts';

/** Told of every request. */
export interface ClientObserver {
  /** code: the HTTP status, or `timeout`, `network` or `schema` (too long) if no answer was complete. */
  requested(api: ApiName, code: string, durationSeconds: number, path: string): void;
  /** A 429 has paused the API until then (Unix time in ms). */
  paused(api: ApiName, untilMs: number): void;
}

/** A key that shows itself only when asked to. */
export interface Key {
  reveal(): string;
}

/** Reads the key of a credential. Rejects if it cannot be read, without the key in the error. */
export type ReadKey = (credential: string) => Promise<Key>;

export interface Request {
  /** Below the base URL, with its leading slash. */
  readonly path: string;
  /** The pacer's queue that further permits come from. */
  readonly queue: string;
  readonly credential: string;
  /** No retry starts later than this after the first try. */
  readonly budgetMs: number;
  /** A permit that the caller already holds; it is always released. */
  readonly permit?: Permit | undefined;
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** When the answer was sent, by the API's clock (Unix time in ms); by our own if it does not say. */
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

/** Takes the key out of an answer that repeats it, also if it is written with JSON escapes. */
function parseBody(text: string, answer: Answer, hide: Hide): unknown {
  const body = parseJson(text, answer);
  return text.includes('\\') || hide(text) !== text ? hideIn(body, hide) : body;
}

/** What a body says about its error, in one line: problem details (reference 2.2) or an envelope (2.3). */
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

/** The error for a status that is no success (reference 7). */
function errorOfStatus(
  status: number,
  text: string,
  hide: Hide,
  retryAfterMs: number | undefined,
  answer: Answer,
): ApiError {
  const { reason, errorKey } = describeError(text, hide);
  const isRedirect = status >= 300 && status < 400;
  const message = `HTTP ${status}${reason === '' ? '' : `: ${reason}`}`;
  return new ApiError(
    failureOf(status),
    isRedirect ? `${message}: a redirect, which is not followed; check base_url` : message,
    { ...answer, errorKey },
    { retryAfterMs },
  );
}

/** The base URL, taken apart once: `URL` puts its origin together at each read. */
interface Base {
  readonly origin: string;
  /** What every path begins with: empty, or with a leading slash. */
  readonly path: string;
}

function baseOf({ baseUrl }: ApiConfig): Base {
  const { origin, pathname } = new URL(baseUrl);
  return { origin, path: pathname === '/' ? '' : pathname };
}

export class ApiClient {
  readonly #api: ApiName;
  #config: ApiConfig;
  readonly #pacer: Pacer;
  readonly #readKey: ReadKey;
  readonly #observer: ClientObserver;
  readonly #proxy: ForwardProxy | undefined;
  #dispatcher: Dispatcher;
  #base: Base;
  /** 429s that started a pause, since the last success. */
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
    this.#base = baseOf(config);
  }

  /** Uses other settings from now on; requests in flight end with the old ones. */
  async reconfigure(config: ApiConfig): Promise<void> {
    const old = this.#dispatcher;
    // First of all: where it fails, the old settings stay, all of them.
    this.#dispatcher = createPool(config, this.#proxy);
    this.#config = config;
    this.#base = baseOf(config);
    await old.close();
  }

  /**
   * Gets a path and parses its JSON body, with retries as the configuration allows.
   *
   * @throws {ApiError} when it failed; the signal's reason when it was aborted
   */
  async get(asked: Request, signal: AbortSignal): Promise<unknown> {
    const giveUpAtMs = performance.now() + asked.budgetMs;
    let permit = asked.permit ?? (await this.#pacer.permit(asked.queue, signal));
    for (let attempt = 0; ; attempt++) {
      const held = permit;
      const outcome = await this.#tryOnce(asked, signal).finally(() => held.release());
      if (!(outcome instanceof ApiError)) return outcome.body;
      signal.throwIfAborted();
      const delayMs = retryDelayMs(attempt, outcome.retryAfterMs);
      const mayRetry = outcome.retryable && attempt < this.#config.maxRetries;
      if (!mayRetry || performance.now() + delayMs > giveUpAtMs) throw outcome;
      await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      // The API may be paused for longer than the budget: the failure is reported in time all the same.
      const next = await this.#pacer.permit(asked.queue, signal, giveUpAtMs);
      if (!next) throw outcome;
      permit = next;
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #keyFor(credential: string): Promise<Key> {
    try {
      return await this.#readKey(credential);
    } catch (cause) {
      throw new ApiError('auth', `the key cannot be read: ${(cause as Error).message}`);
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
      error = errorOfTransport(cause, this.#api, this.#config, this.#proxy !== undefined);
      status ??= error.answer.status;
      if (error.result === 'rate_limited') this.#pause(error.retryAfterMs);
      return error;
    } finally {
      const code = status === undefined ? (error?.result ?? 'network') : String(status);
      const wasSent = code !== 'auth' && !signal.aborted;
      const seconds = (performance.now() - startedMs) / 1000;
      if (wasSent) this.#observer.requested(this.#api, code, seconds, asked.path);
    }
  }

  async #send(path: string, key: Key, signal: AbortSignal) {
    // It may have been aborted while the key was read.
    signal.throwIfAborted();
    const { timeoutMs, maxResponseBytes } = this.#config;
    const { origin, path: basePath } = this.#base;
    const secret = key.reveal();
    const hide: Hide = (text) => text.replaceAll(secret, '[redacted]');
    const asked = {
      origin,
      path: `${basePath}${path}`,
      headers: {
        accept: 'application/json',
        AccessKey: secret,
        'user-agent': `bunnynet-exporter/${version}`,
      },
      timeoutMs,
    };
    const { status, headers, body } = await exchange(this.#dispatcher, asked, signal);
    const header = (name: string) => {
      const value = headerOf(headers, name);
      return value === undefined ? undefined : hide(value);
    };
    const answer = { status, requestId: header('cdn-requestid') };
    const decoding = decodeBody(body, header('content-encoding'), maxResponseBytes, answer);
    // Of a failure the body only explains it.
    const text = await (isSuccess(status) ? decoding : decoding.catch(() => ''));
    const retryAfter = header('retry-after');
    const retryAfterMs =
      retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, servedAtMs(header('date')));
    return { answer, text, hide, retryAfterMs };
  }

  /** Pauses the whole API. 429s of requests that were in flight at the same time count as one. */
  #pause(retryAfterMs: number | undefined): void {
    const isNew = performance.now() >= this.#pausedUntilMs;
    if (isNew) this.#refusals++;
    else if (retryAfterMs === undefined) return;
    const durationMs = pauseMs(this.#refusals - 1, retryAfterMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
    this.#pacer.pause(durationMs);
    this.#observer.paused(this.#api, Date.now() + (this.#pausedUntilMs - performance.now()));
  }
}
