import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { matchesHash } from '../../src/http/password-check.ts';

test('every password comparison fails, and none waits forever, if no thread can be started', async () => {
  const worker = vi.spyOn(threads, 'Worker').mockImplementation(() => {
    throw new Error('no thread for you');
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    worker.mockRestore();
    syncBuiltinESMExports();
  });
  const matches = (password: string) => matchesHash(password, '$2b$04$', new AbortController().signal);
  const asked = Array.from({ length: 3 }, (_, index) => matches(`password ${index}`));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect(matches('one more')).rejects.toThrow('no thread for you');
});
