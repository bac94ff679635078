import { chmod, mkdir, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CredentialError, Credentials, Secret } from '../../src/secrets/credentials.ts';
import { howHandedOver } from '../../src/secrets/service.ts';
import { canary, directory } from '../config/fixtures.ts';

describe('a secret', () => {
  const secret = new Secret(canary);

  test.each<[string, () => string]>([
    ['text', () => String(secret)],
    ['a template', () => `${secret as unknown as string}`],
    ['JSON', () => JSON.stringify({ secret })],
    ['inspection', () => inspect({ secret }, { depth: 9, showHidden: true })],
    ['format', () => format('%s %o %j', secret, secret, secret)],
  ])('is redacted as %s', (_, show) => {
    expect(show()).toContain('[redacted]');
    expect(show()).not.toContain(canary);
  });

  test('has no properties to copy or enumerate', () => {
    expect(Object.keys(secret)).toEqual([]);
    expect(inspect(structuredClone(secret), { showHidden: true })).not.toContain(canary);
    expect(Object.assign({}, secret)).toEqual({});
  });
});

describe('a key file where systemd runs the program', () => {
  const of = async (file: string, env: Record<string, string>) =>
    (await new Credentials({ acme: { file } }, env).check()).map(({ message }) => message);
  const inUnit = '/run/credentials/bunnynet-exporter.service/acme';

  test('that is not there is one that a drop-in hands over', async () => {
    const none = `expected the key file ${inUnit}; there is none`;
    expect(await of(inUnit, { INVOCATION_ID: 'a' })).toEqual([
      `${none}: a drop-in of the unit hands it over, LoadCredential=acme:FILE`,
    ]);
    expect(await of(inUnit, {})).toEqual([none]);
    expect(await of('/nowhere/key', { INVOCATION_ID: 'a' })).toEqual([
      'expected the key file /nowhere/key; there is none',
    ]);
  });

  test('that its user may not read is handed over', () => {
    expect(howHandedOver('/etc/key', 'EACCES', { INVOCATION_ID: 'a' })).toBe(
      ': a drop-in of the unit hands it over, LoadCredential=NAME:/etc/key, as /run/credentials/UNIT.service/NAME',
    );
    expect(howHandedOver('/etc/key', 'EACCES', {})).toBe('');
    expect(howHandedOver(inUnit, 'EACCES', { INVOCATION_ID: 'a' })).toBe('');
  });
});

describe('a key in the environment', () => {
  const credentials = (text: string | undefined) =>
    new Credentials({ account: { env: 'KEY' } }, text === undefined ? {} : { KEY: text });

  test('is read without its line end', async () => {
    const account = credentials(`${canary}\r\n`);
    const key = (await account.readAll()).get('account');
    expect(key instanceof Secret && key.reveal()).toBe(canary);
    expect(await account.check()).toEqual([]);
  });

  test('that ends like base64 is one', async () => {
    for (const text of ['YWJjZA=', 'YWJjZA==']) expect(await credentials(text).check(), text).toEqual([]);
  });

  test.each<[text: string | undefined, message: string]>([
    [undefined, 'expected the key in the environment variable KEY, which is not set'],
    ['', 'expected a key in the environment variable KEY; it is empty'],
    ['\n', 'expected a key in the environment variable KEY; it is empty'],
    [
      `${canary}\n${canary}`,
      'expected a key in the environment variable KEY; it has several lines; it must be the key alone, on one line',
    ],
    [
      `${canary}é`,
      'expected a key in the environment variable KEY; it holds control characters or characters beyond ASCII',
    ],
    ...[`BUNNYNET_ACCESS_KEY=${canary}`, `export KEY="${canary}"\nOTHER=1`, `KEY=${canary}\n`].map(
      (text): [string, string] => [
        text,
        'expected a key in the environment variable KEY; it begins with NAME=, as a file of variables does; it must be the key alone',
      ],
    ),
    ...[`{"key":"${canary}"}`, `{\n  "key": "${canary}"\n}\n`, `["${canary}"]`].map(
      (text): [string, string] => [
        text,
        'expected a key in the environment variable KEY; it looks like JSON; it must be the key alone',
      ],
    ),
    [`${canary} x`, 'expected a key in the environment variable KEY; it holds a space'],
    [`"${canary}"`, 'expected a key in the environment variable KEY; it is in quotes: remove them'],
    ['x'.repeat(4097), 'expected a key in the environment variable KEY; it is larger than 4096 bytes'],
  ])('that is $0 is refused', async (text, message) => {
    expect(await credentials(text).check()).toEqual([{ credential: 'account', severity: 'error', message }]);
    expect((await credentials(text).readAll()).get('account')).toEqual(new CredentialError(message));
  });
});

test('the source of a key can be described without showing what may be a key itself', () => {
  const sources = {
    account: { env: 'KEY' },
    library: { file: '/run/secrets/library' },
    odd: { env: '4f1d9e27-77aa-4ca1-b00c-5e1f0d2c3b4a' },
  };
  const credentials = new Credentials(sources, {});
  expect(['account', 'library', 'odd'].map((name) => credentials.describe(name))).toEqual([
    'from $KEY',
    'from the file /run/secrets/library',
    'from $[redacted]',
  ]);
});

describe('a key file', () => {
  const messageOf = async (file: string) => {
    const problems = await new Credentials({ account: { file } }, {}).check();
    return problems.map(({ severity, message }) => `${severity}: ${message.replace(file, 'FILE')}`);
  };

  test('that every user can read gets a warning, except one mounted by Kubernetes', async () => {
    const path = await directory();
    const file = join(path, 'key');
    await writeFile(file, canary);
    await chmod(file, 0o644);
    expect(await messageOf(file)).toEqual([
      'warning: every user of this machine can read the key file FILE: restrict it with chmod o-r',
    ]);
    await chmod(file, 0o640);
    expect(await messageOf(file)).toEqual([]);
    await mount(path, 'v1', canary);
    expect(await messageOf(join(path, 'mounted'))).toEqual([]);
  });
});

/** Creates or swaps a secret volume like Kubernetes: mounted → ..data/key, ..data → ..version. */
async function mount(path: string, version: string, text: string): Promise<void> {
  await mkdir(join(path, `..${version}`));
  await writeFile(join(path, `..${version}`, 'key'), text, { mode: 0o644 });
  await symlink(`..${version}`, join(path, '..data_new'));
  await rename(join(path, '..data_new'), join(path, '..data'));
  const linked = await readlink(join(path, 'mounted')).catch(() => undefined);
  if (linked === undefined) await symlink('..data/key', join(path, 'mounted'));
}
