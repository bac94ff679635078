import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Plain, SectionConfig } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { runs } from '../runs.ts';
import { account, fewKinds, linesOf, load, problemsOf } from './fixtures.ts';

const applications = 'applications: { targets: [a] }\n';

describe('what a configuration becomes', () => {
  test.each([
    ['nothing said: three of its own intervals', '', '{ id: a, interval: 30s }', 30_000, 90_000],
    ['set in the section', 'stale_after: 5m', '{ id: a, interval: 30s }', 30_000, 300_000],
    ['set in the target', 'stale_after: 5m', '{ id: a, stale_after: 2m }', 60_000, 120_000],
    ['with an interval of the section', 'interval: 2m', 'a', 120_000, 360_000],
    ['as short as allowed', 'interval: 2m', '{ id: a, stale_after: 3m }', 120_000, 180_000],
  ])('staleness, %s', async (_, head, target, intervalMs, staleAfterMs) => {
    const { config } = await load(`${account}applications:\n  targets: [${target}]\n  ${head}\n`);
    expect(targetsOf(config.sections[0])).toMatchObject([{ intervalMs, staleAfterMs }]);
  });

  test('ids keep their digits, GUIDs become lower case, and powers of ten from a template engine are read', async () => {
    const { config } =
      await load(`credentials: { account: { env: BUNNYNET_ACCESS_KEY }, lib: { env: BUNNYNET_VIDEO_ACCESS_KEY } }
applications: { credential: account, targets: [0123, 1e5, 1.50, true, 18446744073709551616] }
shield_zones: { targets: [18446744073709551615, 1e+06, 1.234567e+06, "501"] }
api_guardian: { targets: [501/77, { shield_zone_id: 501, endpoint_id: 78, name: POST /checkout }] }
video_storage: { credential: lib, targets: [4711/0F8C3F9E-1B2A-4C3D-8E4F-5A6B7C8D9E0F] }
`);
    expect(
      config.sections.map((section) => targetsOf(section).map(({ ids }) => Object.values(ids).join('/'))),
    ).toEqual([
      ['0123', '1e5', '1.50', 'true', '18446744073709551616'],
      ['18446744073709551615', '1000000', '1234567', '501'],
      ['501/77', '501/78'],
      ['4711/0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f'],
    ]);
  });

  test('the settings of the APIs', async () => {
    const { config } = await load(`${account}${applications}
apis:
  application: { base_url: https://proxy.example.com/mc//, timeout: 1m, max_concurrency: 1e+02, requests_per_second: 0.1 }
  shield: { base_url: HTTP://LocalHost:8080, max_retries: 0, max_response_bytes: 512KiB }
  video: { base_url: http://video.example.com, allow_insecure_http: yes, max_response_bytes: 1e+06 }
`);
    expect(config.apis).toMatchObject({
      application: {
        baseUrl: 'https://proxy.example.com/mc',
        timeoutMs: 60_000,
        maxConcurrency: 100,
        requestsPerSecond: 0.1,
      },
      shield: { baseUrl: 'http://localhost:8080', maxRetries: 0, maxResponseBytes: 524_288 },
      video: { baseUrl: 'http://video.example.com', maxResponseBytes: 1_000_000 },
    });
  });
});

const duration = 'expected a duration of at least 1s, such as 30s or 1h30m';
const opaque = 'expected an id of 1 to 128 characters A-Z a-z 0-9 . _ -';
const whole = 'expected an id that is a whole number of at most 64 bits, without leading zeros';
const url =
  'expected an http or https address without user name, query and fragment, such as https://api.example.com/path';
const size = 'expected a size from 1KiB to 256MiB, such as 512KiB or 8MiB';

