import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Route } from '../../src/http/route.ts';
import { listen } from '../api/ask.ts';
import { metrics, rawClient, serve } from './serve.ts';

const reload: Route = {
  path: '/-/reload',
  methods: ['POST'],
  handle: (_request, response) => void response.end('reloaded\n'),
};

describe('pages', () => {
  test('answers a route, with the headers of every answer', async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/metrics`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('up 1\n');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(response.headers.has('server') || response.headers.has('x-powered-by')).toBe(false);
  });

  test('passes the query to the route, but never the host from the client', async () => {
    const echo: Route = {
      path: '/echo',
      methods: ['GET'],
      handle: (_request, response, query) => void response.end(query.getAll('kind').join(',')),
    };
    const { port } = await serve({ routes: [echo] });
    const client = rawClient(
      port,
      'GET /echo?kind=a&kind=%zz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    );
    const answer = await client.closed;
    expect(answer).toMatch(/\r\n\r\na,%zz$/);
    expect(answer).not.toContain('evil');
  });

  test('answers HEAD like GET, without the body', async () => {
    const { port } = await serve();
    const client = rawClient(port, 'HEAD /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const [head, body] = (await client.closed).split('\r\n\r\n');
    expect(head).toContain('HTTP/1.1 200 OK');
    expect(body).toBe('');
  });

  test('lists the pages for an unknown path', async () => {
    const { url } = await serve({ routes: [metrics, reload] });
    const response = await fetch(`${url}/metric`);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('Not found. Pages: /metrics, /-/reload\n');
  });

  test.each([
    ['POST', '/metrics', 'GET, HEAD'],
    ['GET', '/-/reload', 'POST'],
  ])('answers %s %s with 405 and the allowed methods', async (method, path, allow) => {
    const { url } = await serve({ routes: [metrics, reload] });
    const response = await fetch(`${url}${path}`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
  });

  test('answers 500 without details if a page throws, and logs one line', async () => {
    const broken: Route = {
      path: '/broken',
      methods: ['GET'],
      handle: async (_request, response) => {
        response.setHeader('Content-Length', 1_000);
        await Promise.reject(new Error('secret detail'));
      },
    };
    const { url, log } = await serve({ routes: [broken] });
    const response = await fetch(`${url}/broken`);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('Internal Server Error\n');
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'a page failed; the client got a 500 or was cut off'],
    ]);
  });

  test('cuts the connection if a page throws after it began to answer', async () => {
    const broken: Route = {
      path: '/broken',
      methods: ['GET'],
      handle: (_request, response) => {
        response.write('begun');
        throw new Error('too late');
      },
    };
    const { url, log } = await serve({ routes: [broken] });
    await expect(fetch(`${url}/broken`).then((response) => response.text())).rejects.toThrow();
    expect(log.lines).toHaveLength(1);
  });
});

describe('invalid requests', () => {
  const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  test.each([
    ['a doubled slash', get('//metrics'), '404'],
    ['a dot segment', get('/./metrics'), '404'],
    ['a parent segment', get('/x/../metrics'), '404'],
    ['an encoded parent segment', get('/%2e%2e/metrics'), '404'],
    ['bad percent-encoding', get('/%zz'), '404'],
    ['a URL', get('http://a/metrics'), '400'],
    ['no host', 'GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n', '400'],
    ['an expectation', get('/metrics').replace('\r\n\r\n', '\r\nExpect: wonders\r\n\r\n'), '417'],
    ['an unknown method', get('/metrics').replace('GET', 'STEAL'), '400'],
    [
      'two lengths',
      'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      '400',
    ],
    [
      'Content-Length and chunks together',
      'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
  ])('%s: refused', async (_name, request, status) => {
    const { port } = await serve();
    const text = await rawClient(port, request).closed;
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).not.toContain('up 1');
  });

  test.each([['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n']])(
    '%s: cut',
    async (_name, request) => {
      const { port } = await serve();
      expect(await rawClient(port, request).closed).not.toMatch(/ 200 /);
    },
  );
});

describe('listening', () => {
  test('listens on every address and says where', async () => {
    const { urls } = await serve({
      addresses: [
        { host: '127.0.0.1', port: 0 },
        { host: 'localhost', port: 0 },
      ],
    });
    expect(urls).toHaveLength(2);
    for (const url of urls) expect((await fetch(`${url}/metrics`)).status).toBe(200);
  });

  test('says which port is in use and what to do, and closes the others again', async () => {
    const taken = await listen(createServer());
    // A port that was free a moment ago.
    const { server: first, port: free } = await serve();
    await first.stop(0);

    const addresses = [free, taken].map((port) => ({ host: '127.0.0.1', port }));
    await expect(serve({ addresses })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${taken}: the port is in use; stop the process that has it, ` +
        'or choose another with --web.listen-address',
    );
    await expect(fetch(`http://127.0.0.1:${free}/metrics`)).rejects.toThrow();
  });
});

describe('stopping', () => {
  test('lets a response under way finish, closes idle connections at once and accepts no more', async () => {
    let finish = () => {};
    const slow: Route = {
      path: '/slow',
      methods: ['GET'],
      handle: (_request, response) => {
        response.write('begun ');
        finish = () => response.end('and ended');
      },
    };
    const { server, port } = await serve({ routes: [metrics, slow] });
    const idle = rawClient(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await idle.until('up 1');
    const busy = rawClient(port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await busy.until('begun');

    const stopped = server.stop(60_000);
    await idle.closed;
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
    finish();
    expect(await busy.closed).toContain('and ended');
    await stopped;
  });

  test('cuts what has not finished when the grace period is over', async () => {
    const { server, port } = await serve({
      routes: [
        { path: '/never', methods: ['GET'], handle: (_request, response) => void response.write('begun') },
      ],
    });
    const client = rawClient(port, 'GET /never HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until('begun');
    await server.stop(20);
    await client.closed;
  });
});
