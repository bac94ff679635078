import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { send } from '../../src/http/send.ts';

/** A response whose reader takes everything at once. */
function eager(): ServerResponse {
  const response = new Writable({ write: (_chunk, _encoding, done) => done() });
  return Object.assign(response, {
    setHeader: () => response,
    req: { socket: {} },
  }) as unknown as ServerResponse;
}

test('a large page lets others have their turns, however fast it is read', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const part = Buffer.alloc(200_000);
  await send(eager(), Array<Buffer>(200).fill(part), { headersOnly: false, writeTimeoutMs: 10_000 });
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(9);
});
