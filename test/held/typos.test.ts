import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { temporary } from '../http/temporary.ts';

const account = 'credentials: { account: { env: KEY } }\n';

/** The problems of a configuration file, with their lines. */
async function problemsOf(yaml: string): Promise<readonly string[]> {
  const file = join(temporary({ 'config.yml': yaml }), 'config.yml');
  const refused = await loadConfig({ file, env: { KEY: 'a-key' }, resources }).then(
    () => '',
    ({ message }: Error) => message,
  );
  return refused.replaceAll(`${file}:`, '').split('\n');
}

it.each([
  [
    'a section',
    `${account}aplications: { targets: all }\n`,
    '2: aplications: unknown setting (did you mean applications?)',
  ],
  [
    'discovery',
    `${account}discovry: { kinds: all }\n`,
    '2: discovry: unknown setting (did you mean discovery?)',
  ],
  [
    'the credentials',
    'credential: { account: { env: KEY } }\napplications: { targets: all }\n',
    '1: credential: unknown setting (did you mean credentials?)',
  ],
  [
    'the source of a key',
    'credentials: { account: { envv: KEY } }\napplications: { targets: all }\n',
    '1: credentials.account.envv: unknown setting (did you mean env?)',
  ],
  [
    'the targets',
    `${account}applications: { target: all }\n`,
    '2: applications.target: unknown setting (did you mean targets?)',
  ],
  [
    'an id',
    `${account}video_storage: { targets: [{ libary_id: 4, video_id: 0f8c3f9e-0000-4000-8000-000000000000 }] }\n`,
    '2: video_storage.targets[0].libary_id: unknown setting (did you mean library_id?)',
  ],
])(
  'a misspelt name for %s is the only problem: the right name is not also reported as missing',
  async (_, yaml, expected) => {
    expect(await problemsOf(yaml)).toEqual([expected]);
  },
);

it('all in other letters, or in a list, gets the form that is right', async () => {
  expect(await problemsOf(`${account}pull_zones: { targets: All }\n`)).toEqual([
    '2: pull_zones.targets: expected all, or a list of ids or { id: … }; got "All" (did you mean all?)',
  ]);
  expect(await problemsOf(`${account}pull_zones: { targets: [all, 7] }\n`)).toEqual([
    '2: pull_zones.targets[0]: expected `all` alone, not in a list; got "all"',
  ]);
});

it('a misspelt name hides no other mistake of form', async () => {
  expect(await problemsOf(`${account}applications: { target: all, interval: 1 }\n`)).toHaveLength(2);
});
