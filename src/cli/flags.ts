/**
 * The flags of the command as one table, and how they are read from the command line and the environment. Pure: it
 * neither prints nor exits.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { didYouMean, oneOf, quote } from '../text.ts';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export const logFormats = ['json', 'pretty'] as const;
export const demoScales = ['small', 'medium', 'full'] as const;

export interface ListenAddress {
  /** Undefined: every address of the machine. */
  readonly host: string | undefined;
  /** 0: any free one. */
  readonly port: number;
}

export interface Shard {
  readonly index: number;
  readonly count: number;
}

export interface Flags {
  readonly configFile: string | undefined;
  readonly configCheck: boolean;
  readonly once: boolean;
  readonly demo: boolean;
  readonly demoScale: (typeof demoScales)[number];
  /** Play the scripted outage. */
  readonly demoOutage: boolean;
  readonly demoSeed: number;
  readonly listenAddresses: readonly ListenAddress[];
  readonly telemetryPath: string;
  readonly webConfigFile: string | undefined;
  readonly enableLifecycle: boolean;
  readonly shard: Shard | undefined;
  readonly logLevel: (typeof logLevels)[number];
  readonly logFormat: (typeof logFormats)[number];
  readonly version: boolean;
  readonly help: boolean;
}

/** The command was called wrongly: what to print on stderr before exiting with 2. One line for each mistake. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Reads a flag's text, or throws what was expected of it. */
type Reader<T> = (text: string) => T;

interface FlagDeclaration<T = unknown> {
  readonly name: string;
  /** What stands for the value in the help; undefined for a switch. */
  readonly placeholder?: string;
  /** As the user would write it. */
  readonly default?: string;
  /** May be given several times; in the environment separated by commas. */
  readonly repeatable?: true;
  readonly help: string;
  readonly read: Reader<T>;
}

class Unfit extends Error {}

function unfit(expected: string): never {
  throw new Unfit(expected);
}

function flag<T>(declaration: FlagDeclaration<T>): FlagDeclaration<T> {
  return declaration;
}

const toggle: Reader<boolean> = (text) => z.stringbool().safeParse(text).data ?? unfit('true or false');

const path: Reader<string | undefined> = (text) => (text === '' ? unfit('a path') : text);

function choice<const T extends string>(values: readonly T[]): Reader<T> {
  return (text) => values.find((value) => value === text) ?? unfit(oneOf(values));
}

const seed: Reader<number> = (text) => {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return number < 2 ** 32 ? number : unfit('a whole number from 0 to 4294967295');
};

const shard: Reader<Shard | undefined> = (text) => {
  const [, i, n] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const index = Number(i);
  const count = Number(n);
  return index < count ? { index, count } : unfit('I/N with 0 ≤ I < N, such as 0/3');
};

