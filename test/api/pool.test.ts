import dns from 'node:dns';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { exchange } from '../../src/api/exchange.ts';
import { createPool } from '../../src/api/pool.ts';
import { type ForwardProxy, proxyFrom, proxyOf } from '../../src/api/proxy.ts';
import type { ApiConfig } from '../../src/config/config.ts';
import { atOnce } from '../at-once.ts';
import { startDistantHost } from '../distant-host.ts';
import { type Identity, issue, issueFamily } from '../http/certificates.ts';
import { createClient, key, listen } from './ask.ts';

const { ca, server, stranger } = issueFamily();
const from = (issuer: typeof ca, more: object = {}) =>
  issue({
    name: 'api',
    issuer,
    usage: 'server',
    alternativeNames: ['dns:localhost', 'ip:127.0.0.1'],
    ...more,
  });
const authorities = ca.cert;

// With a ca_file, the public authorities would be read anew for each pool. test/held/authorities.test.ts shows that it trusts others, too.
const trusted = tls as { getCACertificates?: (() => readonly string[]) | undefined };
const { getCACertificates } = trusted;
beforeAll(() => {
  trusted.getCACertificates = () => [];
});
afterAll(() => {
  trusted.getCACertificates = getCACertificates;
});

interface Api {
  readonly port: number;
  readonly seen: IncomingMessage['headers'][];
}

async function serveTls(
  identity: Identity,
  body = '{"ok":true}',
  host = '127.0.0.1',
  port = 0,
): Promise<Api> {
  const seen: IncomingMessage['headers'][] = [];
  const api = createHttpsServer({ cert: identity.cert, key: identity.key }, (request, response) => {
    seen.push(request.headers);
    response.end(body);
  });
  return { seen, port: await listen(api, host, port) };
}

async function servePlain(): Promise<Api> {
  const seen: IncomingMessage['headers'][] = [];
  const api = createHttpServer((request, response) => {
    seen.push(request.headers);
    response.end('{"ok":true}');
  });
  return { seen, port: await listen(api) };
}

interface Asking extends Partial<ApiConfig> {
  readonly proxy?: Partial<ForwardProxy>;
}

/** The outcome of one request: the body, or the error. */
function clientFor(baseUrl: string, { proxy, ...more }: Asking = {}) {
  const settings = { baseUrl, timeoutMs: 60_000, maxConcurrency: 1, maxResponseBytes: 10_000, ...more };
  const { get } = createClient(
    settings,
    undefined,
    proxy && { url: '', variable: 'HTTPS_PROXY', except: '', ...proxy },
  );
  return async (): Promise<unknown> => {
    try {
      return await get('/a');
    } catch (error) {
      if (error instanceof ApiError) return `${error.result}: ${error.message}`;
      throw error;
    }
  };
}

const ask = (baseUrl: string, asking?: Asking) => clientFor(baseUrl, asking)();
const good = { ok: true };