describe('a problem is reported with file, line, path and what was expected', () => {
  test.each([
    // durations
    ['applications: { interval: 999ms, targets: [a] }', `2: applications.interval: ${duration}; got "999ms"`],
    ['applications: { interval: , targets: [a] }', `2: applications.interval: ${duration}; got nothing`],
    [
      'applications: { interval: 30d, targets: [a] }',
      '2: applications.interval: expected a duration of at most 1w; got "30d"',
    ],
    [
      'applications: { interval: 2m, stale_after: 1m, targets: [a] }',
      '2: applications.stale_after: expected at least 3m, 1.5 times the interval, or values leave between two polls; got 1m',
    ],
    [
      'applications: { stale_after: 2m, targets: [{ id: a, interval: 5m }] }',
      '2: applications.targets[0].stale_after: expected at least 7m30s, 1.5 times the interval, or values leave between two polls; got 2m',
    ],
    // ids
    ['applications: { targets: [a/b] }', `2: applications.targets[0].id: ${opaque}; got "a/b"`],
    [
      'applications:\n  targets:\n    - a\n    -',
      '5: applications.targets[1]: expected an id or { id: … }; got nothing',
    ],
    ['applications: { targets: [{ name: x }] }', `2: applications.targets[0].id: ${opaque}; it is missing`],
    ['shield_zones: { targets: [0] }', `2: shield_zones.targets[0].id: ${whole}; got "0"`],
    ['shield_zones: { targets: [-1] }', `2: shield_zones.targets[0].id: ${whole}; got "-1"`],
    [
      'shield_zones: { targets: [1.2345678901234567e+18] }',
      `2: shield_zones.targets[0].id: ${whole}; got "1.2345678901234567e+18"`,
    ],
    [
      'shield_zones: { targets: [18446744073709551616] }',
      `2: shield_zones.targets[0].id: ${whole}; got "18446744073709551616"`,
    ],
    [
      'video_storage: { targets: [4711/abc] }',
      '2: video_storage.targets[0].video_id: expected an id such as 0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f; got "abc"',
    ],
    [
      'api_guardian: { targets: [501] }',
      '2: api_guardian.targets[0]: expected shield_zone_id/endpoint_id or { shield_zone_id: …, endpoint_id: … }; got "501"',
    ],
    [
      'applications: { targets: [{ id: a, name: "" }] }',
      '2: applications.targets[0].name: expected a name of 1 to 200 characters on one line; got ""',
    ],
    // lists
    [
      'applications: { targets: every }',
      '2: applications.targets: expected all, or a list of ids or { id: … }; got "every"',
    ],
    ['applications:', '2: applications: expected a mapping with `targets`; got nothing'],
    [
      'applications:\n  targets:\n    - a\n    - { id: a }',
      '5: applications.targets[1]: expected each target once; "a" is already on line 4',
    ],
    [
      'applications: { targets: [a] }\napis: { video: { "a\\n": 1 } }',
      '3: apis.video["a\\n"]: unknown setting; expected one such as ca_file, base_url or timeout',
    ],
    // settings of one resource
    [
      'applications: { targets: [a], latency_unit: second }',
      '2: applications.latency_unit: expected milliseconds or seconds; got "second" (did you mean seconds?)',
    ],
    // numbers
    [`${applications}discovery:`, '3: discovery: expected a mapping; got nothing'],
    [
      `${applications}apis: { video: { max_retries: 1.5 } }`,
      '3: apis.video.max_retries: expected a whole number from 0 to 10; got "1.5"',
    ],
    [
      `${applications}apis: { video: { requests_per_second: 0 } }`,
      '3: apis.video.requests_per_second: expected a number from 0.1 to 10000; got "0"',
    ],
    [
      `${applications}apis: { video: { max_response_bytes: 1GiB } }`,
      `3: apis.video.max_response_bytes: ${size}; got "1GiB"`,
    ],
    [
      `${applications}apis: { video: { allow_insecure_http: maybe } }`,
      '3: apis.video.allow_insecure_http: expected true or false; got "maybe"',
    ],
    // addresses
    [`${applications}apis: { video: { base_url: video.bunnycdn.com } }`, `3: apis.video.base_url: ${url}`],
    // credentials
    [
      'applications: { credential: acount, targets: [a] }',
      '2: applications.credential: expected a credential that is defined: account',
    ],
    [
      'applications: { targets: [{ id: a, credential: zzz }] }',
      '2: applications.targets[0].credential: expected a credential that is defined: account',
    ],
  ])('%s', async (text, problem) => {
    expect(await problemsOf(`${account}${text}\n`)).toEqual([`config.yml:${problem}`]);
  });

  test.each([
    ['', 'config.yml:1: expected a mapping of settings; got nothing'],
    ['- a', 'config.yml:1: expected a mapping of settings; got a list'],
    [
      Buffer.from([0x61, 0x3a, 0x20, 0xff]),
      'config.yml: expected text in UTF-8; save the file in this encoding',
    ],
    [Buffer.from('a: 1', 'utf16le'), 'config.yml: expected text in UTF-8; save the file in this encoding'],
    [
      '#'.repeat(10 * 2 ** 20 + 1),
      'config.yml: expected a configuration file of at most 10MiB; it is larger',
    ],
    [
      applications,
      'config.yml:1: credentials: expected at least one, such as `account: { env: BUNNYNET_ACCESS_KEY }`; it is missing',
    ],
    [
      `credentials: {}\n${applications}`,
      'config.yml:1: credentials: expected at least one, such as `account: { env: BUNNYNET_ACCESS_KEY }`; it is empty',
    ],
    [
      account,
      `config.yml:1: expected \`discovery: { kinds: all }\`, or a section that says what to poll, such as ${fewKinds
        .slice(0, 3)
        .map(({ section }) => section)
        .join(', ')
        .replace(/, (?=\w+$)/, ' or ')}`,
    ],
    [
      `credentials: { "a b": { env: BUNNYNET_ACCESS_KEY } }\n${applications}`,
      'config.yml:1: credentials["a b"]: expected a name of 1 to 64 characters A-Z a-z 0-9 . _ - that begins with a letter or digit',
    ],
    [
      'credentials: { a: { env: BUNNYNET_ACCESS_KEY }, b: { env: BUNNYNET_ACCESS_KEY } }\naccounts: [a, b]\napplications: { targets: [x, { id: y, credential: b }, z] }',
      'config.yml:3: applications.credential: expected the name of one of the 2 credentials (a, b), unless every target names its own',
    ],
  ])('document %#', async (text, problem) => {
    expect(await problemsOf(text)).toEqual([problem]);
  });

  test('all mistakes of form are reported at once, in the order of the file', async () => {
    const problems = await problemsOf(`
credentials:
  account: { env: BUNNYNET_ACCESS_KEY }
  other: { env: NOT_SET }
applications:
  interval: abc
  targets: [a, a, "b c", { id: d, nam: x, interval: 1 }]
  latency_unit: s
shield_zones: { targets: some }
shield_zones: {}
video_storage:
  targets: [1/2]
apis: { video: { max_concurrency: 0 } }
extra: 1
`);
    expect(problems.map((problem) => /^config\.yml:(\d+: [^:]+):/.exec(problem)?.[1])).toEqual([
      '6: applications.interval',
      '7: applications.targets[2].id',
      '7: applications.targets[3].nam',
      '7: applications.targets[3].interval',
      '8: applications.latency_unit',
      '9: shield_zones.targets',
      '10: shield_zones',
      '12: video_storage.targets[0].video_id',
      '13: apis.video.max_concurrency',
      '14: extra',
    ]);
  });

  test('where the form is right, all mistakes of meaning are reported at once', async () => {
    const problems = await problemsOf(`
credentials:
  account: { env: BUNNYNET_ACCESS_KEY }
  other: { env: NOT_SET }
apis: { core: { base_url: "http://example.com", ca_file: /none.pem } }
applications:
  credential: acount
  targets: [a, a, { id: b, interval: 1h, stale_after: 1h }]
  include: x
shield_zones: { targets: all }
billing: { credential: x, interval: 1h, stale_after: 1h, targets: all }
`);
    expect(problems.map((problem) => /^config\.yml:(\d+: [^:]+):/.exec(problem)?.[1])).toEqual([
      '2: accounts',
      '4: credentials.other',
      '5: apis.core.base_url',
      '5: apis.core.ca_file',
      '7: applications.credential',
      '8: applications.targets[1]',
      '8: applications.targets[2].stale_after',
      '9: applications.include',
      '11: billing.credential',
      '11: billing.stale_after',
    ]);
  });

  test('more than a hundred problems are counted, not all listed', async () => {
    const targets = Array.from({ length: 110 }, (_, i) => `{ id: a${i}, x: 1 }`).join();
    const problems = await problemsOf(`${account}applications: { targets: [${targets}] }`);
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe('… and 10 more');
  });
});

