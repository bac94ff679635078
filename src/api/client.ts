/** Sends requests to one API, with key, deadline, limits and retries. */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import { type ApiName, apiNames } from '../resources/resource.ts';
import type { Secret } from '../secrets/credentials.ts';
import { capitalised } from '../text.ts';
import { version } from '../version.ts';
import { decodeBody, parseJson } from './body.ts';
import { type Answer, ApiError, failureOf } from './errors.ts';
import { exchange, isSuccess } from './exchange.ts';
import { Pacer, type Permit } from './pacer.ts';
import { createPool } from './pool.ts';
import type { ForwardProxy } from './proxy.ts';
import { parseRetryAfter, pauseMs, retryDelayMs } from './retry.ts';
import { errorOfTransport } from './transport-error.ts';

export interface ClientObserver {
  /**
   * @param code the HTTP status; `timeout`, `network` or `schema` (too long) without a complete answer
   */
  requested(api: ApiName, code: string, durationSeconds: number, path: string, answer?: RawAnswer): void;
  /** A 429 has paused the API until then (Unix time in ms). isNew: false if it was paused already. */
  paused(api: ApiName, untilMs: number, isNew: boolean): void;
}

/** An answer before it is parsed. */
export interface RawAnswer {
  readonly headers: IncomingHttpHeaders;
  /** The body, with the key taken out. */
  text(): string;
}

/** Rejects, without the key in the error, if it cannot be read. */
export type ReadKey = (api: ApiName, credential: string) => Promise<Secret>;

export interface Request {
  /** Below the base URL, with its leading slash. */
  readonly path: string;
  /** The pacer's queue for further permits. */
  readonly queue: string;
  readonly credential: string;
  /** No retry starts later than this after the first try. */
  readonly budgetMs: number;
  /** A permit that the caller already holds; `get` releases it in any case. */
  readonly permit?: Permit | undefined;
}

/** Removes the key from a text. */
type Hide = (text: string) => string;

function hideIn(value: unknown, hide: Hide): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => hideIn(element, hide));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [hide(name), hideIn(inner, hide)]));
}

