import { describe, expect, test } from 'vitest';
import type { Config, SectionConfig } from '../../src/config/config.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { describeConfig } from '../../src/config/read.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type { Resource } from '../../src/resources/resource.ts';
import { runs } from '../runs.ts';
import { account, env, fewKinds, linesOf, load, problemsOf } from './fixtures.ts';

const two = 'credentials: { one: { env: BUNNYNET_ACCESS_KEY }, lib: { env: BUNNYNET_VIDEO_ACCESS_KEY } }\n';

/** Kinds that have no section in a test, in the order of the page. */
const kinds = resources.map(({ kind }) => kind);

function section({ sections }: Config, kind: string): SectionConfig {
  const found = sections.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no section of the kind ${kind}`);
  return found;
}

const allButVideos = kinds.filter((kind) => kind !== 'video_storage');

describe('discovery', () => {
  test('turns on every kind without a section, except the excluded ones', async () => {
    const { config, warnings } = await load(
      `${account}discovery: { interval: 5m, kinds: all }\napplications: { targets: [a] }\n`,
      { BUNNYNET_ACCESS_KEY: 'k' },
      resources,
    );
    expect(warnings).toEqual([]);
    expect(config.discovery).toEqual({ intervalMs: 300_000 });
    expect(config.sections.map(({ kind }) => kind)).toEqual(allButVideos);
    expect(section(config, 'application').targets).toHaveLength(1);
    expect(section(config, 'rate_limit')).toMatchObject({
      accounts: ['account'],
      intervalMs: 300_000,
      staleAfterMs: 900_000,
      targets: 'all',
    });
  });

  test('never turns on the storage of videos, which its section adds to all', async () => {
    const kindsOf = async (text: string) =>
      (await load(`${account}${text}`, env, resources)).config.sections.map(({ kind }) => kind);
    expect(await kindsOf('discovery: { kinds: all }\n')).toEqual(allButVideos);
    expect(await kindsOf('discovery: { kinds: all }\nvideo_storage: { targets: all }\n')).toEqual(kinds);
    expect(await kindsOf('video_storage: { targets: all }\n')).toEqual(['video_storage']);
  });

  test('reads every kind without a section as one with `targets: all` alone', async () => {
    const all = `${account}discovery: { kinds: all }\n`;
    const written = resources.map((resource) => `${resource.section}: { targets: all }\n`).join('');
    const videos = 'video_storage: { targets: all }\n';
    const [implicit, explicit] = await Promise.all(
      [all + videos, all + written].map(async (text) => (await load(text, env, resources)).config.sections),
    );
    expect(implicit).toEqual(explicit);
  });

  test('turns nothing on by default', async () => {
    const { config } = await load(`${account}discovery: { interval: 1h }\nshield_zones: { targets: all }`);
    expect(config.sections.map(({ kind }) => kind)).toEqual(['shield_zone']);
    expect(config.discovery.intervalMs).toBe(3_600_000);
  });

  test('leaves out kinds whose targets cannot be found', async () => {
    const [application, shieldZone] = fewKinds;
    if (!application || !shieldZone) throw new Error('there are too few kinds');
    const { listing: _, ...unlisted } = application;
    const text = `${account}discovery: { kinds: all }\n`;
    const { config } = await load(text, env, [unlisted as Resource, shieldZone]);
    expect(config.sections.map(({ kind }) => kind)).toEqual([shieldZone.kind]);
  });

  test.each([
    [
      'discovery: { kinds: all, except: [shield_zon] }',
      '2: discovery.except[0]: expected application, shield_zone, api_guardian, rate_limit or billing; got "shield_zon" (did you mean shield_zone?)',
    ],
    [
      'discovery: { kinds: all, except: [application, video_storage] }',
      '2: discovery.except[1]: `all` never has it; remove this',
    ],
    [
      'discovery: { kinds: all, except: shield_zone }',
      '2: discovery.except: expected a list of kinds; got "shield_zone"',
    ],
    [
      'discovery: { except: [application] }\napplications: { targets: all }',
      '2: discovery.except: expected only with `kinds: all`',
    ],
    ['discovery:', '2: discovery: expected a mapping; got nothing'],
    [
      'discovery: { kinds: all, include: prod-.* }',
      '2: discovery.include: unknown setting; there is none for every kind, since each has names of its own: with `targets: all`, a section has its own `include`',
    ],
    [
      'discovery: { kinds: all, accounts: [acount] }',
      '2: discovery.accounts[0]: expected a credential that is defined: account',
    ],
  ])('as %s is an error with its line', async (text, problem) => {
    expect(await problemsOf(`${account}${text}\n`)).toEqual([`config.yml:${problem}`]);
  });
});

test('a kind of the account accepts neither a list nor a selection', async () => {
  expect(await problemsOf(`${account}billing: { targets: [account], include: x }`)).toEqual([
    'config.yml:2: billing.targets: expected all; got a list',
    'config.yml:2: billing.include: unknown setting; expected credential, interval, stale_after or targets',
  ]);
});

describe('a selection', () => {
  test('is a pattern or a list of patterns, for targets and for parents', async () => {
    const { config } = await load(`${account}
applications: { targets: all, include: "prod-.*", exclude: [".*-preview", 12] }
api_guardian: { targets: all, parents: { include: [shop, www] } }
shield_zones: { targets: all, exclude: "501" }
`);
    expect(section(config, 'application').selection).toEqual({
      include: ['prod-.*'],
      exclude: ['.*-preview', '12'],
    });
    expect(section(config, 'api_guardian')).toMatchObject({
      selection: undefined,
      parents: { include: ['shop', 'www'], exclude: [] },
    });
    expect(section(config, 'shield_zone').selection).toEqual({ include: [], exclude: ['501'] });
  });

  test.each([
    ['include: "a("', 'include: expected a pattern in RE2 syntax; missing closing )'],
    ['exclude: [a, "[z"]', 'exclude[1]: expected a pattern in RE2 syntax; missing closing ]'],
    ['include: ""', 'include: expected a pattern in RE2 syntax; it is empty'],
    ['include: []', 'include: expected at least one pattern; got a list'],
    ['exclude:', 'exclude: expected a pattern in RE2 syntax, or a list of them; got nothing'],
    [
      'parents: { include: "*" }',
      'parents.include: expected a pattern in RE2 syntax; missing argument to repetition operator (did you mean ".*"?)',
    ],
    ['parents: { includ: a }', 'parents.includ: unknown setting (did you mean include?)'],
    ...runs<[string, string][]>(
      [],
      [['include: "(a{0,100}){0,10}"', 'include: expected a pattern in RE2 syntax; it repeats too much']],
    ),
  ])('%s is an error with its line', async (text, problem) => {
    expect(await problemsOf(`${account}api_guardian:\n  targets: all\n  ${text}\n`)).toEqual([
      `config.yml:4: api_guardian.${problem}`,
    ]);
  });

  test('of parents is only for kinds whose listing has parents', async () => {
    const [problem] = await problemsOf(`${account}applications: { targets: all, parents: { include: a } }`);
    expect(problem).toMatch(/^config\.yml:2: applications\.parents: unknown setting/);
  });

  test('beside a list of targets is an error for each of its settings', async () => {
    const text = `${account}api_guardian:
  targets: [501/77]
  include: a
  exclude: b
  parents: { include: c }
  overrides: [{ shield_zone_id: 1, endpoint_id: 2, name: d }]
`;
    const only = 'expected only with `targets: all`; the targets are a list';
    expect(await problemsOf(text)).toEqual([
      `config.yml:4: api_guardian.include: ${only}`,
      `config.yml:5: api_guardian.exclude: ${only}`,
      `config.yml:6: api_guardian.parents: ${only}`,
      `config.yml:7: api_guardian.overrides: ${only}`,
    ]);
  });
});

describe('overrides', () => {
  test('apply by id, and take from the section what they leave out', async () => {
    const { config } = await load(`${account}
applications:
  targets: all
  overrides:
    - { id: a, interval: 30s }
    - { id: b, name: shop }
    - { id: c, stale_after: 90s }
api_guardian:
  targets: all
  stale_after: 20m
  overrides: [{ shield_zone_id: 501, endpoint_id: 77, interval: 10m }]
`);
    expect([...(section(config, 'application').overrides ?? [])]).toEqual([
      ['a', { intervalMs: 30_000, staleAfterMs: 90_000 }],
      ['b', { name: 'shop' }],
      ['c', { staleAfterMs: 90_000 }],
    ]);
    expect([...(section(config, 'api_guardian').overrides ?? [])]).toEqual([
      ['501/77', { intervalMs: 600_000, staleAfterMs: 1_200_000 }],
    ]);
  });

  test.each([
    ['[{ id: a, name: x }, { id: a, name: y }]', '[1]: expected each target once; "a" is already on line 4'],
    [
      '[{ id: a, stale_after: 1m }]',
      '[0].stale_after: expected at least 1m30s, 1.5 times the interval, or values leave between two polls; got 1m',
    ],
    ['[a]', '[0]: expected { id: …, … }; got "a"'],
    [
      '[{ id: a, credential: account }]',
      '[0].credential: unknown setting; expected id, app_id, name, interval or stale_after',
    ],
    ['{ a: b }', ': expected a list of { id: …, … }; got a mapping'],
  ])('that are %s are an error with their line', async (overrides, problem) => {
    expect(await problemsOf(`${account}applications:\n  targets: all\n  overrides: ${overrides}\n`)).toEqual([
      `config.yml:4: applications.overrides${problem}`,
    ]);
  });

  test('cannot set an interval if all targets come with one listing', async () => {
    expect(
      await problemsOf(`${account}shield_zones: { targets: all, overrides: [{ id: 501, interval: 1m }] }`),
    ).toEqual([
      'config.yml:2: shield_zones.overrides[0].interval: unknown setting; expected id, shield_zone_id, name or stale_after',
    ]);
  });
});

describe('interval_factor', () => {
  const intervals = ({ config }: LoadedConfig) => [
    config.discovery.intervalMs,
    ...config.sections.map(({ intervalMs, staleAfterMs }) => [intervalMs, staleAfterMs]),
  ];
  const minute = 60_000;
  const hour = 60 * minute;

  test('multiplies each interval that is not set by hand, and the default stale_after with it', async () => {
    const text = `applications:
  targets: all
  overrides: [{ id: x, interval: 30s }, { id: y, stale_after: 10m }]
shield_zones: { targets: all, interval: 1m }
billing: { stale_after: 1d }
`;
    const loaded = await load(`${account}interval_factor: 2\n${text}`);
    expect(intervals(loaded)).toEqual([
      20 * minute,
      [2 * minute, 6 * minute],
      [minute, 3 * minute],
      [2 * hour, 24 * hour],
    ]);
    const { overrides } = section(loaded.config, 'application');
    expect(overrides?.get('x')).toMatchObject({ intervalMs: 30_000, staleAfterMs: 90_000 });
    expect(
      intervals(await load(`${account}interval_factor: 0.5\ndiscovery: { interval: 4m }\n${text}`)),
    ).toEqual([4 * minute, [minute / 2, 1.5 * minute], [minute, 3 * minute], [hour / 2, 24 * hour]]);
  });

  test('makes no interval longer than a day, and leaves a longer default as it is', async () => {
    const billingKind = resources.find(({ kind }) => kind === 'billing') as Resource;
    const rare = { ...billingKind, kind: 'rare', section: 'rare', defaultIntervalSeconds: 172_800 };
    const often = { ...billingKind, kind: 'often', section: 'often', defaultIntervalSeconds: 21_600 };
    const text = `${account}interval_factor: 10\nrare: {}\noften: {}\n`;
    const { config } = await load(text, env, [rare, often]);
    expect(config.sections.map(({ intervalMs }) => intervalMs)).toEqual([48 * hour, 24 * hour]);
  });

  test.each([
    ['interval_factor: 11', 'interval_factor: expected a number from 0.5 to 10; got "11"'],
    ['interval_factor: 0.4', 'interval_factor: expected a number from 0.5 to 10; got "0.4"'],
    [
      'interval_factor: 4\napplications: { targets: all, stale_after: 5m }',
      'applications.stale_after: expected at least 6m, 1.5 times the interval (4m, by interval_factor 4), or values leave between two polls; got 5m',
    ],
    [
      'interval_factor: 4\napplications: { targets: [{ id: a, stale_after: 5m }] }',
      'applications.targets[0].stale_after: expected at least 6m, 1.5 times the interval (4m, by interval_factor 4), or values leave between two polls; got 5m',
    ],
    [
      'interval_factor: 4\napplications: { targets: all, interval: 4m, stale_after: 5m }',
      'applications.stale_after: expected at least 6m, 1.5 times the interval, or values leave between two polls; got 5m',
    ],
  ])('%s is an error', async (text, problem) => {
    const problems = await problemsOf(`${account}${text}${text.includes('\n') ? '' : '\nbilling: {}'}`);
    expect(problems.map((line) => line.replace(/^config\.yml:\d+: /, ''))).toEqual([problem]);
  });

  test('is BUNNYNET_INTERVAL_FACTOR where there is no file', async () => {
    const factor = (BUNNYNET_INTERVAL_FACTOR: string) =>
      loadConfig({ env: { ...env, BUNNYNET_BILLING: 'all', BUNNYNET_INTERVAL_FACTOR }, resources: fewKinds });
    expect(intervals(await factor('3'))).toEqual([30 * minute, [3 * hour, 9 * hour]]);
    expect(await linesOf(factor('x'))).toEqual([
      'BUNNYNET_INTERVAL_FACTOR: expected a number from 0.5 to 10; got "x"',
    ]);
  });
});

describe('discovery.accounts', () => {
  const three = `credentials: { a: { env: BUNNYNET_ACCESS_KEY }, b: { env: BUNNYNET_ACCESS_KEY }, c: { env: BUNNYNET_ACCESS_KEY } }\n`;

  test('are the accounts of what says nothing of its own, in the order of accounts', async () => {
    const { config } = await load(`${three}accounts: [a, b, c]
discovery: { kinds: all, accounts: [c, a] }
shield_zones: { targets: all, credential: [c, b] }
applications: { targets: [x, { id: y, credential: b }], credential: a }`);
    expect(config.accounts).toEqual(['a', 'b', 'c']);
    expect(section(config, 'billing').accounts).toEqual(['a', 'c']);
    expect(section(config, 'shield_zone').accounts).toEqual(['b', 'c']);
    expect(describeConfig(config, fewKinds)).toMatchObject({
      discovery: { accounts: ['a', 'c'] },
      shield_zones: { credential: ['b', 'c'] },
    });
  });

  test('say whose a target is that is named by hand, and which credentials are an account', async () => {
    const one = three.replace(/, c: .* }\n/, ' }\n');
    const { config } = await load(
      `${one}discovery: { kinds: all, accounts: a }\nshield_zones: { targets: all, credential: b }\napplications: { targets: [x] }`,
    );
    expect(config.accounts).toEqual(['a', 'b']);
    expect(section(config, 'application').targets).toMatchObject([{ credential: 'a' }]);
  });

  test.each([
    [
      'accounts: [a, b]\ndiscovery: { kinds: all, accounts: [c] }',
      '3: discovery.accounts: expected accounts among those of `accounts` (a, b); c is not',
    ],
    [
      'accounts: [a, b, c]\ndiscovery: { kinds: all, accounts: [a, d] }',
      '3: discovery.accounts[1]: expected a credential that is defined: a, b or c (did you mean a?)',
    ],
    [
      'accounts: [a, b, c]\ndiscovery: { kinds: all, accounts: [a, b] }',
      '1: credentials.c: expected `discovery.accounts`, a section or a target to name it; remove it otherwise',
    ],
  ])('%s is an error with its line', async (text, problem) => {
    expect(await problemsOf(`${three}${text}`)).toEqual([`config.yml:${problem}`]);
  });
});

describe('discovery.exclude', () => {
  test.each([
    ['"(a"', 'expected a pattern in RE2 syntax; missing closing )'],
    [
      'app_id=*',
      'expected a pattern in RE2 syntax; missing argument to repetition operator (did you mean ".*"?)',
    ],
    [
      'pul_zone_id=501',
      'expected a pattern in RE2 syntax; pul_zone_id is none of app_id, pull_zone_id or library_id (did you mean pull_zone_id?)',
    ],
    [
      'shield_zone_id=5',
      'expected a pattern in RE2 syntax; shield_zone_id is none of app_id, pull_zone_id or library_id; what is below or about one of them is left out with it',
    ],
  ])('%s is an error with its line', async (exclude, problem) => {
    expect(await problemsOf(`${account}discovery: { kinds: all, exclude: ${exclude} }`)).toEqual([
      `config.yml:2: discovery.exclude: ${problem}`,
    ]);
  });
});

test('a pattern that looks like one of a shell, and what is named although its id is left out, are warnings', async () => {
  const { warnings } = await load(
    `${account}discovery: { kinds: all, exclude: ["test-*", "a.*", "app_id=x"] }
applications: { targets: [x, y] }
api_guardian: { targets: all, parents: { include: "shop-*.example.com" } }
`,
    { BUNNYNET_ACCESS_KEY: 'k' },
  );
  expect(warnings.map((line) => line.replace(/^.*(?=config\.yml)/, ''))).toEqual([
    'config.yml:2: discovery.exclude: the pattern "test-*" looks like one of a shell; did you mean "test-.*"?',
    'config.yml:3: applications.targets[0]: app_id=x is read, since it is named here, although discovery.exclude leaves it out',
    'config.yml:4: api_guardian.parents.include: the pattern "shop-*.example.com" looks like one of a shell; did you mean "shop-.*\\\\.example\\\\.com"?',
  ]);
});

const wholeNumber = 'expected an id that is a whole number of at most 64 bits, without leading zeros';

test('an id may be called by its label, but not by both names', async () => {
  const { config } = await load(
    `${account}rate_limits: { targets: [{ shield_zone_id: 501 }, { id: 502, name: x }] }\napplications: { targets: all, overrides: [{ app_id: q, name: y }] }`,
  );
  expect(section(config, 'rate_limit').targets).toMatchObject([
    { ids: { shield_zone_id: '501' } },
    { ids: { shield_zone_id: '502' }, name: 'x' },
  ]);
  expect(section(config, 'application').overrides?.get('q')).toMatchObject({ name: 'y' });
  expect(
    await problemsOf(
      `${account}rate_limits: { targets: [{ id: 501, shield_zone_id: 501 }, { name: x }, { shield_zone_id: a }, { id: 1 }] }`,
    ),
  ).toEqual([
    'config.yml:2: rate_limits.targets[0].shield_zone_id: expected either id or shield_zone_id; both are set',
    `config.yml:2: rate_limits.targets[1].id: ${wholeNumber}; it is missing`,
    `config.yml:2: rate_limits.targets[2].shield_zone_id: ${wholeNumber}; got "a"`,
  ]);
  expect(await problemsOf(`${account}rate_limits: { targets: [{ id: 1 }, { shield_zone_id: 1 }] }`)).toEqual([
    'config.yml:2: rate_limits.targets[1]: expected each target once; "1" is already on line 2',
  ]);
});

test('a kind of an account needs no targets', async () => {
  const { config } = await load(`${account}billing: { interval: 2h }`);
  expect(config.sections).toMatchObject([
    { kind: 'billing', targets: 'all', accounts: ['account'], intervalMs: 7_200_000 },
  ]);
});

describe('the credential', () => {
  const videos = async (text: string) => section((await load(text)).config, 'video_storage');
  const abc =
    'credentials: { a: { env: BUNNYNET_ACCESS_KEY }, b: { env: BUNNYNET_ACCESS_KEY }, c: { env: BUNNYNET_ACCESS_KEY } }\n';

  test("of videos is the named one, and the listing uses the account's", async () => {
    const named = { accounts: ['one'], libraryCredential: 'lib' };
    const video = 'video_storage: { targets: all, credential: lib }\n';
    expect(await videos(`${two}${video}`)).toMatchObject(named);
    expect(await videos(`${two}${video}shield_zones: { targets: all, credential: one }`)).toMatchObject(
      named,
    );
    expect(await videos(`${two}${video}discovery: { kinds: all }`)).toMatchObject(named);
  });

  test("of videos that is also the account's opens no library, so the found keys are used", async () => {
    expect(await videos(`${account}video_storage: { targets: all, credential: account }`)).toMatchObject({
      accounts: ['account'],
    });
  });

  test('of what is found must be an account, and the error has the line to write', async () => {
    const line =
      "expected to know which of the credentials are an account's key: write `accounts: [one, lib]`, or those of them that are";
    for (const sections of ['discovery: { kinds: all }', 'video_storage: { targets: all }'])
      expect(await problemsOf(`${two}${sections}`)).toEqual([expect.stringContaining(line)]);
    const { config } = await load(`${two}accounts: [one, lib]\ndiscovery: { kinds: all }`);
    expect(section(config, 'application').accounts).toEqual(['one', 'lib']);
  });

  test('of the accounts are those that sections and targets of other APIs name, in the order of the credentials', async () => {
    const { config } = await load(
      `${abc}applications: { targets: [{ id: x, credential: b }] }
video_storage: { targets: all, credential: c }
shield_zones: { targets: all, credential: a }
rate_limits: { targets: all }`,
    );
    expect(config.accounts).toEqual(['a', 'b']);
    expect(config.sections.map(({ kind, accounts }) => [kind, accounts])).toEqual([
      ['application', []],
      ['shield_zone', ['a']],
      ['rate_limit', ['a', 'b']],
      ['video_storage', ['a', 'b']],
    ]);
  });

  test('of a section may be some of the accounts', async () => {
    const { config } = await load(
      `${abc}accounts: [a, b, c]\nshield_zones: { targets: all, credential: [a, c] }\nbilling: { targets: all }`,
    );
    expect(section(config, 'shield_zone').accounts).toEqual(['a', 'c']);
    expect(section(config, 'billing').accounts).toEqual(['a', 'b', 'c']);
  });

  test.each([
    [
      'accounts: [a, b]\ndiscovery: { kinds: all }',
      '1: credentials.c: expected a section, a target or `accounts` to use it; remove it otherwise',
    ],
    [
      'accounts: [a, b, a, c]\ndiscovery: { kinds: all }',
      '2: accounts[2]: expected each credential once; a is there twice',
    ],
    [
      'accounts: [a, b, c, d]\ndiscovery: { kinds: all }',
      '2: accounts[3]: expected a credential that is defined: a, b or c (did you mean a?)',
    ],
    [
      'accounts: [a, b]\ndiscovery: { kinds: all }\nshield_zones: { targets: all, credential: c }',
      '4: shield_zones.credential: expected one of the accounts (a, b), or c among them',
    ],
    [
      'accounts: [a, b, c]\nshield_zones: { targets: [7], credential: [a, b] }\nbilling: { targets: all }',
      '3: shield_zones.credential: expected one credential; the targets are a list, and each can name its own',
    ],
    [
      'accounts: [a, b, c]\nbilling: { targets: all }\napplications: { targets: [x] }',
      '4: applications.credential: expected the name of one of the 3 credentials (a, b, c), unless every target names its own',
    ],
  ])('that cannot be meant is an error with its line: %s', async (text, problem) => {
    expect(await problemsOf(`${abc}${text}`)).toEqual([`config.yml:${problem}`]);
  });

  test("of the account opens no library, so targets that are named need the library's", async () => {
    const named = 'video_storage: { targets: [1/0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f] }';
    expect((await videos(`${account}${named}`)).targets).toMatchObject([{ credential: 'account' }]);
    expect(await problemsOf(`${account}${named}\napplications: { targets: all }`)).toEqual([
      "config.yml:2: video_storage.credential: expected the name of the key of the library (that of account is an account's, which opens none), unless every target names its own",
    ]);
  });

  test("of listed videos is not taken for the account's", async () => {
    const guid = '0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f';
    const { config } = await load(
      `${two}discovery: { kinds: all }\nvideo_storage: { targets: [{ library_id: 1, video_id: ${guid}, credential: lib }] }`,
      env,
    );
    expect(section(config, 'application').accounts).toEqual(['one']);
  });
});
