import { expect, test, vi } from 'vitest';
import { createPasswordCheck } from '../../src/http/password-check.ts';

vi.mock('node:worker_threads', () => ({
  Worker: class {
    constructor() {
      throw new Error('no thread for you');
    }
  },
}));

test('where no thread can be had, every comparison fails, and none is left waiting', async () => {
  const passwords = createPasswordCheck();
  const asked = Array.from({ length: 3 }, (_, index) => passwords.matches(`password ${index}`, '$2b$04$'));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect(passwords.matches('one more', '$2b$04$')).rejects.toThrow('no thread for you');
  passwords.stop();
});