/** As many as the largest configurations have. */
const manyTargets = runs(100, 50_000);

test(`${manyTargets} targets load`, async () => {
  const targets = Array.from(
    { length: manyTargets },
    (_, i) => `    - { id: app${i}, name: "shop ${i}", interval: 30s }`,
  );
  const { config } = await load(`${account}applications:\n  targets:\n${targets.join('\n')}\n`);
  expect(targetsOf(config.sections[0])).toHaveLength(manyTargets);
});

describe('any file', () => {
  const scalar = fc.oneof(
    fc.constantFrom(
      'all',
      'application',
      'a(',
      '(a|b)+',
      '30s',
      'account',
      'a',
      '501',
      '1e9',
      '',
      'null',
      '~',
      'https://x',
      '-1',
      '1/2',
    ),
    fc.string(),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom(
          'targets',
          'interval',
          'credential',
          'id',
          'env',
          'file',
          'name',
          'base_url',
          'application',
          'include',
          'exclude',
          'parents',
          'overrides',
          'kinds',
          'except',
          'stale_after',
          'shield_zone_id',
          'endpoint_id',
          'x',
          '__proto__',
        ),
        tie('value'),
        { maxKeys: 4 },
      ),
    ),
  }));
  const sections = fc.constantFrom(
    'credentials',
    'apis',
    'limits',
    'discovery',
    ...fewKinds.map(({ section }) => section),
  );

  async function loadsOrSaysWhy(text: string): Promise<void> {
    const outcome = await load(text).then(
      ({ config }) => config.sections.length > 0,
      (error: unknown) => error instanceof ConfigError && error.problems.length > 0,
    );
    expect(outcome).toBe(true);
  }

  test('with random settings loads or says why not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(sections, value), async (document) => {
        await loadsOrSaysWhy(
          JSON.stringify({ credentials: { account: { env: 'BUNNYNET_ACCESS_KEY' } }, ...document }),
        );
      }),
      { numRuns: runs(10, 2_000) },
    );
  });
});

