import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createWebServer } from '../../src/http/server.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

it('tells whoever answers when a client that asked for many at once is gone', async () => {
  let answering = 0;
  let begun = 0;
  const server = createWebServer({
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
          // More than the buffers of both sides take, so that the first answer holds up the others.
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
