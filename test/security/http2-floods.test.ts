/** Clients that speak HTTP/2 to harm are cut or bounded, while others are served. Frames are written by hand. */
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import type { WebLimits } from '../../src/http/limits.ts';
import type { Route } from '../../src/http/route.ts';
import { issueFamily } from '../http/certificates.ts';
import { metrics, serve } from '../http/serve.ts';
import { temporary } from '../http/temporary.ts';

const { ca, server } = issueFamily();
const never: Route = { path: '/never', methods: ['GET'], handle: () => undefined };
const big: Route = {
  path: '/big',
  methods: ['GET'],
  handle: (_request, response) => void response.end(Buffer.alloc(1 << 20, 'x')),
};

async function serveHttp2(limits: Partial<WebLimits> = {}): Promise<number> {
  const directory = temporary({
    'web.yml': 'tls_server_config: { cert_file: server.pem, key_file: server.key }\n',
    'server.pem': server.cert,
    'server.key': server.key,
  });
  const webConfigFile = join(directory, 'web.yml');
  const { port } = await serve({ webConfigFile, routes: [metrics, never, big], limits });
  return port;
}

/** 9 bytes of head and a payload (RFC 9113, 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, window: 8, continuation: 9 };
const endHeaders = 4;
const endStream = 1;

/** A header without compression and without a place in the table (RFC 7541, 6.2.2). */
function header(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}
const getting = (path: string) =>
  Buffer.concat([
    header(':method', 'GET'),
    header(':scheme', 'https'),
    header(':authority', 'a'),
    header(':path', path),
  ]);

interface Client {
  readonly socket: TLSSocket;
  readonly closed: Promise<void>;
}

/** A client that has said hello, with these settings. */
function speak(port: number, settings: Buffer = Buffer.alloc(0)): Promise<Client> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca: ca.cert,
      servername: 'localhost',
      ALPNProtocols: ['h2'],
    });
    onTestFinished(() => void socket.destroy());
    const closed = new Promise<void>((done) => void socket.once('close', () => done()));
    socket.on('error', reject);
    socket.resume();
    socket.once('secureConnect', () => {
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      socket.write(frame(types.settings, 0, 0, settings));
      resolve({ socket, closed });
    });
  });
}

/** Sends what `next` makes, piece after piece, until the other side ends the connection. */
async function flood({ socket, closed }: Client, next: (round: number) => Buffer): Promise<void> {
  let ended = false;
  void closed.then(() => {
    ended = true;
  });
  for (let round = 0; !ended; round++) {
    if (socket.writable && !socket.write(next(round))) {
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function scrape(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(
      { port, host: '127.0.0.1', path: '/metrics', ca: ca.cert, servername: 'localhost', agent: false },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      },
    )
      .on('error', reject)
      .end();
  });
}

/** The statuses of scrapes while something goes on. */
async function scrapeDuring(port: number, until: Promise<unknown>): Promise<ReadonlySet<number | undefined>> {
  let ended = false;
  void until.then(() => {
    ended = true;
  });
  const statuses = new Set<number | undefined>();
  do statuses.add(await scrape(port));
  while (!ended);
  return statuses;
}

const ok = new Set([200]);

test('requests that are reset at once', async () => {
  const port = await serveHttp2({ maxRequestsPerConnection: 500 });
  const client = await speak(port);
  const flooding = flood(client, (round) => {
    const pairs = Array.from({ length: 10 }, (_, index) => {
      const stream = 2 * (10 * round + index) + 1;
      return [
        frame(types.headers, endHeaders | endStream, stream, getting('/never')),
        frame(types.reset, 0, stream, Buffer.from([0, 0, 0, 8])),
      ];
    });
    return Buffer.concat(pairs.flat());
  });
  expect(await scrapeDuring(port, flooding)).toEqual(ok);
});

test('headers that go on for ever', async () => {
  const port = await serveHttp2();
  const client = await speak(port);
  client.socket.write(frame(types.headers, endStream, 1, getting('/metrics')));
  const flooding = flood(client, () => frame(types.continuation, 0, 1, header('x', 'y'.repeat(100))));
  expect(await scrapeDuring(port, flooding)).toEqual(ok);
});

test('empty pieces of headers that go on for ever', async () => {
  const port = await serveHttp2();
  const client = await speak(port);
  client.socket.write(frame(types.headers, endStream, 1, getting('/metrics')));
  const flooding = flood(client, () => frame(types.continuation, 0, 1));
  expect(await scrapeDuring(port, flooding)).toEqual(ok);
});

test('small headers that become large', async () => {
  const port = await serveHttp2({ headersTimeoutMs: 400, checkIntervalMs: 20 });
  const client = await speak(port);
  // One entry of 4,000 bytes for the table, then named by one byte each.
  const value = Buffer.alloc(3900, 'y');
  const entry = Buffer.concat([
    Buffer.from([0x40, 1]),
    Buffer.from('x'),
    Buffer.from([0x7f, 0xbd, 0x1d]),
    value,
  ]);
  const bomb = Buffer.concat([getting('/metrics'), entry, Buffer.alloc(8000, 0xbe)]);
  const flooding = flood(client, (round) =>
    frame(types.headers, endHeaders | endStream, 2 * round + 1, bomb),
  );
  expect(await scrapeDuring(port, flooding)).toEqual(ok);
});

test('pings without reading the answers', async () => {
  const port = await serveHttp2();
  const client = await speak(port);
  client.socket.pause();
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame(types.ping, 0, 0, Buffer.alloc(8))));
  const flooding = flood(client, () => pings);
  expect(await scrapeDuring(port, flooding)).toEqual(ok);
});

test('settings without reading the answers', async () => {
  const port = await serveHttp2();
  const client = await speak(port);
  client.socket.pause();
  const settings = Buffer.concat(Array.from({ length: 1000 }, () => frame(types.settings, 0, 0)));
  const flooding = flood(client, () => settings);
  expect(await scrapeDuring(port, flooding)).toEqual(ok);
});

test('a reader that takes no byte of the answers it asked for', async () => {
  const port = await serveHttp2({ responseTimeoutMs: 400, checkIntervalMs: 20 });
  // An initial window of 0: nothing may be sent to it.
  const client = await speak(port, Buffer.from([0, 4, 0, 0, 0, 0]));
  for (let stream = 1; stream < 20; stream += 2)
    client.socket.write(frame(types.headers, endHeaders | endStream, stream, getting('/big')));
  expect(await scrapeDuring(port, client.closed)).toEqual(ok);
});

test('a body that comes byte by byte', async () => {
  const port = await serveHttp2({ responseTimeoutMs: 400, checkIntervalMs: 20 });
  const client = await speak(port);
  client.socket.write(frame(types.headers, endHeaders, 1, getting('/metrics')));
  const drip = setInterval(() => client.socket.write(frame(types.data, 0, 1, Buffer.from('x'))), 20);
  expect(await scrapeDuring(port, client.closed)).toEqual(ok);
  clearInterval(drip);
});
