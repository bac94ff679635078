import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createSender } from '../../src/http/readers.ts';
import { WebServer } from '../../src/http/server.ts';
import { rawClient, serve } from './serve.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

it('closes every waiting response when a client with many requests is gone', async () => {
  let answering = 0;
  let begun = 0;
  const server = new WebServer({
    addresses: [{ host: '127.0.0.1', port: 0 }],
    log,
    routes: [
      {
        path: '/big',
        methods: ['GET'],
        async handle(_, response) {
          answering++;
          begun++;
          const closed = once(response, 'close');
          // More than both sides can buffer, so that the first answer holds up the others.
          response.end(Buffer.alloc(32 * 1024 * 1024));
          await closed;
          answering--;
        },
      },
    ],
  });
  const [url = ''] = await server.start();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5));
  await expect.poll(() => begun).toBe(5);
  expect(answering).toBe(5);
  socket.resetAndDestroy();
  await expect.poll(() => answering).toBe(0);
  await server.stop(1000);
});

it('cuts a reader at once even if its response waits behind another on the same connection', async () => {
  const send = createSender(1);
  const ended: string[] = [];
  const { port } = await serve({
    routes: [
      { path: '/first', methods: ['GET'], handle: (_, response) => void response.write('begun') },
      {
        path: '/page',
        methods: ['GET'],
        handle: async (_, response, query) => {
          await send(response, [Buffer.alloc(32 << 20, 'page')]);
          ended.push(query.toString());
        },
      },
    ],
  });
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const pipelining = rawClient(port, get('/first') + get('/page?queued'));
  await pipelining.until('begun');
  const next = rawClient(port, get('/page?next'));
  await next.until('page');
  next.socket.pause();
  await expect.poll(() => ended).toEqual(['queued=']);
});
