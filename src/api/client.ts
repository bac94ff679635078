/** Sends requests to one API, with key, deadline, limits and retries. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiConfig } from '../config/config.ts';
import { type ApiName, apiNames } from '../resources/resource.ts';
import type { Secret } from '../secrets/credentials.ts';
import { ownTurn } from '../turns.ts';
import { version } from '../version.ts';
import { boundedText, decodeBody, mayBeUnsafe, parseJson, unescaped } from './body.ts';
import { type AnswerText, errorOfPage, errorOfStatus, type Hide, isPage } from './error-answer.ts';
import { ApiError } from './errors.ts';
import { exchange, isSuccess } from './exchange.ts';
import { type Pace, Pacer, PausedError, type PausedPart, type Permit, type QueueAddress } from './pacer.ts';
import { Connections, type CreateSender, type Generation } from './pool.ts';
import type { ForwardProxy } from './proxy.ts';
import { parseRetryAfter, retryDelayMs } from './retry.ts';
import { errorOfTransport } from './transport-error.ts';

export interface ClientObserver {
  /**
   * @param code the HTTP status; without a complete answer `timeout`, `network` or `schema` (too long), or `aborted` where nobody
   *   waited for one any more
   */
  requested(api: ApiName, code: string, durationSeconds: number, path: string, answer?: RawAnswer): void;
}

/** An answer before it is parsed. */
export interface RawAnswer {
  readonly headers: IncomingHttpHeaders;
  /** The body, with the key taken out. */
  text(): string;
}

export interface ApiKeys {
  /** Throws, without the key in the error, if there is none. */
  get(api: ApiName, credential: string): Secret;
  /** Called when a key was refused, which may have been replaced since. Never rejects. */
  check(): Promise<void>;
}

/** Its queue is where it waits for a permit, if it has none, and each retry for another. */
export interface Request extends QueueAddress {
  /** Below the base URL, with its leading slash. */
  readonly path: string;
  /** It waits no longer for a permit, and no retry starts later. */
  readonly budgetMs: number;
  /** True to send it only once. Default: retries as configured. */
  readonly withoutRetries?: boolean | undefined;
  /** A permit that the caller already holds; `get` releases it in any case. */
  readonly permit?: Permit | undefined;
  /** Called when a good answer has a date: Unix time by the clock of the API. */
  readonly onDated?: ((sentAtMs: number) => void) | undefined;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => mapTexts(element, map));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [map(name), mapTexts(inner, map)]));
}

/** Whether a JSON text has something to hide, also if it is written with escapes. */
function hasKey(text: string, hide: Hide): boolean {
  const forms = text.includes('\\') ? [text, unescaped(text)] : [text];
  return forms.some((form) => hide(form) !== form);
}

/** What a request is sent with: all of one configuration. */
interface RequestContext {
  readonly config: ApiConfig;
  readonly key: Secret;
  readonly connections: Generation;
}

interface DecodedAnswer extends AnswerText {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** When it was sent, by the clock of the API; undefined if it does not say so. Unix time. */
  readonly sentAtMs: number | undefined;
}

/** What a pause belongs to: a key at an address. */
function idAt({ baseUrl }: ApiConfig, { id }: Secret): string {
  return `${id} ${baseUrl}`;
}

/** Sends a request and decodes its answer. */
async function send(
  path: string,
  { config, key, connections }: RequestContext,
  signal: AbortSignal,
): Promise<DecodedAnswer> {
  const { baseUrl, timeoutMs, maxResponseBytes } = config;
  const { origin, pathname } = new URL(baseUrl);
  const secret = key.reveal();
  const hide: Hide = (text) => key.hideIn(text);
  const request = {
    origin,
    path: `${pathname.replace(/\/$/, '')}${path}`,
    headers: {
      accept: 'application/json',
      AccessKey: secret,
      'user-agent': `bunnynet-exporter/${version}`,
    },
    timeoutMs,
  };
  const { status, headers, body } = await exchange(connections.dispatcher, request, signal);
  const header = (name: string) => {
    const all = headers[name];
    const value = Array.isArray(all) ? all[0] : all;
    return value === undefined ? undefined : hide(value);
  };
  const sentAtMs = Date.parse(header('date') ?? '') || undefined;
  const retryAfterMs = parseRetryAfter(header('retry-after'), sentAtMs ?? Date.now());
  const answer = { status, requestId: header('cdn-requestid'), retryAfterMs };
  const decoding = decodeBody(body, header('content-encoding'), maxResponseBytes, answer);
  // The body of an error only explains it.
  const text = await (isSuccess(status) ? decoding : decoding.catch(() => ''));
  return { status, headers, text, type: header('content-type'), answer, hide, sentAtMs };
}

