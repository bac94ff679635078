import { describe, expect, test } from 'vitest';
import type { Route } from '../../src/http/route.ts';
import { atOnce } from '../at-once.ts';
import { runs } from '../runs.ts';
import { metrics, rawClient, scrapeDuring, serve } from './serve.ts';

/** Short for an idle client, but long enough to serve one on a busy machine. */
const shortMs = 1000;

const never: Route = { path: '/never', methods: ['GET'], handle: () => undefined };
const begun: Route = {
  path: '/begun',
  methods: ['GET'],
  handle: (_request, response) => void response.write('begun'),
};
/** More than the buffers of loopback hold if the client does not read. */
const bigBody = Buffer.alloc(32 << 20, 'x');
const big: Route = {
  path: '/big',
  methods: ['GET'],
  handle: (_request, response) => void response.end(bigBody),
};
const reload: Route = {
  path: '/-/reload',
  methods: ['POST'],
  handle: (_request, response) => void response.end('reloaded\n'),
};
const routes = [metrics, never, begun, big, reload];
const ok = new Set(['HTTP/1.1 200 OK']);
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test('a client beyond a bound is cut while others are served', async () => {
  await atOnce({
    'slow headers': async () => {
      const { port } = await serve({
        routes,
        limits: { headersTimeout: shortMs, connectionsCheckingInterval: 20 },
      });
      const { socket, closed } = rawClient(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n');
      const drip = setInterval(() => socket.write('X'), 10);
      expect(await scrapeDuring(port, closed)).toEqual(ok);
      clearInterval(drip);
      expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
    },

    'a slow body': async () => {
      const { port } = await serve({
        routes,
        limits: { headersTimeout: shortMs, requestTimeout: shortMs, connectionsCheckingInterval: 20 },
      });
      const { closed } = rawClient(
        port,
        'POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab',
      );
      expect(await scrapeDuring(port, closed)).toEqual(ok);
      expect(await closed).toContain('reloaded');
    },

    'a body that is too long by its Content-Length': async () => {
      const { port } = await serve({ routes });
      const { closed } = rawClient(
        port,
        'POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n',
      );
      expect(await scrapeDuring(port, closed)).toEqual(ok);
      expect(await closed).toMatch(/^HTTP\/1\.1 413 /);
    },

    'an endless chunked body': async () => {
      const { port } = await serve({ routes });
      const { socket, closed } = rawClient(
        port,
        'POST /-/reload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      const drip = setInterval(() => socket.write(`80\r\n${'x'.repeat(128)}\r\n`), 2);
      expect(await scrapeDuring(port, closed)).toEqual(ok);
      clearInterval(drip);
      expect(await closed).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/);
    },

    'a page that does not end': async () => {
      const { port } = await serve({
        routes,
        limits: { timeout: shortMs },
      });
      const { closed } = rawClient(port, get('/never'));
      expect(await scrapeDuring(port, closed)).toEqual(ok);
      expect(await closed).toBe('');
    },
  });
});

test('a client that does not read is cut while others are served', async () => {
  let isCut = () => {};
  const cut = new Promise<void>((resolve) => {
    isCut = resolve;
  });
  const page: Route = {
    ...big,
    handle: (request, response) => {
      response.once('close', isCut);
      return big.handle(request, response, new URLSearchParams());
    },
  };
  const { port } = await serve({ routes: [metrics, page], limits: { timeout: shortMs } });
  const { socket, closed } = rawClient(port, get('/big'));
  socket.pause();
  expect(await scrapeDuring(port, cut)).toEqual(ok);
  socket.resume();
  expect((await closed).length).toBeLessThan(32 << 20);
});

describe('a flood of connections', () => {
  const limits = { maxConnections: 3, headersTimeout: shortMs, connectionsCheckingInterval: 20 };
  const connections = runs(50, 200);

  test('keeps out new clients only until its own connections time out', async () => {
    const { port } = await serve({ routes, limits });
    for (let i = 0; i < connections; i++) rawClient(port);
    const health = async () =>
      await rawClient(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').closed;
    await expect.poll(health).toContain('up 1');
  });

  test('does not disturb a client that is connected, nor another address', async () => {
    const { port } = await serve({ routes, limits });
    const { port: other } = await serve({ routes, limits });
    const scraper = rawClient(port, get('/metrics'));
    await scraper.until('up 1');
    const flood = Array.from({ length: connections }, () => rawClient(port));
    await flood.at(-1)?.closed;
    scraper.socket.write(get('/metrics'));
    await expect.poll(() => scraper.received().match(/up 1/g)?.length).toBe(2);
    const ended = Promise.all(flood.map(({ closed }) => closed));
    expect(await scrapeDuring(other, ended)).toEqual(ok);
    // Only those within the limit ever got an answer: that they were silent for too long. Later ones may have taken their place.
    expect((await ended).filter((text) => text !== '').length).toBeLessThan(flood.length / 2);
  });
});