describe('an API over TLS', () => {
  it.each([
    ['that is self-signed', issue({ name: 'localhost', alternativeNames: ['dns:localhost'] }), {}],
    ['of a private authority, without ca_file', server, {}],
    ['for another host', from(ca, { alternativeNames: ['dns:other.example'] }), { ca }],
    [
      'with the name only in its subject',
      from(ca, { name: 'localhost', alternativeNames: ['dns:b'] }),
      { ca },
    ],
    ['expired', from(ca, { from: new Date('2020-01-01'), until: new Date('2020-01-02') }), { ca }],
    ['only for clients', from(ca, { usage: 'client' }), { ca }],
  ])('with a certificate %s is not asked, which is a network failure', async (_, identity, trust) => {
    const { port, seen } = await serveTls(identity);
    const answer = await ask(`https://localhost:${port}`, 'ca' in trust ? { authorities } : {});
    expect(answer).toMatch(/^network: .*[Cc]ertificate|^network: .*CERT/);
    expect(seen).toEqual([]);
  });

  it('has its authorities read once, however many connections there are', async () => {
    let connections = 0;
    const api = createHttpsServer({ cert: server.cert, key: server.key }, (_, response) =>
      response.setHeader('connection', 'close').end('{"ok":true}'),
    );
    api.on('secureConnection', () => connections++);
    const port = await listen(api);
    const create = vi.spyOn(tls, 'createSecureContext');
    onTestFinished(() => create.mockRestore());
    const asking = clientFor(`https://localhost:${port}`, { authorities });
    for (const _ of [1, 2, 3]) expect(await asking()).toEqual(good);
    expect(connections).toBe(3);
    expect(create.mock.calls.filter(([options]) => options?.ca)).toHaveLength(1);
  });

  it('is always verified, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { port, seen } = await serveTls(stranger);
    expect(await ask(`https://localhost:${port}`)).toMatch(/^network: /);
    expect(await ask(`https://localhost:${port}`, { proxy: await runProxy() })).toMatch(/^network: /);
    expect(seen).toEqual([]);
  });

  it.each<[tls.SecureVersion, RegExp | object]>([
    ['TLSv1.1', /^network: .*(version|protocol)/i],
    ['TLSv1.2', good],
  ])('that speaks at most %s, which this process would accept, gives %s', async (version, expected) => {
    const before = tls.DEFAULT_MIN_VERSION;
    tls.DEFAULT_MIN_VERSION = 'TLSv1';
    onTestFinished(() => {
      tls.DEFAULT_MIN_VERSION = before;
    });
    const old = { minVersion: 'TLSv1', maxVersion: version, ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    const api = createHttpsServer({ cert: server.cert, key: server.key, ...old }, (_request, response) => {
      response.end('{"ok":true}');
    });
    const port = await listen(api);
    const answer = await ask(`https://localhost:${port}`, { authorities });
    if (expected instanceof RegExp) expect(answer).toMatch(expected);
    else expect(answer).toEqual(expected);
  });

  it('whose name now resolves to another machine gets the key only on the machine that has the certificate', async () => {
    const right = await serveTls(from(ca, { alternativeNames: ['dns:api.example'] }));
    const wrong = await serveTls(from(issue({ name: 'authority', ca: true })), '{}', '127.0.0.2', right.port);
    let address = '127.0.0.1';
    const lookup = (_name: string, options: dns.LookupAllOptions, done: unknown): void => {
      const found = { address, family: 4 };
      if (options.all) (done as (e: null, all: (typeof found)[]) => void)(null, [found]);
      else (done as (e: null, one: string, family: number) => void)(null, address, 4);
    };
    vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    const asked = () => ask(`https://api.example:${right.port}`, { authorities });
    expect(await asked()).toEqual(good);
    address = '127.0.0.2';
    expect(await asked()).toMatch(/^network: /);
    expect([right.seen.length, wrong.seen.length]).toEqual([1, 0]);
  });
});

interface Proxy extends ForwardProxy {
  /** The first line and the headers of its requests. */
  readonly asked: { readonly line: string; readonly headers: IncomingMessage['headers'] }[];
  /** Everything that went through. */
  readonly passed: () => string;
}

/** A forward proxy that tunnels, or does with a CONNECT what the test says. */
async function runProxy(
  onConnect?: (socket: Socket, port: number) => void,
  identity?: Identity,
): Promise<Proxy> {
  const asked: Proxy['asked'] = [];
  const passed: Buffer[] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    void asked.push({ line: `${method} ${url}`, headers });
  const proxy = identity ? createHttpsServer({ cert: identity.cert, key: identity.key }) : createHttpServer();
  proxy.on('request', (request, response) => {
    note(request);
    response.writeHead(500).end();
  });
  proxy.on('connect', (request, socket, head) => {
    note(request);
    const port = Number(request.url?.split(':')[1]);
    socket.on('data', (chunk: Buffer) => passed.push(chunk));
    if (onConnect) return onConnect(socket as Socket, port);
    const target = connectTcp(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.write(head);
      socket.pipe(target).pipe(socket);
    });
    target.on('error', () => socket.destroy());
    socket.on('close', () => target.destroy());
  });
  const port = await listen(proxy);
  return {
    asked,
    passed: () => Buffer.concat(passed).toString('latin1'),
    url: `${identity ? 'https' : 'http'}://127.0.0.1:${port}`,
    variable: 'HTTPS_PROXY',
    except: '',
  };
}

describe('an API', () => {
  it.each([
    ['and then nothing more', () => undefined, /^timeout: /],
    ['and then ends', (socket: Socket) => void setTimeout(() => socket.destroy(), 50), /^network: /],
  ])('that only announces an answer %s counts as unanswered', async (_, goOn, failure) => {
    const api = createTcpServer((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n');
      goOn(socket);
    });
    const port = await listen(api);
    expect(await ask(`http://127.0.0.1:${port}`, { timeoutMs: 300 })).toMatch(failure);
  });
});