export class ApiClient {
  readonly pacer: Pacer;
  readonly #api: ApiName;
  #config: ApiConfig;
  readonly #keys: ApiKeys;
  readonly #observer: ClientObserver;
  readonly #connect: (config: ApiConfig) => Connections;
  readonly #proxy: ForwardProxy | undefined;
  readonly #failsPaused: boolean;
  #connections: Connections;

  constructor(
    api: ApiName,
    config: ApiConfig,
    keys: ApiKeys,
    observer: ClientObserver,
    { proxy, uptimeMs = () => performance.now(), failsPaused = false, createSender }: ClientOptions = {},
  ) {
    this.#failsPaused = failsPaused;
    this.pacer = new Pacer(this.#paceOf(config), (credential) => this.#keyIdOf(credential));
    this.#api = api;
    this.#config = config;
    this.#keys = keys;
    this.#observer = observer;
    this.#proxy = proxy;
    this.#connect = (settings) => new Connections(settings, proxy, uptimeMs, createSender);
    this.#connections = this.#connect(config);
  }

  /** Requests under way finish with the old settings. Rejects, and keeps those, if the new ones cannot be used. */
  async reconfigure(config: ApiConfig): Promise<void> {
    if (JSON.stringify(config) === JSON.stringify(this.#config)) return;
    const old = this.#connections;
    const hasMoved = config.baseUrl !== this.#config.baseUrl;
    this.#connections = this.#connect(config);
    this.#config = config;
    this.pacer.setPace(this.#paceOf(config), hasMoved);
    await old.close();
  }

  #paceOf(config: ApiConfig): Pace {
    return { ...config, longestPauseMs: this.#failsPaused ? config.timeoutMs : undefined };
  }

  /**
   * Gets a path and parses its JSON body, retrying as configured.
   *
   * @throws {ApiError} if it failed; the signal's reason if it was aborted
   */
  async get(request: Request, signal: AbortSignal): Promise<unknown> {
    const giveUpAtMs = performance.now() + request.budgetMs;
    let permit = request.permit ?? (await this.#permit(request, signal, giveUpAtMs));
    for (let attempt = 0; ; attempt++) {
      const held = permit;
      const outcome = await this.#tryOnce(request, signal).finally(() => held.release());
      if (!(outcome instanceof ApiError)) return outcome.body;
      outcome.requests = attempt + 1;
      if (outcome.result === 'auth' && outcome.answer.status === 401) await this.#keys.check();
      signal.throwIfAborted();
      const { maxRetries, timeoutMs } = this.#config;
      const delayMs = retryDelayMs(attempt, outcome.answer.retryAfterMs);
      const mayRetry = outcome.retryable && !request.withoutRetries && attempt < maxRetries;
      // The poll fails where it would wait for long, so that everybody sees it, and comes again later.
      const waitMs = Math.max(delayMs, this.pacer.pauseOf(request)?.forMs ?? 0);
      if (!mayRetry || waitMs > timeoutMs || performance.now() + waitMs > giveUpAtMs) throw outcome;
      await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      permit = await this.#permit(request, signal, giveUpAtMs).catch((error: unknown) => {
        throw error instanceof ApiError ? outcome : error;
      });
    }
  }

  async #permit(request: Request, signal: AbortSignal, untilMs: number): Promise<Permit> {
    try {
      return await this.pacer.permit(request, { untilMs }, signal);
    } catch (cause) {
      signal.throwIfAborted();
      const pause = this.pacer.pauseOf(request);
      const paused = pause && `${pausedText(pause)} paused after`;
      if (cause instanceof PausedError)
        throw new ApiError('rate_limited', `${paused ?? 'paused after'} a 429, for longer than the timeout`);
      const why = "it was not this request's turn before the interval of its poll was over";
      const advice = `Raise interval_factor, the interval, or apis.${this.#api}.requests_per_second.`;
      throw paused
        ? new ApiError('rate_limited', `${paused} an earlier 429, and ${why}`)
        : new ApiError('timeout', why, {}, { advice, isTransient: false });
    }
  }

  async close(): Promise<void> {
    this.pacer.close();
    await this.#connections.destroy();
  }

  /** Empty if the key cannot be read: then nothing is sent with it. */
  #keyIdOf(credential: string): string {
    try {
      return idAt(this.#config, this.#keys.get(this.#api, credential));
    } catch {
      return '';
    }
  }

  #context(credential: string): RequestContext | ApiError {
    try {
      const key = this.#keys.get(this.#api, credential);
      return { config: this.#config, key, connections: this.#connections.current() };
    } catch (cause) {
      return new ApiError('auth', `the key cannot be read: ${(cause as Error).message}`);
    }
  }

  async #tryOnce(request: Request, signal: AbortSignal): Promise<ApiError | { body: unknown }> {
    signal.throwIfAborted();
    const context = this.#context(request.credential);
    if (context instanceof ApiError) return context;
    const startedMs = performance.now();
    let endedMs: number | undefined;
    let status: number | undefined;
    let error: ApiError | undefined;
    let raw: RawAnswer | undefined;
    try {
      const response = await send(request.path, context, signal);
      status = response.status;
      endedMs = performance.now();
      raw = { headers: response.headers, text: () => response.hide(response.text) };
      // It keeps its permit until then. So on a busy machine no more answers wait here than requests may be in flight.
      if (isSuccess(status)) await ownTurn();
      const body = this.#read(response, context.config);
      this.pacer.answered(request, idAt(context.config, context.key), true);
      context.connections.failures = 0;
      if (response.sentAtMs !== undefined) request.onDated?.(response.sentAtMs);
      return { body };
    } catch (cause) {
      error = errorOfTransport(cause, context.config, this.#proxy);
      // What a library says of a broken answer may quote it.
      error.message = context.key.hideIn(error.message);
      status ??= error.answer.status;
      if (!signal.aborted) context.connections.failures++;
      const keyId = idAt(context.config, context.key);
      if (error.result === 'rate_limited') this.pacer.refused(request, keyId, error.answer.retryAfterMs);
      else if (!signal.aborted) this.pacer.answered(request, keyId, false);
      return error;
    } finally {
      const noStatus = signal.aborted ? 'aborted' : (error?.result ?? 'network');
      const code = status === undefined ? noStatus : String(status);
      const seconds = ((endedMs ?? performance.now()) - startedMs) / 1000;
      this.#observer.requested(this.#api, code, seconds, request.path, raw);
    }
  }

  /**
   * Parses a body. This is the border for all texts in it, names of fields too: the key is removed, and what is not well-formed
   * or is very long becomes a text that everything else can handle.
   *
   * @throws {ApiError} if the answer is an error or cannot be read
   */
  #read(response: DecodedAnswer, { maxResponseBytes, names }: ApiConfig): unknown {
    const { status, text, answer, hide } = response;
    if (!isSuccess(status)) throw errorOfStatus(this.#api, status, response, names.host);
    let body: unknown;
    try {
      body = parseJson(text, answer, maxResponseBytes);
    } catch (error) {
      throw isPage(response) ? errorOfPage(status, response, names.host) : error;
    }
    const isClean = !hasKey(text, hide) && !mayBeUnsafe(text);
    return isClean ? body : mapTexts(body, (part) => boundedText(hide(part)));
  }
}

function pausedText({ credential, kind }: PausedPart): string {
  if (credential === '') return 'the API is';
  return kind === '' ? 'the key is' : 'requests of this kind with the key are';
}

export interface ClientOptions {
  /** Default: direct connections. */
  readonly proxy?: ForwardProxy | undefined;
  /** A clock that never jumps. */
  readonly uptimeMs?: (() => number) | undefined;
  /** Whether what is paused for longer than its timeout fails instead of waiting. Default: it waits. */
  readonly failsPaused?: boolean | undefined;
  /** Default: connections. */
  readonly createSender?: CreateSender | undefined;
}

export type ApiClients = Readonly<Record<ApiName, ApiClient>>;

/** The clients of all APIs. */
export function createClients(
  configs: Readonly<Record<ApiName, ApiConfig>>,
  keys: ApiKeys,
  observer: ClientObserver,
  options?: ClientOptions,
): ApiClients {
  const create = (api: ApiName) => new ApiClient(api, configs[api], keys, observer, options);
  return Object.fromEntries(apiNames.map((api) => [api, create(api)])) as ApiClients;
}
