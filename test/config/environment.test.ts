import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flagVariables } from '../../src/cli/flags.ts';
import { environmentSettings } from '../../src/config/environment.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { takesAll } from '../../src/config/schema.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { runs } from '../runs.ts';
import { account, canary, directory, fewKinds, linesOf } from './fixtures.ts';

async function load(
  env: Record<string, string>,
  kinds: LoadOptions['resources'] = fewKinds,
): Promise<LoadedConfig> {
  return await loadConfig({ env, resources: kinds, otherVariables: flagVariables });
}

const key = { BUNNYNET_ACCESS_KEY: canary };
const video = '0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f';

const noKey = (why = '') =>
  `expected the key of the account: ${why}set BUNNYNET_ACCESS_KEY (or BUNNYNET_ACCESS_KEY_FILE), ` +
  'or give a configuration file (--config.file=PATH). To try it without an account: --demo';

describe('without a file', () => {
  test('the environment alone configures every kind', async () => {
    const { config, warnings } = await load({
      ...key,
      BUNNYNET_VIDEO_ACCESS_KEY: `${canary}-video`,
      BUNNYNET_APPLICATIONS: 'HbqFnk0KZjzYOcp, q7TzVb2',
      BUNNYNET_SHIELD_ZONES: 'all',
      BUNNYNET_RATE_LIMITS: '501',
      BUNNYNET_API_GUARDIAN: '501/77,501/78',
      BUNNYNET_VIDEOS: `4711/${video}`,
      BUNNYNET_APPLICATION_URL: 'https://a.example.com/mc/',
      BUNNYNET_SHIELD_URL: 'http://127.0.0.1:8080',
      BUNNYNET_CORE_URL: 'https://c.example.com',
      BUNNYNET_VIDEO_URL: 'https://v.example.com',
      BUNNYNET_ORIGIN_ERRORS_URL: 'https://o.example.com',
    });
    expect(warnings).toEqual([]);
    expect(config.credentials).toEqual({
      account: { env: 'BUNNYNET_ACCESS_KEY' },
      video: { env: 'BUNNYNET_VIDEO_ACCESS_KEY' },
    });
    const sections = config.sections.map(({ kind, accounts, targets }) => ({
      kind,
      credential: targets === 'all' ? accounts.join() : targets[0]?.credential,
      targets: targets === 'all' ? targets : targets.map(({ ids }) => Object.values(ids).join('/')),
    }));
    expect(sections).toEqual([
      { kind: 'application', credential: 'account', targets: ['HbqFnk0KZjzYOcp', 'q7TzVb2'] },
      { kind: 'shield_zone', credential: 'account', targets: 'all' },
      { kind: 'api_guardian', credential: 'account', targets: ['501/77', '501/78'] },
      { kind: 'rate_limit', credential: 'account', targets: ['501'] },
      { kind: 'video_storage', credential: 'video', targets: [`4711/${video}`] },
    ]);
    expect(Object.values(config.apis).map(({ baseUrl }) => baseUrl)).toEqual([
      'https://a.example.com/mc',
      'http://127.0.0.1:8080',
      'https://c.example.com',
      'https://v.example.com',
      'https://o.example.com',
    ]);
  });

  test('an empty variable counts as not set', async () => {
    const { config } = await load({
      ...key,
      BUNNYNET_APPLICATIONS: 'a',
      BUNNYNET_SHIELD_ZONES: ' ',
      BUNNYNET_ACCESS_KEY_FILE: '',
    });
    expect(config.sections.map(({ kind }) => kind)).toEqual(['application']);
  });

  test('the key of the account turns on everything except the storage of videos', async () => {
    for (const variable of ['BUNNYNET_ACCESS_KEY', 'BUNNYNET_ACCESS_KEY_FILE']) {
      const file = join(await directory(), 'key');
      await writeFile(file, `${canary}\n`, { mode: 0o600 });
      const env = { [variable]: variable.endsWith('FILE') ? file : canary };
      const { config, warnings } = await load(env, resources);
      expect(warnings).toEqual([]);
      expect(config.sections.map(({ kind }) => kind)).toEqual(
        resources.filter((resource) => takesAll(resource) && !resource.isCostly).map(({ kind }) => kind),
      );
      expect(new Set(config.sections.map(({ targets }) => targets))).toEqual(new Set(['all']));
      expect(new Set(config.sections.map(({ accounts }) => accounts.join()))).toEqual(new Set(['account']));
    }
  });

  test('the credentials of a systemd service are the keys, unless a variable gives another', async () => {
    const service = { CREDENTIALS_DIRECTORY: await directory(), BUNNYNET_VIDEOS: 'all' };
    const [own, videos] = ['access-key', 'video-access-key'].map((name) =>
      join(service.CREDENTIALS_DIRECTORY, name),
    ) as [string, string];
    const sourcesOf = async (env: Record<string, string>) => (await load(env)).config.credentials;
    expect(await linesOf(load({ CREDENTIALS_DIRECTORY: service.CREDENTIALS_DIRECTORY }))).toEqual([
      noKey('$CREDENTIALS_DIRECTORY has no access-key; '),
    ]);
    await writeFile(own, canary, { mode: 0o400 });
    expect(await sourcesOf(service)).toEqual({ account: { file: own } });
    await writeFile(videos, '', { mode: 0o600 });
    expect(await linesOf(load(service))).toEqual([
      `CREDENTIALS_DIRECTORY: expected a key in the file ${videos}; it is empty`,
    ]);
    await writeFile(videos, `${canary}-video`);
    expect(await sourcesOf(service)).toEqual({ account: { file: own }, video: { file: videos } });
    expect(await sourcesOf({ ...service, ...key, BUNNYNET_VIDEO_ACCESS_KEY_FILE: own })).toEqual({
      account: { env: 'BUNNYNET_ACCESS_KEY' },
      video: { file: own },
    });
  });

  const usual = fewKinds.filter(({ isCostly }) => !isCostly);

  test.each(usual.map(({ kind, environment }) => [environment, kind]))(
    '%s turns on only its kind',
    async (variable, kind) => {
      const { config, warnings } = await load({ ...key, [variable]: 'all' });
      expect(warnings).toEqual([]);
      expect(config.sections).toMatchObject([{ kind, targets: 'all', accounts: ['account'] }]);
    },
  );

  test('BUNNYNET_VIDEOS is added to everything beside the key alone, and to what other variables name', async () => {
    const kindsOf = async (env: Record<string, string>) =>
      (await load({ ...key, ...env }, resources)).config.sections.map(({ kind }) => kind);
    const all = resources.filter(takesAll).map(({ kind }) => kind);
    expect(await kindsOf({ BUNNYNET_VIDEOS: 'all' })).toEqual(all);
    const video = '1/0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f';
    const ofLibrary = { BUNNYNET_VIDEOS: video, BUNNYNET_VIDEO_ACCESS_KEY: `${canary}-video` };
    expect(await kindsOf(ofLibrary)).toEqual(all);
    expect(await kindsOf({ ...ofLibrary, BUNNYNET_APPLICATIONS: 'all' })).toEqual([
      'application',
      'video_storage',
    ]);
    const { config } = await load(ofLibrary, resources);
    expect(config.sections.map(({ kind }) => kind)).toEqual(['video_storage']);
    expect(
      await linesOf(load({ ...key, BUNNYNET_VIDEOS: 'all', BUNNYNET_APPLICATION: 'a' }, resources)),
    ).toEqual([expect.stringContaining('did you mean BUNNYNET_APPLICATIONS?')]);
  });

  test('videos are read with the keys of their libraries, or with the given key', async () => {
    const ofVideos = ({ config }: Awaited<ReturnType<typeof load>>) =>
      config.sections.find(({ kind }) => kind === 'video_storage');
    const found = await load({ ...key, BUNNYNET_VIDEOS: 'all' });
    expect(ofVideos(found)).toMatchObject({ accounts: ['account'] });
    const given = await load({
      ...key,
      BUNNYNET_VIDEOS: 'all',
      BUNNYNET_VIDEO_ACCESS_KEY: `${canary}-video`,
    });
    expect(given.warnings).toEqual([]);
    expect(ofVideos(given)).toMatchObject({ accounts: ['account'], libraryCredential: 'video' });
  });

  test('the account has the name that BUNNYNET_ACCOUNT gives it; beside a file, which names its credentials itself, it is ignored without a word', async () => {
    const { config } = await load({ ...key, BUNNYNET_ACCOUNT: 'acme', BUNNYNET_APPLICATIONS: 'all' });
    expect(config).toMatchObject({
      credentials: { acme: { env: 'BUNNYNET_ACCESS_KEY' } },
      accounts: ['acme'],
      sections: [{ accounts: ['acme'] }],
    });
    expect(await linesOf(load({ ...key, BUNNYNET_ACCOUNT: 'video' }))).toEqual([
      'BUNNYNET_ACCOUNT: expected a name of letters, digits, dots, dashes and underscores, and another one than video',
    ]);
    const document = { credentials: { a: { env: 'BUNNYNET_ACCESS_KEY' } }, applications: { targets: 'all' } };
    const besideFile = await loadConfig({ document, env: { ...key, BUNNYNET_ACCOUNT: 'acme' }, resources });
    expect(besideFile).toMatchObject({ config: { accounts: ['a'] }, warnings: [] });
  });

  test.each<[string, Record<string, string>, string[]]>([
    ['nothing at all', {}, [noKey()]],
    ['an empty key', { BUNNYNET_ACCESS_KEY: '' }, [noKey('BUNNYNET_ACCESS_KEY is set, but empty; ')]],
    [
      'nothing at all in a service of systemd',
      { INVOCATION_ID: 'a' },
      [
        noKey(
          'a drop-in of the unit hands it over, LoadCredential=access-key:/etc/bunnynet-exporter/access-key; or ',
        ),
      ],
    ],
    [
      'nothing at all in an instance of the unit',
      { INVOCATION_ID: 'a', BUNNYNET_ACCOUNT: 'acme' },
      [
        noKey(
          'a drop-in of the unit hands it over, LoadCredential=access-key:/etc/bunnynet-exporter/acme/access-key; or ',
        ),
      ],
    ],
    ['only the key of a library', { BUNNYNET_VIDEO_ACCESS_KEY: canary }, [noKey()]],
    [
      'all videos without the key of the account',
      { BUNNYNET_VIDEO_ACCESS_KEY: canary, BUNNYNET_VIDEOS: 'all' },
      [
        'BUNNYNET_ACCESS_KEY: expected the key in the environment variable BUNNYNET_ACCESS_KEY, which is not set',
      ],
    ],
    [
      'no key',
      { BUNNYNET_APPLICATIONS: 'a' },
      [
        'BUNNYNET_ACCESS_KEY: expected the key in the environment variable BUNNYNET_ACCESS_KEY, which is not set',
      ],
    ],
    [
      "the account's key for videos",
      { ...key, BUNNYNET_VIDEOS: `4711/${video}` },
      [
        'BUNNYNET_VIDEO_ACCESS_KEY: expected the key in the environment variable BUNNYNET_VIDEO_ACCESS_KEY, which is not set',
      ],
    ],
    [
      'a key given twice',
      {
        ...key,
        BUNNYNET_ACCESS_KEY_FILE: '/nowhere/key',
        BUNNYNET_APPLICATIONS: 'a',
        BUNNYNET_SHIELD_ZONES: 'all',
      },
      ['BUNNYNET_ACCESS_KEY: expected either BUNNYNET_ACCESS_KEY or BUNNYNET_ACCESS_KEY_FILE; both are set'],
    ],
    [
      'all beside ids',
      { ...key, BUNNYNET_APPLICATIONS: 'a,All', BUNNYNET_SHIELD_ZONES: 'all,7' },
      [
        'BUNNYNET_APPLICATIONS element 2: expected `all` alone, not in a list; got "All"',
        'BUNNYNET_SHIELD_ZONES element 1: expected `all` alone, not in a list; got "all"',
      ],
    ],
    [
      'several mistakes',
      {
        ...key,
        BUNNYNET_APPLICATIONS: 'a,,b c,a',
        BUNNYNET_RATE_LIMITS: 'some',
        BUNNYNET_API_GUARDIAN: '501',
        BUNNYNET_SHIELD_URL: 'shield.example.com',
      },
      [
        'BUNNYNET_API_GUARDIAN element 1: expected shield_zone_id/endpoint_id or { shield_zone_id: …, endpoint_id: … }; got "501"',
        'BUNNYNET_APPLICATIONS element 2: expected an id or { id: … }; got nothing',
        'BUNNYNET_APPLICATIONS element 3: expected an id of 1 to 128 characters A-Z a-z 0-9 . _ -; got "b c"',
        'BUNNYNET_RATE_LIMITS element 1: expected an id that is a whole number of at most 64 bits, without leading zeros; got "some"',
        'BUNNYNET_SHIELD_URL: expected an http or https address without user name, query and fragment, such as https://api.example.com/path',
      ],
    ],
  ])('%s is reported', async (_, env, problems) => {
    expect(await linesOf(load(env))).toEqual(problems);
  });
});