describe('a proxy', () => {
  it('is only asked for a tunnel, and sees neither key nor path', async () => {
    const api = await serveTls(server);
    const proxy = await runProxy();
    expect(await ask(`https://localhost:${api.port}`, { authorities, proxy })).toEqual(good);
    expect(proxy.asked.map(({ line }) => line)).toEqual([`CONNECT localhost:${api.port}`]);
    expect(JSON.stringify(proxy.asked)).not.toContain(key);
    expect(proxy.passed()).not.toContain(key);
    expect(proxy.passed().length).toBeGreaterThan(100);
    expect(api.seen).toMatchObject([{ accesskey: key }]);
  });

  it('that impersonates the API does not get the key', async () => {
    const impostor = await serveTls(from(issue({ name: 'authority', ca: true })));
    const proxy = await runProxy((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(connectTcp(impostor.port, '127.0.0.1')).pipe(socket);
    });
    expect(await ask('https://localhost:1', { authorities, proxy })).toMatch(/^network: /);
    expect(impostor.seen).toEqual([]);
  });

  it('that answers in plain text where TLS should start does not get the key', async () => {
    const proxy = await runProxy((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    });
    expect(await ask('https://localhost:1', { proxy })).toMatch(/^network: /);
    expect(proxy.passed()).not.toContain(key);
  });

  it('never carries plain http', async () => {
    const api = await servePlain();
    const proxy = await runProxy();
    expect(await ask(`http://127.0.0.1:${api.port}`, { proxy })).toEqual(good);
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    ['user and password', 'scraper:p%40ss@', 'scraper:p@ss'],
    ['user, where it has no password,', 'scr%40per@', 'scr@per:'],
  ])('gets its %s with the CONNECT, and the API does not get it', async (_, inUrl, said) => {
    const api = await serveTls(server);
    const { asked, url } = await runProxy();
    const proxy = { url: url.replace('://', `://${inUrl}`) };
    expect(await ask(`https://localhost:${api.port}`, { authorities, proxy })).toEqual(good);
    const sent = `Basic ${Buffer.from(said).toString('base64')}`;
    expect(asked).toMatchObject([{ headers: { 'proxy-authorization': sent } }]);
    expect(JSON.stringify(api.seen)).not.toContain(sent);
  });

  it.each([
    ['refuses the password', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', /refused .* HTTP 407$/],
    ['refuses the host', 'HTTP/1.1 403 Forbidden\r\n\r\n', /refused .* HTTP 403$/],
    ['speaks no HTTP', 'SSH-2.0-x\r\n', /HTTP/],
  ])('that %s is a network failure, reported without the password', async (_, answer, words) => {
    const { url } = await runProxy((socket) => void socket.end(answer));
    const proxy = { url: url.replace('://', '://scraper:hidden-9d2e@') };
    const told = await ask('https://localhost:1', { proxy });
    expect(told).toMatch(/^network: /);
    expect(told).toMatch(words);
    expect(told).not.toContain('hidden-9d2e');
  });

  it('with several addresses is reached at one that answers late, though another one is dead', async () => {
    const api = await serveTls(server);
    const proxy = {
      url: `http://proxy.two-addresses.test:${await startDistantHost('proxy.two-addresses.test')}`,
    };
    expect(await ask(`https://localhost:${api.port}`, { authorities, proxy })).toEqual(good);
  });

  it('over TLS is verified like an API', async () => {
    const { asked, url } = await runProxy(undefined, server);
    // By its name: undici sends the host as the server name, and Node 26 rejects an address there.
    const proxy = { url: url.replace('127.0.0.1', 'localhost') };
    expect(await ask('https://localhost:1', { authorities, proxy })).toMatch(/^network: .*certificate/i);
    expect(asked).toEqual([]);
  });
});

it('keeps a connection, or makes another one, only where it should (cases that wait for seconds)', async () => {
  const hangs = async (isThroughProxy: boolean) => {
    let connected = 0;
    const api = createHttpsServer({ cert: server.cert, key: server.key });
    api.on('secureConnection', () => void connected++);
    const port = await listen(api);
    const proxy = isThroughProxy ? await runProxy() : undefined;
    const asked = clientFor(`https://localhost:${port}`, {
      authorities,
      ...(proxy && { proxy }),
      timeoutMs: 3000,
    });
    expect(await asked()).toMatch(/^timeout: /);
    // Another one, or another tunnel, would have come by now.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(connected).toBe(1);
    expect(proxy?.asked ?? [{}]).toHaveLength(1);
  };
  await atOnce({
    'an API that does not say for how long keeps its connection for the next poll': async () => {
      let connections = 0;
      const api = createHttpServer((_, response) => response.end('{"ok":true}'));
      // Node then sends no Keep-Alive header.
      api.keepAliveTimeout = 0;
      api.on('connection', () => connections++);
      const asking = clientFor(`http://127.0.0.1:${await listen(api)}`);
      await asking();
      // Longer than undici's default.
      await sleep(5500);
      expect(await asking()).toEqual(good);
      expect(connections).toBe(1);
    },
    'an API that hangs gets one connection for each request': () => hangs(false),
    'an API that hangs gets one tunnel through a proxy for each request': () => hangs(true),
    'an API that never starts TLS is asked again on one connection once it does': async () => {
      const connected: Socket[] = [];
      const api = createTcpServer((socket) => void connected.push(socket));
      const port = await listen(api);
      const asked = clientFor(`https://localhost:${port}`, { timeoutMs: 200 });
      const told = /^network: host cannot be reached .UND_ERR_CONNECT_TIMEOUT.$/;
      expect(await asked()).toMatch(told);
      expect(await asked()).toMatch(told);
      await new Promise((resolve) => setTimeout(resolve, 2000));
      // A request that nobody waits for opens no further connection.
      expect(connected.length).toBeLessThanOrEqual(2);
    },
    'a proxy that left a CONNECT unanswered is asked again after the deadline': async () => {
      const api = await serveTls(server);
      let silent = true;
      const proxy = await runProxy((socket, port) => {
        if (silent) return;
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(connectTcp(port, '127.0.0.1')).pipe(socket);
      });
      const asked = clientFor(`https://localhost:${api.port}`, { authorities, proxy, timeoutMs: 3000 });
      expect(await asked()).toMatch(/^timeout: /);
      silent = false;
      await expect.poll(asked).toEqual(good);
    },
  });
});

it.each([
  ['https://api.example', '', true],
  ['http://api.example', '', false],
  ['https://api.example', 'other.example, api.example:443', false],
  ['https://api.example:8443', 'api.example:443 api.example:80', true],
  ['https://api.example', 'API.Example', false],
  ['https://api.example', '*.example', false],
  ['https://api.example', 'ample,pi.example', true],
  ['https://api.example', ',, :443', true],
  ['https://[::1]:8443', '::1', false],
])('whether %s goes through a proxy, with NO_PROXY=%j: %j', (baseUrl, except, expected) => {
  const proxy = { url: 'http://a:1', variable: 'HTTPS_PROXY', except };
  expect(proxyOf(baseUrl, proxy)).toBe(expected ? proxy : undefined);
});

describe('the proxy of the environment', () => {
  it.each([
    [{}, undefined],
    [{ HTTPS_PROXY: '' }, undefined],
    [{ HTTP_PROXY: 'http://a:1' }, undefined],
    [{ ALL_PROXY: 'http://a:1' }, { url: 'http://a:1', variable: 'ALL_PROXY', except: '' }],
    [
      { all_proxy: 'http://a:1', https_proxy: 'http://b:1' },
      { url: 'http://b:1', variable: 'https_proxy', except: '' },
    ],
    [
      { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:1' },
      { url: 'http://a:1', variable: 'HTTPS_PROXY', except: '' },
    ],
    [
      { https_proxy: 'http://b:1', no_proxy: 'c' },
      { url: 'http://b:1', variable: 'https_proxy', except: 'c' },
    ],
    [{ https_proxy: 'http://u@b' }, { url: 'http://u@b', variable: 'https_proxy', except: '' }],
    [
      { https_proxy: 'HTTPS://u:p@b', NO_PROXY: '', no_proxy: 'c' },
      { url: 'HTTPS://u:p@b', variable: 'https_proxy', except: '' },
    ],
  ])('is read from %j as %j', (env, expected) => {
    expect(proxyFrom(env)).toEqual(expected);
  });

  it.each([
    'user:hidden-9d2e@proxy:3128',
    'proxy:3128',
    'http://user:hidden-9d2e@proxy:99999',
    'http://user:hidden-9d2e%@proxy',
    'http://:hidden-9d2e@proxy',
  ])('%s is refused without showing it', (text) => {
    expect(() => proxyFrom({ HTTPS_PROXY: text })).toThrow(
      /^HTTPS_PROXY: expected http:\/\/HOST:PORT(?!.*hidden)/,
    );
  });
});

it('a request that is aborted before there is a connection leaves the next one alone', async () => {
  const { port } = await servePlain();
  const origin = `http://127.0.0.1:${port}`;
  const pool = createPool({ baseUrl: origin, maxConcurrency: 1, timeoutMs: 60_000 } as ApiConfig, undefined);
  onTestFinished(() => pool.destroy());
  const request = { origin, path: '/', headers: {}, timeoutMs: 60_000 };
  const abort = new AbortController();
  const aborted = expect(exchange(pool, request, abort.signal)).rejects.toThrow('aborted');
  abort.abort();
  await aborted;
  const { status } = await exchange(pool, request, new AbortController().signal);
  expect(status).toBe(200);
});
