/** What happens to a request before a route answers it: bounds, rate limit, authentication, the headers of every answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerText, securityHeaders } from './answer.ts';
import type { BasicAuth } from './basic-auth.ts';
import type { Connection, Connections } from './connections.ts';
import type { WebLimits } from './limits.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { WebLog } from './route.ts';
import type { Router } from './router.ts';
import type { WebConfig } from './web-config.ts';

export interface RequestsOptions {
  readonly config: () => WebConfig;
  readonly connections: Connections;
  readonly auth: BasicAuth;
  readonly router: Router;
  readonly limits: WebLimits;
  readonly log: WebLog;
  readonly logRefusal: RefusalLog;
}

/** Refusals after which the connection is kept: the client may try again. */
const lastingStatuses: ReadonlySet<number> = new Set([401, 429, 503]);

export function createRequestListener(options: RequestsOptions) {
  const { connections, auth, router, limits, log, logRefusal } = options;
  const isWithinRate = createRateCheck();

  async function answer(request: IncomingMessage, response: ServerResponse, connection: Connection) {
    const config = options.config();
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    for (const [name, value] of config.headers) response.setHeader(name, value);
    const target = request.url ?? '';

    const body = dropBody(request, limits.maxBodyBytes);
    let status = refusal(request, target, limits) ?? (isWithinRate(config) ? undefined : 429);
    status ??= await authenticate(request, response, config);
    if (!(await body)) status ??= 413;
    if (!connection.awaits(response)) return;
    if (status === undefined) return router(request, response, target, config.headers);
    if (!lastingStatuses.has(status)) response.setHeader('Connection', 'close');
    answerText(response, status);
  }

  async function authenticate(
    { socket, headers: { authorization } }: IncomingMessage,
    response: ServerResponse,
    { users }: WebConfig,
  ): Promise<401 | 503 | undefined> {
    if (users.size === 0) return undefined;
    const { remoteAddress = '' } = socket;
    const verdict = await auth.judge(users, authorization, remoteAddress);
    if (verdict === 'allowed') return undefined;
    if (verdict === 'busy') {
      response.setHeader('Retry-After', '1');
      return 503;
    }
    if (authorization !== undefined) logRefusal(remoteAddress, 'wrong user or password');
    response.setHeader('WWW-Authenticate', 'Basic');
    return 401;
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const connection = connections.use(request.socket);
    if (!connection) return void request.socket.destroy();
    if (!connection.begin(request, response)) return;
    answer(request, response, connection).catch((err: unknown) => {
      log.error({ err }, 'A request could not be answered; its connection was cut');
      response.destroy();
    });
  };
}

/** Starts with a full bucket whenever the configuration changed. */
function createRateCheck(): (config: WebConfig) => boolean {
  let limiter: { readonly config: WebConfig; readonly bucket: RateLimiter } | undefined;
  return (config) => {
    if (!config.rateLimit) return true;
    if (limiter?.config !== config) limiter = { config, bucket: createRateLimiter(config.rateLimit) };
    return limiter.bucket.allow(performance.now());
  };
}

/** No page reads a body: it is dropped. False where it is longer than the bound. */
function dropBody(request: IncomingMessage, maxBytes: number): boolean | Promise<boolean> {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return true;
  if (Number(length ?? 0) > maxBytes) return false;
  return new Promise((resolve) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) resolve(false);
    });
    request.on('end', () => resolve(true));
    request.on('close', () => resolve(true));
  });
}

function refusal(request: IncomingMessage, target: string, limits: WebLimits): number | undefined {
  const { host, expect } = request.headers;
  if (request.httpVersion === '1.1' && host === undefined) return 400;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return 417;
  return target.length > limits.maxUrlLength ? 414 : undefined;
}