test('any environment is a configuration, or an error that names the wrong variable', async () => {
  const variables = environmentSettings(fewKinds).map(({ variable }) => variable);
  const value = fc.oneof(
    fc.constantFrom('all', 'a', '501', '501/77', `4711/${video}`, ',', '', 'all,a'),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...variables), value), async (env) => {
      const outcome = await load({ ...key, ...env }).then(
        ({ config }) => config.sections.length > 0,
        (error: unknown) =>
          error instanceof ConfigError &&
          error.problems.every(
            ({ path, message }) => path !== '' || message.startsWith('expected the key of the account: '),
          ),
      );
      expect(outcome, JSON.stringify(env)).toBe(true);
    }),
    { numRuns: runs(15, 2_000) },
  );
});

describe('unknown variables', () => {
  test.each([
    [
      'BUNNYNET_APPLICATION',
      ['BUNNYNET_APPLICATION is not a setting (did you mean BUNNYNET_APPLICATIONS?): it is ignored'],
    ],
    [
      'BUNNYNET_LOG_LEVL',
      ['BUNNYNET_LOG_LEVL is not a setting (did you mean BUNNYNET_LOG_LEVEL?): it is ignored'],
    ],
    ['BUNNYNET_QWERTZUIOP', ['BUNNYNET_QWERTZUIOP is not a setting: it is ignored']],
    ['BUNNYNET_LOG_LEVEL', []],
    ['BUNNYNET_EXPORTER_PORT_10057_TCP', []],
    ['BUNNYNET_SERVICE_HOST', []],
    ['BUNNYNET_PORT', []],
    ['BUNNYNET_PROXY_SERVICE_PORT_HTTP', []],
    ['OTHER_BUNNYNET_APPLICATION', []],
  ])('are warned about, unless something else sets them: %s', async (variable, expected) => {
    const { warnings } = await load({ ...key, BUNNYNET_APPLICATIONS: 'a', [variable]: 'tcp://10.0.0.1' });
    expect(warnings).toEqual(expected);
  });

  test('a file replaces the settings of the environment, except the keys that it names', async () => {
    const file = join(await directory(), 'config.yml');
    await writeFile(file, `${account}applications: { targets: [a] }`);
    const env = { ...key, BUNNYNET_SHIELD_ZONES: 'all', BUNNYNET_VIDEO_ACCESS_KEY: canary };
    const { config, warnings } = await loadConfig({ file, env, resources: fewKinds });
    expect(config.sections.map(({ kind }) => kind)).toEqual(['application']);
    expect(warnings).toEqual([
      'BUNNYNET_SHIELD_ZONES is ignored, because a configuration file is given',
      'BUNNYNET_VIDEO_ACCESS_KEY is ignored, because a configuration file is given',
    ]);
  });
});
