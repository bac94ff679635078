/** A client with its surroundings, and APIs on loopback for what a mock cannot show. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { ApiClient, type ApiKeys, type ClientObserver, type Request } from '../../src/api/client.ts';
import { ApiError } from '../../src/api/errors.ts';
import type { QueueAddress } from '../../src/api/pacer.ts';
import type { ForwardProxy } from '../../src/api/proxy.ts';
import type { ApiConfig } from '../../src/config/config.ts';
import { Secret } from '../../src/secrets/credentials.ts';

export const origin = 'https://api.test';
export const key = 'k-4f1d9e27';

export const config: ApiConfig = {
  baseUrl: origin,
  timeoutMs: 60_000,
  maxConcurrency: 8,
  requestsPerSecond: 1000,
  maxRetries: 0,
  maxResponseBytes: 100_000,
  names: { host: [], authorities: [] },
};

export const address: QueueAddress = { account: 'account', credential: 'account', kind: 'a', queue: 'a' };

export const keys: ApiKeys = { get: () => new Secret(key), check: () => Promise.resolve() };

/** A client that is closed at the end of the test; `codes` are what it reported to its observer, `pauses` when those end that a 429 began. */
export function createClient(
  settings: Partial<ApiConfig> = {},
  givenKeys: ApiKeys = keys,
  proxy?: ForwardProxy,
) {
  const codes: string[] = [];
  const pauses: number[] = [];
  const observer: ClientObserver = {
    requested(api, code) {
      codes.push(`${api} ${code}`);
      const { forMs } = client.pacer.pauseOf(address) ?? {};
      const endMs = forMs && Date.now() + forMs;
      if (code === '429' && endMs && endMs !== pauses.at(-1)) pauses.push(endMs);
    },
  };
  const client = new ApiClient('shield', { ...config, ...settings }, givenKeys, observer, { proxy });
  onTestFinished(() => client.close());
  const get = (
    path: string,
    { signal = new AbortController().signal, ...about }: Partial<Request> & { signal?: AbortSignal } = {},
  ) => client.get({ path, ...address, budgetMs: 60_000, ...about }, signal);
  /** The error of a request that must fail. */
  const failure = async (path: string, about?: Parameters<typeof get>[1]): Promise<ApiError> => {
    const error: unknown = await get(path, about).then(
      () => new Error('the request succeeded'),
      (error: unknown) => error,
    );
    if (error instanceof ApiError) return error;
    throw error;
  };
  return { client, pacer: client.pacer, codes, pauses, get, failure };
}

/** Makes every random wait as short as possible. */
export function drawTheLeast(): void {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
}

/** Resolves with the port. At the end of the test the server is closed and its connections are cut. */
export async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  server.on('connection', keep);
  server.on('connect', (_request, socket: Socket) => keep(socket));
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** An API on loopback with this handler; returns its base URL. */
export async function serve(handler: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(handler))}`;
}

/** One that answers every request with these bytes, and then does with the connection what the test says. */
export async function serveBytes(
  bytes: string,
  then: (socket: Socket) => void,
  scheme = 'http',
): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.once('data', () => {
      if (bytes === '') then(socket);
      else socket.write(bytes, () => then(socket));
    });
  });
  return `${scheme}://127.0.0.1:${await listen(server)}`;
}

/** Sends an endless body until the other side hangs up. */
export function sendForever(response: ServerResponse): void {
  const chunk = Buffer.alloc(16_384, ' ');
  const send = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', send);
  };
  send();
}
