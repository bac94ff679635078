/** What happens to a request: limits, authentication, then the route that answers it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerText, securityHeaders } from './answer.ts';
import { createBasicAuth } from './basic-auth.ts';
import { matchesHash } from './password-check.ts';
import type { Route, WebLog } from './route.ts';
import type { WebConfig } from './web-config.ts';

/** The largest body of a request, which no page reads. Above it: 413. */
const maxBodyBytes = 1_024;

export interface RequestsOptions {
  /** The web configuration in use. */
  readonly config: () => Promise<WebConfig>;
  readonly routes: readonly Route[];
  readonly log: WebLog;
  /** Whether the server drains: then a connection is closed after its current answer. */
  readonly isStopping: () => boolean;
  /** Aborts comparisons of passwords. */
  readonly signal: AbortSignal;
}

export function createRequestListener(options: RequestsOptions) {
  const { routes, log, isStopping, signal } = options;
  const checkPassword = createBasicAuth((password, hash) => matchesHash(password, hash, signal));
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const isWithinRate = createRateCheck();

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const config = await options.config();
    setHeaders(response, [...Object.entries(securityHeaders), ...config.headers]);
    // No page reads a body: a large one is refused, and the connection ends after one of unknown length.
    const { 'content-length': length = 0, 'transfer-encoding': coding } = request.headers;
    const isTooLong = Number(length) > maxBodyBytes;
    if (isTooLong || coding !== undefined) response.setHeader('Connection', 'close');
    if (isTooLong) return answerText(response, 413);
    if (!isWithinRate(config)) return answerText(response, 429);
    const status = await authenticate(request, response, config);
    if (response.destroyed) return;
    if (status !== undefined) return answerText(response, status);
    await route(request, response, config.headers);
  }

  async function authenticate(
    { socket, headers: { authorization } }: IncomingMessage,
    response: ServerResponse,
    { users }: WebConfig,
  ): Promise<401 | 503 | undefined> {
    if (users.size === 0) return undefined;
    const { remoteAddress = '' } = socket;
    const verdict = await checkPassword(users, authorization, remoteAddress);
    if (verdict === 'allowed') return undefined;
    if (verdict === 'busy') {
      response.setHeader('Retry-After', '1');
      return 503;
    }
    if (authorization !== undefined) log.debug({ client: remoteAddress }, 'wrong user or password');
    response.setHeader('WWW-Authenticate', 'Basic');
    return 401;
  }

  /** `fixed` headers win over the route's. */
  async function route(request: IncomingMessage, response: ServerResponse, fixed: WebConfig['headers']) {
    const { url = '', method = '' } = request;
    // Only a plain path can name a page: not a URL with a host, not `*`.
    if (!url.startsWith('/')) {
      response.setHeader('Connection', 'close');
      return answerText(response, 400);
    }
    const [path = ''] = url.split('?', 1);
    // Compared byte for byte, without decoding or normalising.
    const found = byPath.get(path);
    if (!found) return answerText(response, 404, `Not found. Pages: ${[...byPath.keys()].join(', ')}`);
    if (!found.methods.some((allowed) => allowed === (method === 'HEAD' ? 'GET' : method))) {
      response.setHeader('Allow', found.methods.join(', ').replace('GET', 'GET, HEAD'));
      return answerText(response, 405);
    }
    try {
      setHeaders(response, [...Object.entries(found.headers ?? {}), ...fixed]);
      await found.handle(request, response, new URLSearchParams(url.slice(path.length)));
    } catch (err) {
      log.error({ err, path }, 'a page failed; the client got a 500 or was cut off');
      if (response.headersSent) return void response.destroy();
      response.removeHeader('Content-Encoding');
      answerText(response, 500);
    }
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    if (isStopping()) response.setHeader('Connection', 'close');
    response.once('close', () => {
      if (isStopping()) request.socket.destroySoon();
    });
    answer(request, response).catch((err: unknown) => {
      log.error({ err }, 'a request could not be answered; its connection was cut');
      response.destroy();
    });
  };
}

function setHeaders(response: ServerResponse, headers: Iterable<readonly [string, string]>): void {
  for (const [name, value] of headers) response.setHeader(name, value);
}

/** A token bucket like Go's rate.Limiter, full at first. */
function createRateCheck(): (config: WebConfig) => boolean {
  let tokens = Number.POSITIVE_INFINITY;
  let lastMs = 0;
  return (config) => {
    if (!config.settings.rate_limit) return true;
    const { intervalMs, burst } = config.settings.rate_limit;
    const nowMs = performance.now();
    tokens = Math.min(burst, tokens + (nowMs - lastMs) / intervalMs);
    lastMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
