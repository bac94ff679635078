import { expect, it } from 'vitest';
import { Secret } from '../../src/secrets/credentials.ts';
import { KeyWatch } from '../../src/secrets/key-watch.ts';

it('notices a new key once, even if two looks overlap and the earlier one takes longer', async () => {
  const changes: string[] = [];
  const reads: (() => void)[] = [];
  let key = 'the-old-key';
  const keys = {
    read: async () => {
      const secret = new Secret(key);
      await new Promise<void>((resolve) => reads.push(resolve));
      return secret;
    },
  };
  const watch = new KeyWatch((name) => void changes.push(name));
  /** Ends the reads under way, the latest first. */
  const endReads = async () => {
    for (let turn = 0; turn < 10; turn++) {
      await new Promise(setImmediate);
      reads.pop()?.();
    }
  };
  const following = watch.follow(keys, ['account']);
  await endReads();
  await following;
  const earlier = watch.check();
  await new Promise(setImmediate);
  key = 'the-new-key';
  const later = watch.check();
  await endReads();
  await Promise.all([earlier, later]);
  expect(changes).toEqual(['account']);
  const last = watch.check();
  await endReads();
  await last;
  expect(changes).toEqual(['account']);
});
