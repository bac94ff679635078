import { describe, expect, test } from 'vitest';
import type { Route } from '../../src/http/route.ts';
import { metrics, rawClient, scrapeDuring, serve } from './serve.ts';

/** Short for an idle client, but long enough to serve one on a busy machine. */
const shortMs = 400;

const never: Route = { path: '/never', methods: ['GET'], handle: () => undefined };
const begun: Route = {
  path: '/begun',
  methods: ['GET'],
  handle: (_request, response) => void response.write('begun'),
};
/** More than the buffers of loopback hold if the client does not read. */
const big: Route = {
  path: '/big',
  methods: ['GET'],
  handle: (_request, response) => void response.end(Buffer.alloc(32 << 20, 'x')),
};
const reload: Route = {
  path: '/-/reload',
  methods: ['POST'],
  handle: (_request, response) => void response.end('reloaded\n'),
};
const routes = [metrics, never, begun, big, reload];
const ok = new Set(['HTTP/1.1 200 OK']);
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('a client beyond a bound is cut while others are served', () => {
  test('silence: no request for longer than the time for headers', async () => {
    const { port } = await serve({
      routes,
      limits: { headersTimeout: shortMs, connectionsCheckingInterval: 20 },
    });
    const { closed } = rawClient(port);
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('slow headers', async () => {
    const { port } = await serve({
      routes,
      limits: { headersTimeout: shortMs, connectionsCheckingInterval: 20 },
    });
    const { socket, closed } = rawClient(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n');
    const drip = setInterval(() => socket.write('X'), 10);
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    clearInterval(drip);
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('slow headers after a good request on the same connection', async () => {
    const { port } = await serve({
      routes,
      limits: { headersTimeout: shortMs, connectionsCheckingInterval: 20 },
    });
    const client = rawClient(port, get('/metrics'));
    await client.until('up 1');
    client.socket.write('GET /metrics HTTP/1.1\r\nHo');
    expect(await scrapeDuring(port, client.closed)).toEqual(ok);
    expect(await client.closed).toMatch(/HTTP\/1\.1 408 /);
  });

  test('a slow body', async () => {
    const { port } = await serve({
      routes,
      limits: { headersTimeout: shortMs, requestTimeout: shortMs, connectionsCheckingInterval: 20 },
    });
    const { closed } = rawClient(port, 'POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab');
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    expect(await closed).toContain('reloaded');
  });

  test('a body that is too long by its Content-Length', async () => {
    const { port } = await serve({ routes });
    const { closed } = rawClient(port, 'POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n');
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    expect(await closed).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('an endless chunked body', async () => {
    const { port } = await serve({ routes });
    const { socket, closed } = rawClient(
      port,
      'POST /-/reload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const drip = setInterval(() => socket.write(`80\r\n${'x'.repeat(128)}\r\n`), 2);
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    clearInterval(drip);
    expect(await closed).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/);
  });

  test('a body within the limit is dropped', async () => {
    const { port } = await serve({ routes });
    const client = rawClient(
      port,
      `POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 1024\r\n\r\n${'x'.repeat(1024)}`,
    );
    expect(await client.until('reloaded')).toContain('HTTP/1.1 200 OK');
  });

  test('headers that are too large', async () => {
    const { port } = await serve({ routes });
    const { closed } = rawClient(
      port,
      `GET /metrics HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    expect(await closed).toMatch(/^(HTTP\/1\.1 431 |$)/);
  });

  test('endless headers', async () => {
    const { port } = await serve({ routes });
    const { socket, closed } = rawClient(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n');
    const drip = setInterval(() => socket.write(`X: ${'x'.repeat(1_000)}\r\n`), 2);
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    clearInterval(drip);
    expect(await closed).not.toContain('up 1');
  });

  test('a flood of pipelined requests that wait', async () => {
    const { port } = await serve({ routes });
    const { closed } = rawClient(port, get('/never').repeat(2_000));
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    expect(await closed).toBe('');
  });

  test('a pipelining flood without reading the answers', async () => {
    const { port } = await serve({
      routes,
      limits: { responseTimeoutMs: shortMs, connectionsCheckingInterval: 20 },
    });
    const { socket, closed } = rawClient(port);
    socket.pause();
    const flood = setInterval(() => {
      if (!socket.writableNeedDrain) socket.write(get('/big').repeat(5));
    }, 5);
    // A paused socket notices the cut only when it writes.
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    clearInterval(flood);
  });

  test('a connection that is idle for too long', async () => {
    const { port } = await serve({
      routes,
      limits: { keepAliveTimeout: 50, connectionsCheckingInterval: 20 },
    });
    const client = rawClient(port, get('/metrics'));
    expect(await scrapeDuring(port, client.closed)).toEqual(ok);
    expect(await client.closed).toContain('up 1');
  });

  test('a page that does not end', async () => {
    const { port } = await serve({
      routes,
      limits: { responseTimeoutMs: shortMs, connectionsCheckingInterval: 20 },
    });
    const { closed } = rawClient(port, get('/never'));
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    expect(await closed).toBe('');
  });

  test('a client that does not read', async () => {
    const { port } = await serve({
      routes,
      limits: { responseTimeoutMs: shortMs, connectionsCheckingInterval: 20 },
    });
    const { socket, closed } = rawClient(port, get('/big'));
    socket.pause();
    setTimeout(() => socket.resume(), 3 * shortMs);
    expect(await scrapeDuring(port, closed)).toEqual(ok);
    expect((await closed).length).toBeLessThan(32 << 20);
  });
});

describe('a new connection at the limit', () => {
  const limits = { maxConnections: 3 };

  test('takes the place of the oldest that never sent a request', async () => {
    const { port } = await serve({ routes, limits });
    const idle = rawClient(port, get('/metrics'));
    await idle.until('up 1');
    const busy = rawClient(port, get('/begun'));
    await busy.until('begun');
    const silent = rawClient(port);
    expect(await scrapeDuring(port, silent.closed)).toEqual(ok);
    idle.socket.write(get('/metrics'));
    await expect.poll(() => idle.received().match(/up 1/g)?.length).toBe(2);
    expect(busy.socket.closed).toBe(false);
  });

  test('or else of the one that was idle longest', async () => {
    const { port } = await serve({ routes, limits });
    const idle = rawClient(port, get('/metrics'));
    await idle.until('up 1');
    const busy = rawClient(port, get('/begun'));
    await busy.until('begun');
    const later = rawClient(port, get('/metrics'));
    await later.until('up 1');
    expect(await scrapeDuring(port, idle.closed)).toEqual(ok);
    expect(busy.socket.closed).toBe(false);
    expect(later.socket.closed).toBe(false);
  });

  test('or else of the one with the oldest response under way', async () => {
    const { port } = await serve({ routes, limits });
    const first = rawClient(port, get('/begun'));
    await first.until('begun');
    const others = [rawClient(port, get('/begun')), rawClient(port, get('/begun'))];
    for (const other of others) await other.until('begun');
    expect(await scrapeDuring(port, first.closed)).toEqual(ok);
    for (const other of others) expect(other.socket.closed).toBe(false);
  });

  test('never keeps scrapes out, even in a flood', async () => {
    const { port } = await serve({ routes, limits });
    const sockets = Array.from({ length: 200 }, () => rawClient(port).closed);
    const flood = Promise.all(sockets.slice(0, 190));
    expect(await scrapeDuring(port, flood)).toEqual(ok);
  });
});
