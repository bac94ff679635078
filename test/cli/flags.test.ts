import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flagRows, flagVariables, helpText, parseFlags, UsageError } from '../../src/cli/flags.ts';
import { runs } from '../runs.ts';

function problemsOf(argv: readonly string[], env: Record<string, string> = {}): readonly string[] {
  try {
    parseFlags(argv, env);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.message.split('\n');
  }
}

test('without flags the defaults apply', () => {
  expect(parseFlags([], {})).toEqual({
    configFile: undefined,
    configCheck: false,
    once: false,
    onceKinds: undefined,
    report: false,
    backfill: undefined,
    backfillUntil: undefined,
    backfillStep: 300_000,
    backfillLabels: undefined,
    demo: false,
    demoScale: 'small',
    demoAccounts: 1,
    demoOutage: false,
    listenAddresses: [{ host: undefined, port: 10_057 }],
    telemetryPath: '/metrics',
    webConfigFile: undefined,
    enableLifecycle: false,
    logLevel: 'info',
    logFormat: undefined,
    version: false,
    help: false,
  });
});

describe('a flag', () => {
  test.each<[string[], object]>([
    [['--config.file=a.yml'], { configFile: 'a.yml' }],
    [['--config.file', 'a.yml'], { configFile: 'a.yml' }],
    [['--config.check', '--config.file=a=b.yml'], { configCheck: true, configFile: 'a=b.yml' }],
    [['--once'], { once: true }],
    [['--once=false'], { once: false }],
    [
      ['--once', '--once.kind=billing,exporter', '--once.kind', 'dns_zone'],
      { once: true, onceKinds: ['billing', 'exporter', 'dns_zone'] },
    ],
    [
      ['--backfill=30d', '--backfill.until=2026-11-02T14:00:00+01:00', '--backfill.step=15m'],
      { backfill: 2_592_000_000, backfillUntil: Date.UTC(2026, 10, 2, 13), backfillStep: 900_000 },
    ],
    [
      [
        '--backfill=1d',
        '--backfill.label=job=a,b=c',
        '--backfill.label',
        'instance=c=d:1',
        '--once.kind=dns_zone',
      ],
      {
        backfillLabels: [
          ['job', 'a,b=c'],
          ['instance', 'c=d:1'],
        ],
        onceKinds: ['dns_zone'],
      },
    ],
    [['--demo', '--demo.scale=full', '--demo.outage'], { demo: true, demoScale: 'full', demoOutage: true }],
    [['--demo', '--demo.accounts=2'], { demoAccounts: 2 }],
    [
      ['--web.listen-address=[::1]:9000', '--web.listen-address=localhost:0', '--web.listen-address', ':80'],
      {
        listenAddresses: [
          { host: '::1', port: 9000 },
          { host: 'localhost', port: 0 },
          { host: undefined, port: 80 },
        ],
      },
    ],
    [['--web.listen-address=[fe80::1%eth0]:1'], { listenAddresses: [{ host: 'fe80::1%eth0', port: 1 }] }],
    [['--web.telemetry-path=/a/b-c'], { telemetryPath: '/a/b-c' }],
    [
      ['--web.config.file=web.yml', '--web.enable-lifecycle'],
      { webConfigFile: 'web.yml', enableLifecycle: true },
    ],
    [['--log.level=warn', '--log.format=pretty'], { logLevel: 'warn', logFormat: 'pretty' }],
    [['--version'], { version: true }],
    [['-h'], { help: true }],
  ])('%j is read', (argv, expected) => {
    expect(parseFlags(argv, {})).toMatchObject(expected);
  });

  test.each([
    [['--config.fil=a.yml'], 'unknown flag "--config.fil" (did you mean --config.file?)'],
    [['-config.file=a'], 'unknown flag "-config.file" (did you mean --config.file?)'],
    [['--access-key=secret'], 'unknown flag "--access-key"'],
    [['config.yml'], 'unexpected argument "config.yml": every setting is a flag, such as --config.file=PATH'],
    [['--config.file'], '--config.file: expected a value: --config.file=PATH'],
    [['--config.file', '--once'], '--config.file: expected a value: --config.file=PATH'],
    [['--config.file='], '--config.file: expected a path; got ""'],
    [['--config.file=a', '--config.file=b'], '--config.file: expected once; it is given several times'],
    [['--once=maybe'], '--once: expected true or false; got "maybe"'],
    [['--log.level=warning'], '--log.level: expected trace, debug, info, warn or error; got "warning"'],
    [['--log.format=text'], '--log.format: expected json or pretty; got "text"'],
    [['--demo', '--demo.accounts=6'], '--demo.accounts: expected a number from 1 to 5; got "6"'],
    [['--demo', '--demo.scale=huge'], '--demo.scale: expected small, medium or full; got "huge"'],
    [
      ['--web.telemetry-path=metrics'],
      '--web.telemetry-path: expected a path that begins with / and is no other page, such as /metrics; got "metrics"',
    ],
    [
      ['--web.telemetry-path=/-/ready'],
      '--web.telemetry-path: expected a path that begins with / and is no other page, such as /metrics; got "/-/ready"',
    ],
    ...['10057', '::1:9000', 'a:b', ':65536', 'http://a:1', '[::1]', 'a b:1'].map(
      (address): [string[], string] => [
        [`--web.listen-address=${address}`],
        `--web.listen-address: expected host:port, such as :10057, 127.0.0.1:10057 or [::1]:10057; got "${address}"`,
      ],
    ),
    [['--demo', '--config.file=a'], '--demo and --config.file cannot be used together; leave one out'],
    [['--demo', '--config.check'], '--demo and --config.check cannot be used together; leave one out'],
    [['--demo.outage'], '--demo.outage works only with --demo'],
    [['--once.kind=billing'], '--once.kind works only with --once or --backfill'],
    [['--backfill=30'], '--backfill: expected a duration from 1h to 400d, such as 30d; got "30"'],
    [['--backfill.step=5m'], '--backfill.step works only with --backfill'],
    [
      ['--backfill=1d', '--backfill.step=7m'],
      '--backfill.step: expected a duration of at least 1s that divides an hour, such as 1m, 5m or 1h; got "7m"',
    ],
    ...[
      '2026-11-02',
      '2026-11-02T14:00:00',
      '2026-02-30T00:00:00Z',
      '2026-04-31T00:00:00+02:00',
      '2999-01-01T00:00:00Z',
    ].map((time): [string[], string] => [
      ['--backfill=1d', `--backfill.until=${time}`],
      `--backfill.until: expected a time that is not in the future, in RFC 3339, such as 2026-11-02T14:00:00Z; got "${time}"`,
    ]),
    ...['job', '1job=a', '__name__=a', 'job='].map((label): [string[], string] => [
      ['--backfill=1d', `--backfill.label=${label}`],
      `--backfill.label: expected NAME=VALUE with a name of letters, digits and underscores, such as job=bunnynet-exporter; got "${label}"`,
    ]),
    [
      ['--once', '--once.kind=billing,storge'],
      '--once.kind: expected one such as storage_zone, dns_zone or exporter; got "storge"',
    ],
    [['--once', '--config.check'], '--once and --config.check cannot be used together; leave one out'],
  ])('%j is refused', (argv, problem) => {
    expect(problemsOf(argv)).toEqual([problem]);
  });

  test('all mistakes are reported at once', () => {
    expect(problemsOf(['--onc', '--log.format=x', 'y'], { BUNNYNET_LOG_LEVEL: 'loud' })).toEqual([
      'unknown flag "--onc" (did you mean --once?)',
      'unexpected argument "y": every setting is a flag, such as --config.file=PATH',
      'BUNNYNET_LOG_LEVEL: expected trace, debug, info, warn or error; got "loud"',
      '--log.format: expected json or pretty; got "x"',
    ]);
  });

  test('help and version work whatever else is wrong', () => {
    expect(parseFlags(['--help', '--nonsense'], {}).help).toBe(true);
    expect(parseFlags(['--version', '--log.format=x'], {}).version).toBe(true);
  });
});

