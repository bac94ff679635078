/** What only `--config.check` refuses: a start goes on with the rest, and says it. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { directory, fewKinds, linesOf } from './fixtures.ts';

async function write(text: string) {
  const folder = await directory();
  const file = join(folder, 'config.yml');
  await writeFile(file, text);
  const env = { ACME: 'one', UMBRELLA: 'two', INITECH: 'one' };
  const options = { file, env, resources: fewKinds };
  const check = async (stateFile?: string) =>
    (await linesOf(loadConfig({ ...options, check: { stateFile } }))).map((line) =>
      line.replaceAll(folder, 'FOLDER'),
    );
  return { folder, check, start: () => loadConfig(options) };
}

it('the key of another account is a problem at the line of the second', async () => {
  const { check, start } = await write(`\
credentials:
  acme: { env: ACME }
  umbrella: { env: UMBRELLA }
  initech: { env: INITECH }
accounts: [acme, umbrella, initech]
billing: {}
`);
  expect(await check()).toEqual([
    'config.yml:4: credentials.initech: expected another key than that of acme (from $ACME); it is the same, and a key is of one account',
  ]);
  expect((await start()).config.accounts).toEqual(['acme', 'umbrella', 'initech']);
});

describe('a state file', () => {
  const withState = (file: string) =>
    write(`credentials: { acme: { env: ACME } }\nstate: { file: ${file} }\nbilling: {}\n`);
  const expected = (of: string) => [`config.yml:2: state.file: expected a file that can be written; ${of}`];

  it('in a folder that is not there is a problem, also behind a link', async () => {
    const { check, start, folder } = await withState('none/state');
    expect(await check()).toEqual(expected('its folder FOLDER/none is not there: make it'));
    await start();
    await mkdir(join(folder, 'none'));
    expect(await check()).toEqual([]);
    await symlink('../other/state', join(folder, 'none/state'));
    expect(await check()).toEqual(expected('its folder FOLDER/other is not there: make it'));
    await mkdir(join(folder, 'other'));
    expect(await check()).toEqual([]);
    await writeFile(join(folder, 'file'), '');
    expect(await check(join(folder, 'file/state'))).toEqual([
      '--state.file: expected a file that can be written; its folder FOLDER/file is not there: make it',
    ]);
  });

  it('that is a directory is a problem', async () => {
    const { check, folder } = await withState('.');
    expect(await check()).toEqual(expected('FOLDER is a directory'));
    await writeFile(join(folder, 'state'), '');
    expect(await check(join(folder, 'state'))).toEqual([]);
    expect(await check(folder)).toEqual([
      '--state.file: expected a file that can be written; FOLDER is a directory',
    ]);
  });

  it('without a path is a problem that speaks of no key', async () => {
    const { check } = await withState("''");
    expect(await check()).toEqual(['config.yml:2: state.file: expected the path of a file']);
  });

  it('that holds something else, which ends a start, is a problem, and nothing of it is said', async () => {
    const { check, folder } = await withState('key');
    await writeFile(join(folder, 'key'), 'a-secret');
    expect(await check()).toEqual(
      expected('FOLDER/key is no state: it does not begin like one, and is left as it is'),
    );
    await writeFile(join(folder, 'key'), '');
    expect(await check()).toEqual([]);
  });
});