function targetsOf(section: SectionConfig | undefined) {
  if (section === undefined || section.targets === 'all') throw new Error('expected a list of targets');
  return section.targets;
}

test('plain data has all its problems reported at once, by their paths', async () => {
  const of = (rateLimits: Plain, more: Readonly<Record<string, Plain>> = {}) => {
    const document = {
      credentials: { account: { env: 'KEY' } },
      applications: { latency_chart: 'off', targets: ['a', { id: 'b', name: undefined }] },
      rate_limits: rateLimits,
      ...more,
    };
    return linesOf(loadConfig({ document, env: {}, resources: fewKinds }));
  };
  expect(await of({ interval: 5, targets: [501, true, 501] }, { extra: null })).toEqual([
    expect.stringMatching(/^extra: unknown setting; expected one such as \w+, \w+ or \w+$/),
    `rate_limits.interval: ${duration}; got "5"`,
    `rate_limits.targets[1].id: ${whole}; got "true"`,
  ]);
  expect(await of({ targets: [1, 1] })).toEqual([
    'credentials.account: expected the key in the environment variable KEY, which is not set',
    'rate_limits.targets[1]: expected each target once; "1" is already at rate_limits.targets[0]',
  ]);
});

test('a file of authorities that is not there is told from one without certificates', async () => {
  const apis = (file: string) => `apis: { core: { ca_file: ${file} } }\n`;
  const of = (file: string) => linesOf(load(`${account}${apis(file)}applications: { targets: [a] }`));
  expect(await of('/none.pem')).toEqual([
    expect.stringContaining('apis.core.ca_file: expected PEM certificates in /none.pem; there is none'),
  ]);
  expect(await of('/dev/null')).toEqual([
    expect.stringContaining('apis.core.ca_file: expected PEM certificates in /dev/null; it holds none'),
  ]);
});