describe('the environment', () => {
  test.each<[Record<string, string>, object]>([
    [{ BUNNYNET_CONFIG_FILE: 'a.yml' }, { configFile: 'a.yml' }],
    [{ BUNNYNET_CONFIG_FILE: '' }, { configFile: undefined }],
    [{ BUNNYNET_ONCE: 'true' }, { once: true }],
    [{ BUNNYNET_ONCE: 'false' }, { once: false }],
    [{ BUNNYNET_ONCE: '0' }, { once: false }],
    [
      { BUNNYNET_WEB_LISTEN_ADDRESS: ':1, [::1]:2' },
      {
        listenAddresses: [
          { host: undefined, port: 1 },
          { host: '::1', port: 2 },
        ],
      },
    ],
    [
      { BUNNYNET_ONCE: 'true', BUNNYNET_ONCE_KIND: 'billing, exporter' },
      { onceKinds: ['billing', 'exporter'] },
    ],
    [
      { BUNNYNET_BACKFILL: '1d', BUNNYNET_BACKFILL_LABEL: 'job=a,b=c\ninstance=d' },
      {
        backfillLabels: [
          ['job', 'a,b=c'],
          ['instance', 'd'],
        ],
      },
    ],
    [{ BUNNYNET_DEMO_SCALE: 'full' }, { demo: false, demoScale: 'full' }],
  ])('%j is read', (env, expected) => {
    expect(parseFlags([], env)).toMatchObject(expected);
  });

  test.each([
    [{ BUNNYNET_ONCE: 'maybe' }, 'BUNNYNET_ONCE: expected true or false; got "maybe"'],
    [
      { BUNNYNET_WEB_LISTEN_ADDRESS: ':1,' },
      'BUNNYNET_WEB_LISTEN_ADDRESS: expected host:port, such as :10057, 127.0.0.1:10057 or [::1]:10057; got ""',
    ],
    [
      { BUNNYNET_DEMO: '1', BUNNYNET_CONFIG_FILE: 'a' },
      'BUNNYNET_DEMO and BUNNYNET_CONFIG_FILE cannot be used together; leave one out',
    ],
  ])('%j is refused', (env, problem) => {
    expect(problemsOf([], env)).toEqual([problem]);
  });

  test('yields to a flag, even if the two exclude each other', () => {
    expect(parseFlags(['--log.level=debug'], { BUNNYNET_LOG_LEVEL: 'loud' }).logLevel).toBe('debug');
    expect(parseFlags(['--once=false'], { BUNNYNET_ONCE: '1' }).once).toBe(false);
    expect(parseFlags(['--demo'], { BUNNYNET_CONFIG_FILE: 'a' })).toMatchObject({
      demo: true,
      configFile: undefined,
    });
    expect(parseFlags(['--config.file=a'], { BUNNYNET_DEMO: '1' })).toMatchObject({
      demo: false,
      configFile: 'a',
    });
    expect(parseFlags(['--config.check'], { BUNNYNET_ONCE: '1' })).toMatchObject({
      configCheck: true,
      once: false,
    });
  });
});