/** Parses a body and removes the key from it, also if it is written with JSON escapes. */
function parseBody(text: string, answer: Answer, hide: Hide): unknown {
  const body = parseJson(text, answer);
  return text.includes('\\') || hide(text) !== text ? hideIn(body, hide) : body;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/**
 * The error for a status other than 2xx (reference 7). Its body has the reason, in problem details (2.2) or an envelope (2.3).
 * The core API begins its names with a capital letter: `ErrorKey`, `Message`.
 */
function errorOfStatus(status: number, text: string, hide: Hide, answer: Answer): ApiError {
  let outer: Readonly<Record<string, unknown>> = {};
  try {
    outer = objectOf(parseBody(text, {}, hide));
  } catch {
    // It gives no reason: the message is the status alone.
  }
  const inner = objectOf(outer['error'] ?? outer['errorResponse']);
  const pick = (name: string): string | undefined => {
    const value = inner[name] ?? outer[name] ?? outer[capitalised(name)];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const errorKey = pick('errorKey');
  const isRedirect = status >= 300 && status < 400;
  const parts = [
    `HTTP ${status}`,
    errorKey,
    pick('title'),
    pick('detail') ?? pick('message'),
    isRedirect ? 'a redirect, which is not followed; check base_url' : undefined,
  ];
  const message = parts.filter((part) => part !== undefined).join(': ');
  return new ApiError(failureOf(status), message, { ...answer, errorKey });
}

export class ApiClient {
  readonly pacer: Pacer;
  readonly #api: ApiName;
  #config: ApiConfig;
  readonly #readKey: ReadKey;
  readonly #observer: ClientObserver;
  readonly #proxy: ForwardProxy | undefined;
  #dispatcher: Dispatcher;
  /** How many pauses 429s have started since the last success. */
  #refusals = 0;

  constructor(
    api: ApiName,
    config: ApiConfig,
    readKey: ReadKey,
    observer: ClientObserver,
    proxy?: ForwardProxy,
  ) {
    this.pacer = new Pacer(config);
    this.#api = api;
    this.#config = config;
    this.#readKey = readKey;
    this.#observer = observer;
    this.#proxy = proxy;
    this.#dispatcher = createPool(config, proxy);
  }

  /** Requests under way finish with the old settings. Rejects, and keeps those, if the new ones cannot be used. */
  async reconfigure(config: ApiConfig): Promise<void> {
    if (JSON.stringify(config) === JSON.stringify(this.#config)) return;
    const old = this.#dispatcher;
    this.#dispatcher = createPool(config, this.#proxy);
    this.#config = config;
    this.pacer.setPace(config);
    await old.close();
  }

  /**
   * Gets a path and parses its JSON body, retrying as configured.
   *
   * @throws {ApiError} if it failed; the signal's reason if it was aborted
   */
  async get(asked: Request, signal: AbortSignal): Promise<unknown> {
    const giveUpAtMs = performance.now() + asked.budgetMs;
    let permit = asked.permit ?? (await this.pacer.permit(asked.queue, signal));
    for (let attempt = 0; ; attempt++) {
      const held = permit;
      const outcome = await this.#tryOnce(asked, signal).finally(() => held.release());
      if (!(outcome instanceof ApiError)) {
        // Requests that waited for the permit are sent before the caller works on this answer.
        await nextTurn();
        return outcome.body;
      }
      signal.throwIfAborted();
      const delayMs = retryDelayMs(attempt, outcome.answer.retryAfterMs);
      const mayRetry = outcome.retryable && attempt < this.#config.maxRetries;
      if (!mayRetry || performance.now() + delayMs > giveUpAtMs) throw outcome;
      try {
        await sleep(delayMs, undefined, { signal });
        permit = await this.pacer.permit(asked.queue, signal, giveUpAtMs);
      } catch {
        signal.throwIfAborted();
        // The API is paused for longer than the budget.
        throw outcome;
      }
    }
  }

  async close(): Promise<void> {
    this.pacer.close();
    await this.#dispatcher.destroy();
  }

  async #keyFor(credential: string): Promise<Secret> {
    try {
      return await this.#readKey(this.#api, credential);
    } catch (cause) {
      throw new ApiError('auth', `the key cannot be read: ${(cause as Error).message}`);
    }
  }

  async #tryOnce(asked: Request, signal: AbortSignal): Promise<ApiError | { body: unknown }> {
    const startedMs = performance.now();
    let status: number | undefined;
    let error: ApiError | undefined;
    let raw: RawAnswer | undefined;
    try {
      const key = await this.#keyFor(asked.credential);
      const { answer, headers, text, hide } = await this.#send(asked.path, key, signal);
      status = answer.status;
      raw = { headers, text: () => hide(text) };
      if (!isSuccess(status)) throw errorOfStatus(status, text, hide, answer);
      this.#refusals = 0;
      return { body: parseBody(text, answer, hide) };
    } catch (cause) {
      error = errorOfTransport(cause, this.#api, this.#config, this.#proxy);
      status ??= error.answer.status;
      if (error.result === 'rate_limited') this.#pause(error.answer.retryAfterMs);
      return error;
    } finally {
      const code = status === undefined ? (error?.result ?? 'network') : String(status);
      const wasSent = code !== 'auth' && !signal.aborted;
      const seconds = (performance.now() - startedMs) / 1000;
      if (wasSent) this.#observer.requested(this.#api, code, seconds, asked.path, raw);
    }
  }

  async #send(path: string, key: Secret, signal: AbortSignal) {
    // It may have been aborted while we read the key.
    signal.throwIfAborted();
    const { baseUrl, timeoutMs, maxResponseBytes } = this.#config;
    const { origin, pathname } = new URL(baseUrl);
    const secret = key.reveal();
    const hide: Hide = (text) => text.replaceAll(secret, '[redacted]');
    const asked = {
      origin,
      path: `${pathname.replace(/\/$/, '')}${path}`,
      headers: {
        accept: 'application/json',
        AccessKey: secret,
        'user-agent': `bunnynet-exporter/${version}`,
      },
      timeoutMs,
    };
    const { status, headers, body } = await exchange(this.#dispatcher, asked, signal);
    const header = (name: string) => {
      // Several headers of the same name are a list.
      const [value] = [headers[name]].flat();
      return value === undefined ? undefined : hide(value);
    };
    // When the answer was sent, by the API's clock if it has a date.
    const sentAtMs = Date.parse(header('date') ?? '') || Date.now();
    const retryAfterMs = parseRetryAfter(header('retry-after'), sentAtMs);
    const answer = { status, requestId: header('cdn-requestid'), retryAfterMs };
    const decoding = decodeBody(body, header('content-encoding'), maxResponseBytes, answer);
    // The body of an error only explains it.
    const text = await (isSuccess(status) ? decoding : decoding.catch(() => ''));
    return { answer, headers, text, hide };
  }

  /** Pauses the whole API. Several 429s for requests in flight together count as one. */
  #pause(retryAfterMs: number | undefined): void {
    const isNew = this.pacer.pausedForMs === 0;
    if (isNew) this.#refusals++;
    else if (retryAfterMs === undefined) return;
    this.pacer.pause(pauseMs(this.#refusals - 1, retryAfterMs));
    this.#observer.paused(this.#api, Date.now() + this.pacer.pausedForMs, isNew);
  }
}

export type ApiClients = Readonly<Record<ApiName, ApiClient>>;

/** The clients of all APIs. proxy: undefined for direct connections. */
export function createClients(
  configs: Readonly<Record<ApiName, ApiConfig>>,
  readKey: ReadKey,
  observer: ClientObserver,
  proxy: ForwardProxy | undefined,
): ApiClients {
  const create = (api: ApiName) => new ApiClient(api, configs[api], readKey, observer, proxy);
  return Object.fromEntries(apiNames.map((api) => [api, create(api)])) as ApiClients;
}
