import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createSender } from '../../src/http/readers.ts';

/** A response whose reader takes everything at once. */
function eager(): ServerResponse {
  const response = new Writable({ write: (_chunk, _encoding, done) => done() });
  return Object.assign(response, {
    setHeader: () => response,
    req: { socket: {} },
  }) as unknown as ServerResponse;
}

test('sending a large page lets other work run in between, however fast it is read', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const part = Buffer.alloc(200_000);
  await createSender()(eager(), Array<Buffer>(200).fill(part));
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(9);
});
