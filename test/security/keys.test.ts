/** Messages about key files that are missing, wrong or readable by others: enough to fix it, and never the key. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { fewKinds } from '../config/fixtures.ts';
import { issueFamily } from '../http/certificates.ts';
import { serve } from '../http/serve.ts';
import { temporary } from '../http/temporary.ts';
import { found, newKey } from './canary.ts';

const key = newKey();
const settings = 'applications: { targets: [one] }\n';

const env = { ACCOUNT: key, BROKEN: `${key}\n${key}` };

/** The messages about a configuration, in which the key is not. */
async function messagesOf(options: Omit<LoadOptions, 'resources'>) {
  const { accepted, text } = await loadConfig({ ...options, resources: fewKinds }).then(
    ({ warnings }) => ({ accepted: true, text: warnings.join('\n') }),
    (error: Error) => ({ accepted: false, text: `${error.message}\n${inspect(error, { depth: 9 })}` }),
  );
  expect(found({ key }, text)).toEqual([]);
  return { accepted, text };
}

/** Those about a configuration with this credential, in a prepared directory. */
async function check(credential: string, prepare: (directory: string) => void = () => undefined) {
  const directory = temporary({ 'config.yml': `credentials: { account: ${credential} }\n${settings}` });
  prepare(directory);
  const file = join(directory, 'config.yml');
  const { accepted, text } = await messagesOf({ file, env });
  return { accepted, text: text.replaceAll(directory, 'DIR') };
}

const holding =
  (text: string, mode = 0o600) =>
  (directory: string) => {
    writeFileSync(join(directory, 'key'), text);
    chmodSync(join(directory, 'key'), mode);
  };

const account = 'credentials: { account: { env: ACCOUNT } }\n';

describe('a key', () => {
  test.each<[string, string, (directory: string) => void, string]>([
    ['a missing file', '{ file: key }', () => undefined, 'the key file DIR/key; there is none'],
    [
      'a directory',
      '{ file: key }',
      (at) => mkdirSync(join(at, 'key')),
      'the key file DIR/key; it is a directory',
    ],
    ['a device', '{ file: /dev/null }', () => undefined, 'the key file /dev/null; it is not a regular file'],
    [
      'a terminal escape sequence',
      '{ file: key }',
      holding(`\u001b]0;${key}\u0007`),
      'it holds control characters',
    ],
    [
      'UTF-16',
      '{ file: key }',
      holding(`\ufeff${Array.from(key).join('\0')}`),
      'it begins with a byte order mark',
    ],
    ['a space', '{ file: key }', holding(`${key} ${key}`), 'in the file DIR/key; it holds a space'],
    [
      'a variable with two lines',
      '{ env: BROKEN }',
      () => undefined,
      'variable BROKEN; it has several lines',
    ],
    [
      'a key instead of a file',
      `{ file: ${key} }`,
      () => undefined,
      'the key file DIR/[redacted]; there is none',
    ],
    [
      'a key instead of a path',
      `{ file: /run/${key} }`,
      () => undefined,
      'the key file /run/[redacted]; there is none',
    ],
    [
      'a key instead of a variable',
      `{ env: ${key} }`,
      () => undefined,
      'expected the name of an environment variable',
    ],
    [
      'a key without dashes instead of a variable',
      `{ env: a${key.replaceAll('-', '')} }`,
      () => undefined,
      'the environment variable [redacted], which is not set',
    ],
    ['a key for a credential', key, () => undefined, 'expected { env: VARIABLE } or { file: PATH }'],
    ['a key under another name', `{ key: ${key} }`, () => undefined, 'expected either { env: VARIABLE }'],
    ['a key that is quoted badly', `{ file: "${key} }`, () => undefined, 'expected YAML'],
    [
      'a key beside a file',
      `{ file: key, env: ${key} }`,
      () => undefined,
      'expected either { env: VARIABLE }',
    ],
  ])('is reported with its line and without the key: %s', async (_, credential, prepare, words) => {
    const { accepted, text } = await check(credential, prepare);
    expect(text).toContain(words);
    expect(text).toMatch(/config\.yml:\d+/);
    expect(accepted).toBe(false);
  });

  test.each([
    `credentials: KEY\n${settings}`,
    `credentials: [KEY]\n${settings}`,
    `${account}access_key: KEY\n${settings}`,
    `${account}applications: { credential: KEY, targets: [a] }`,
    `${account}applications: { targets: [{ id: a, credential: KEY }] }`,
    `${account}${settings}apis: { shield: { base_url: "https://KEY@host" } }`,
    `${account}${settings}apis: { shield: { base_url: "KEY" } }`,
    `${account}${settings}x: !KEY! [`,
    `${account}${settings}x: "KEY`,
  ])('is in no message, wherever it was put by mistake: %s', async (yaml) => {
    const file = join(temporary({ 'config.yml': yaml.replaceAll('KEY', key) }), 'config.yml');
    const { accepted, text } = await messagesOf({ file, env });
    expect(text).toContain('config.yml:');
    expect(accepted).toBe(false);
  });
});