const listenAddress: Reader<ListenAddress> = (text) => {
  const expected = 'host:port, such as :10057, 127.0.0.1:10057 or [::1]:10057';
  const [, bracketed, plain, digits] =
    /^(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([^\s:/@[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) unfit(expected);
  const host = bracketed ?? plain;
  return { host: host === '' ? undefined : host, port };
};

const otherPages = ['/', '/config', '/-/healthy', '/-/ready', '/-/reload', '/api/v1/targets'];

const telemetryPath: Reader<string> = (text) => {
  if (!/^(?:\/[A-Za-z0-9._~-]+)+$/.test(text) || /\/\.{1,2}(?:\/|$)/.test(text)) {
    unfit('a path such as /metrics');
  }
  return otherPages.includes(text) ? unfit('a path that is no other page') : text;
};

const table = {
  configFile: flag({
    name: 'config.file',
    placeholder: 'PATH',
    help: 'The configuration file. Without it the settings of the environment count.',
    read: path,
  }),
  configCheck: flag({
    name: 'config.check',
    help: 'Check the configuration and the keys, print a summary and exit: 0 when all is well, else 1. Calls nothing.',
    read: toggle,
  }),
  once: flag({
    name: 'once',
    help: 'Poll every target once, print the page on stdout and exit: 0 when every poll succeeded, else 2.',
    read: toggle,
  }),
  demo: flag({
    name: 'demo',
    help: 'Export from a simulator of the API on loopback: no account needed.',
    read: toggle,
  }),
  demoScale: flag({
    name: 'demo.scale',
    placeholder: 'SCALE',
    default: 'small',
    help: `How many targets the simulator has: ${oneOf(demoScales)} (about 600, 60,000 or 600,000 series).`,
    read: choice(demoScales),
  }),
  demoOutage: flag({ name: 'demo.outage', help: 'Let the simulator play a scripted outage.', read: toggle }),
  demoSeed: flag({
    name: 'demo.seed',
    placeholder: 'NUMBER',
    default: '1',
    help: 'The seed of the values that the simulator makes up.',
    read: seed,
  }),
  listenAddresses: flag({
    name: 'web.listen-address',
    placeholder: 'HOST:PORT',
    default: ':10057',
    repeatable: true,
    help: 'Where the pages are served. May be given several times.',
    read: listenAddress,
  }),
  telemetryPath: flag({
    name: 'web.telemetry-path',
    placeholder: 'PATH',
    default: '/metrics',
    help: 'The path of the metrics.',
    read: telemetryPath,
  }),
  webConfigFile: flag({
    name: 'web.config.file',
    placeholder: 'PATH',
    help: "TLS and basic auth, in the format of Prometheus' exporter-toolkit.",
    read: path,
  }),
  enableLifecycle: flag({ name: 'web.enable-lifecycle', help: 'Allow POST /-/reload.', read: toggle }),
  shard: flag({
    name: 'shard',
    placeholder: 'I/N',
    help: 'Poll only the targets of shard I of N (0 ≤ I < N).',
    read: shard,
  }),
  logLevel: flag({
    name: 'log.level',
    placeholder: 'LEVEL',
    default: 'info',
    help: `The least severe that is logged: ${oneOf(logLevels)}.`,
    read: choice(logLevels),
  }),
  logFormat: flag({
    name: 'log.format',
    placeholder: 'FORMAT',
    default: 'json',
    help: `How logs are written on stderr: ${oneOf(logFormats)}.`,
    read: choice(logFormats),
  }),
  version: flag({ name: 'version', help: 'Print the version and exit.', read: toggle }),
  help: flag({ name: 'help', help: 'Print this text and exit.', read: toggle }),
};

export interface FlagRow {
  /** `--shard=I/N` */
  readonly usage: string;
  readonly variable: string;
  readonly default: string | undefined;
  readonly help: string;
}

/** The table of the flags, for the help and for the documentation. */
export const flagRows: readonly FlagRow[] = Object.values(table).map((row: FlagDeclaration) => ({
  usage: `--${row.name}${row.placeholder === undefined ? '' : `=${row.placeholder}`}`,
  variable: variableOf(row.name),
  default: row.default,
  help: row.help,
}));

/** The environment variables of all flags. */
export const flagVariables: readonly string[] = flagRows.map(({ variable }) => variable);

function variableOf(name: string): string {
  return `BUNNYNET_${name.toUpperCase().replace(/[.-]/g, '_')}`;
}

/** What `--help` prints. */
export function helpText(): string {
  const width = Math.max(...flagRows.map(({ usage }) => usage.length)) + 2;
  const rows = flagRows.map(({ usage, variable, default: preset, help }) => {
    const note = preset === undefined ? `[$${variable}]` : `[$${variable}, default ${preset}]`;
    return `  ${usage.padEnd(width)}${help}\n  ${' '.repeat(width)}${note}`;
  });
  return `Usage: bunnynet-exporter [flags]

Exports bunny.net's Magic Containers, Shield and Stream storage to Prometheus.

Flags (each has an environment variable; a flag wins):
${rows.join('\n')}
`;
}

interface Given {
  readonly texts: readonly string[];
  readonly from: 'flag' | 'environment';
}
type FlagKey = keyof typeof table;

/** Reads the flags (`argv` without node and script). Throws a `UsageError` with every mistake. */
export function parseFlags(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Flags {
  const problems: string[] = [];
  const given = new Map<FlagKey, Given>();
  for (const [key, texts] of fromArguments(argv, problems)) given.set(key, { texts, from: 'flag' });
  for (const [key, row] of Object.entries(table) as [FlagKey, FlagDeclaration][]) {
    const text = env[variableOf(row.name)]?.trim() ?? '';
    if (given.has(key) || text === '') continue;
    const texts = row.repeatable === true ? text.split(',').map((part) => part.trim()) : [text];
    given.set(key, { texts, from: 'environment' });
  }
  const values = <T>(key: FlagKey, row: FlagDeclaration<T>): readonly T[] => {
    const { texts, from } = given.get(key) ?? {
      texts: row.default === undefined ? [] : [row.default],
      from: 'flag',
    };
    const source = from === 'flag' ? `--${row.name}` : variableOf(row.name);
    return texts.flatMap((text) => {
      try {
        return [row.read(text)];
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        problems.push(`${source}: expected ${error.message}; got ${quote(text)}`);
        return [];
      }
    });
  };
  const on = (key: 'configCheck' | 'once' | 'demo' | 'demoOutage' | 'enableLifecycle' | 'version' | 'help') =>
    values(key, table[key])[0] ?? false;

  const switches = {
    configCheck: on('configCheck'),
    once: on('once'),
    demo: on('demo'),
    demoOutage: on('demoOutage'),
    enableLifecycle: on('enableLifecycle'),
    version: on('version'),
    help: on('help'),
  };
  const flags = {
    ...switches,
    configFile: values('configFile', table.configFile)[0],
    demoScale: values('demoScale', table.demoScale)[0] ?? 'small',
    demoSeed: values('demoSeed', table.demoSeed)[0] ?? 0,
    listenAddresses: values('listenAddresses', table.listenAddresses),
    telemetryPath: values('telemetryPath', table.telemetryPath)[0] ?? '',
    webConfigFile: values('webConfigFile', table.webConfigFile)[0],
    shard: values('shard', table.shard)[0],
    logLevel: values('logLevel', table.logLevel)[0] ?? 'info',
    logFormat: values('logFormat', table.logFormat)[0] ?? 'json',
  };
  const settled = settle(flags, given, problems);
  if (problems.length > 0 && !(flags.help || flags.version)) throw new UsageError(problems);
  return settled;
}

const conflicts: readonly (readonly [FlagKey, FlagKey])[] = [
  ['demo', 'configFile'],
  ['demo', 'configCheck'],
  ['once', 'configCheck'],
];

/** Refuses flags that contradict each other; where one comes from the environment and one is a flag, the flag wins. */
function settle(flags: Flags, given: ReadonlyMap<FlagKey, Given>, problems: string[]): Flags {
  const settled = { ...flags };
  const off = { demo: false, once: false, configCheck: false, configFile: undefined };
  for (const [a, b] of conflicts) {
    const isOn = (key: FlagKey) => settled[key] !== false && settled[key] !== undefined;
    if (!isOn(a) || !isOn(b)) continue;
    if (given.get(a)?.from === given.get(b)?.from) {
      problems.push(`${sourceOf(a, given)} and ${sourceOf(b, given)} exclude each other; leave one out`);
    } else {
      const loser = given.get(a)?.from === 'environment' ? a : b;
      Object.assign(settled, { [loser]: off[loser as keyof typeof off] });
    }
  }
  for (const key of ['demoScale', 'demoOutage', 'demoSeed'] as const) {
    if (!settled.demo && given.get(key)?.from === 'flag' && settled[key] !== false) {
      problems.push(`--${table[key].name} has a meaning only with --demo`);
    }
  }
  return settled;
}

function sourceOf(key: FlagKey, given: ReadonlyMap<FlagKey, Given>): string {
  const { name } = table[key];
  return given.get(key)?.from === 'environment' ? variableOf(name) : `--${name}`;
}

/** The texts given for each flag on the command line. */
function fromArguments(argv: readonly string[], problems: string[]): Map<FlagKey, string[]> {
  const entries = Object.entries(table) as [FlagKey, FlagDeclaration][];
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(
        entries.map(([, row]) => [
          row.name,
          { type: row.placeholder === undefined ? ('boolean' as const) : ('string' as const) },
        ]),
      ),
      help: { type: 'boolean', short: 'h' },
    },
    strict: false,
    tokens: true,
  });
  const texts = new Map<FlagKey, string[]>();
  const refused = new Set<number>();
  for (const token of tokens) {
    if (token.kind === 'positional') {
      problems.push(
        `unexpected argument ${quote(token.value)}: every setting is a flag, such as --config.file=PATH`,
      );
    }
    if (token.kind !== 'option') continue;
    const [key, negated] = flagNamed(token.name, entries);
    const written = argv[token.index]?.split('=')[0] ?? token.rawName;
    if (key === undefined || (token.rawName.startsWith('--') ? false : written !== '-h')) {
      // A word after one dash comes as a group of letters.
      if (refused.has(token.index)) continue;
      refused.add(token.index);
      const names = entries.map(([, { name }]) => `--${name}`);
      problems.push(`unknown flag ${quote(written)}${didYouMean(written, names)}`);
      continue;
    }
    const row: FlagDeclaration = table[key];
    const text = row.placeholder === undefined ? (token.value ?? 'true') : token.value;
    if (text === undefined || (token.inlineValue === false && text.startsWith('-'))) {
      problems.push(`--${row.name}: expected a value: --${row.name}=${row.placeholder}`);
    } else if (negated && token.value !== undefined) {
      problems.push(`--no-${row.name}: expected no value`);
    } else if (texts.has(key) && row.repeatable !== true) {
      problems.push(`--${row.name}: expected once; it is given several times`);
    } else {
      texts.set(key, [...(texts.get(key) ?? []), negated ? 'false' : text]);
    }
  }
  return texts;
}

/** The flag of the name; switches also as `--no-…`. */
function flagNamed(
  name: string,
  entries: readonly (readonly [FlagKey, FlagDeclaration])[],
): readonly [FlagKey | undefined, negated: boolean] {
  const direct = entries.find(([, row]) => row.name === name);
  if (direct !== undefined) return [direct[0], false];
  const positive = name.startsWith('no-') ? name.slice(3) : undefined;
  const negated = entries.find(([, row]) => row.name === positive && row.placeholder === undefined);
  return [negated?.[0], true];
}