test('the help says how to give the key', () => {
  for (const word of ['BUNNYNET_ACCESS_KEY,', 'BUNNYNET_ACCESS_KEY_FILE', 'configuration file', '--demo'])
    expect(helpText().split('\nFlags')[0]).toContain(word);
});

test('the help names every flag, its variable and its default', () => {
  const help = helpText();
  for (const { usage, variable, default: preset, help: text } of flagRows) {
    expect(help).toContain(`  ${usage} `);
    expect(help).toContain(text);
    expect(help).toContain(preset === undefined ? `[$${variable}]` : `[$${variable}, default ${preset}]`);
  }
});

test('no command line crashes it', () => {
  const word = fc.oneof(
    fc.constantFrom(
      ...flagRows.map(({ usage }) => usage.split('=')[0] ?? ''),
      '--',
      '-',
      '--demo=false',
      '-h',
      '--log.format=',
      '__proto__',
      '--__proto__=x',
    ),
    fc.string(),
    fc
      .tuple(fc.constantFrom('--log.format=', '--web.listen-address=', '--demo.scale=', '--'), fc.string())
      .map(([a, b]) => a + b),
  );
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 6 }),
      fc.dictionary(fc.constantFrom(...flagVariables), fc.string()),
      (argv, env) => {
        expect(Array.isArray(problemsOf(argv, env))).toBe(true);
      },
    ),
    { numRuns: runs(150, 20_000) },
  );
});