test('wrong key files and missing ones are reported at once', async () => {
  const directory = temporary({ good: key, control: `${key}\u0007`, empty: '' });
  const files = ['good', 'control', 'empty', 'missing', key, '.'];
  const credentials = files.map((file, index) => `  c${index}: { file: ${file} }`).join('\n');
  const file = join(directory, 'config.yml');
  writeFileSync(file, `credentials:\n${credentials}\n${settings}`);
  const { text } = await messagesOf({ file, env: {} });
  expect(text.replaceAll(directory, 'DIR').split('\n').slice(0, 6)).toEqual([
    expect.stringContaining('DIR/control; it holds control characters'),
    expect.stringContaining('DIR/empty; it is empty'),
    expect.stringContaining('DIR/missing; there is none'),
    expect.stringContaining('DIR/[redacted]; there is none'),
    expect.stringContaining('DIR; it is a directory'),
    expect.stringContaining('expected the name of one of the 6 credentials'),
  ]);
});

test('a key in BUNNYNET_ACCESS_KEY_FILE is taken for a file that is not there, without showing it', async () => {
  const { text } = await messagesOf({
    env: { BUNNYNET_ACCESS_KEY_FILE: key, BUNNYNET_APPLICATIONS: 'one' },
  });
  expect(text).toContain('BUNNYNET_ACCESS_KEY_FILE: expected the key file');
});

describe('the private key of the web configuration', () => {
  const { server } = issueFamily();
  const inline = (pem: string) => pem.replaceAll('\n', '\n    ').trim();
  test.each<[string, string, number, number, string | undefined]>([
    ['a file that everybody may read', 'key_file: server.key', 0o644, 0o600, 'DIR/server.key'],
    ['a file that only its owner may read', 'key_file: server.key', 0o600, 0o644, undefined],
    [
      'a web configuration that everybody may read',
      `key: |\n    ${inline(server.key)}`,
      0o600,
      0o644,
      'DIR/web.yml',
    ],
    [
      'a web configuration that only its owner may read',
      `key: |\n    ${inline(server.key)}`,
      0o600,
      0o600,
      undefined,
    ],
  ])(
    'in %s is used, with a warning if everybody may read it',
    async (_, setting, keyMode, fileMode, exposed) => {
      const directory = temporary({
        'server.pem': server.cert,
        'server.key': server.key,
        'web.yml': `tls_server_config:\n  cert_file: server.pem\n  ${setting}\n`,
      });
      chmodSync(join(directory, 'server.key'), keyMode);
      chmodSync(join(directory, 'web.yml'), fileMode);
      const words = `every user of this machine can read the private key in ${exposed}: restrict it with chmod o-r`;
      const started = await serve({ webConfigFile: join(directory, 'web.yml') });
      const said = started.log.lines.map(({ message }) => message.replace(directory, 'DIR'));
      expect(said).toEqual(exposed ? [words] : []);
    },
  );
});
