import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Credentials, type KeyOrProblem, Secret } from '../../src/secrets/credentials.ts';
import { Keys } from '../../src/secrets/keys.ts';
import { Redactor } from '../../src/secrets/redactor.ts';
import { canary, directory } from '../config/fixtures.ts';

/** Keys, and what they told, in order. */
function ownerOfKeys() {
  const told: string[] = [];
  const redactor = new Redactor();
  const keys = new Keys({
    redactor,
    onChanged: (credentials) => void told.push(`${credentials.join()} changed`),
    onProblem: (credential, problem) => void told.push(`${credential}: ${problem ?? 'well'}`),
  });
  return { keys, redactor, told: () => told.splice(0) };
}

/** With the key `first` in a file. */
async function withFile() {
  const file = join(await directory(), 'key');
  await writeFile(file, 'first');
  const { keys, redactor, told } = ownerOfKeys();
  const credentials = new Credentials({ account: { file } }, {});
  keys.use(credentials, await credentials.readAll());
  const checked = async () => {
    await keys.check();
    return [keys.get('account').reveal(), ...told().map((line) => line.replace(file, 'FILE'))];
  };
  return { file, redactor, checked };
}

it('a key is the new one once its file was read again, also if the file is not newer', async () => {
  const { file, checked } = await withFile();
  await utimes(file, 1, 1);
  expect(await checked()).toEqual(['first']);
  for (const key of ['other', 'third']) {
    await writeFile(`${file}.new`, key);
    await utimes(`${file}.new`, 1, 1);
    await rename(`${file}.new`, file);
    expect(await checked()).toEqual([key, 'account changed']);
    expect(await checked()).toEqual([key]);
  }
});

it('the last readable key stays in use when its file becomes unusable, which is told once', async () => {
  const { file, redactor, checked } = await withFile();
  await rename(file, `${file}.away`);
  expect(await checked()).toEqual(['first', 'account: expected the key file FILE; there is none']);
  expect(await checked()).toEqual(['first']);
  await rename(`${file}.away`, file);
  expect(await checked()).toEqual(['first', 'account: well']);
  await writeFile(file, `${canary}\u0001`);
  const [key, problem] = await checked();
  expect([key, problem]).toEqual(['first', expect.stringContaining('it holds control characters')]);
  expect(problem).not.toContain(canary);
  await writeFile(file, 'second');
  expect(await checked()).toEqual(['second', 'account: well', 'account changed']);
  await rm(file);
  expect(redactor.redact('first-key second-key')).toBe('[redacted]-key [redacted]-key');
});

it('a key that nobody defined is an error, and so is one that never was readable', async () => {
  const { keys } = ownerOfKeys();
  const credentials = new Credentials({ account: { env: 'KEY' } }, {});
  keys.use(credentials, await credentials.readAll());
  expect(() => keys.get('account')).toThrow('the environment variable KEY, which is not set');
  expect(() => keys.get('nobody')).toThrow('the credential nobody is not defined');
});

it('of two checks that overlap, the later one wins, even if the reads of the earlier one take longer', async () => {
  const { keys, told } = ownerOfKeys();
  const reads: (() => void)[] = [];
  let key = 'the-old-key';
  const credentials = {
    describe: () => '',
    readAll: async () => {
      const read = new Map<string, KeyOrProblem>([['account', new Secret(key)]]);
      await new Promise<void>((resolve) => reads.push(resolve));
      return read;
    },
  };
  /** Ends the reads under way, the latest first. */
  const endReads = async () => {
    for (let turn = 0; turn < 10; turn++) {
      await new Promise(setImmediate);
      reads.pop()?.();
    }
  };
  keys.use(credentials, new Map([['account', new Secret(key)]]));
  const earlier = keys.check();
  await new Promise(setImmediate);
  key = 'the-new-key';
  const later = keys.check();
  await endReads();
  await Promise.all([earlier, later]);
  expect([keys.get('account').reveal(), ...told()]).toEqual(['the-new-key', 'account changed']);
});

it('a key of a credential that a reload takes out, or cannot read, is hidden for a day and then no longer', async () => {
  let nowMs = 0;
  const redactor = new Redactor(() => nowMs);
  const keys = new Keys({ redactor, onChanged: () => {}, onProblem: () => {} });
  const use = async (sources: Record<string, { env: string }>) => {
    const credentials = new Credentials(sources, { A: 'key-of-a', B: 'key-of-b', C: 'key-of-c' });
    keys.use(credentials, await credentials.readAll());
  };
  await use({ a: { env: 'A' }, b: { env: 'B' }, c: { env: 'C' } });
  await use({ a: { env: 'A' }, b: { env: 'NONE' } });
  expect(redactor.redact('key-of-a key-of-b key-of-c')).toBe('[redacted] [redacted] [redacted]');
  nowMs += 25 * 3_600_000;
  expect(redactor.redact('key-of-a key-of-b key-of-c')).toBe('[redacted] key-of-b key-of-c');
});
