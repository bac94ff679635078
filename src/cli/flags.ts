/** The table of flags, and how they are read from the command line and the environment. */
import type { Environment } from '../env.ts';
import { resources } from '../resources/kinds/index.ts';
import { ownKind } from '../resources/resource.ts';
import { parseInstant } from '../resources/times.ts';
import { count, didYouMean, expectedOf, orList, parseBoolean, parseDuration, quote } from '../text.ts';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export const logFormats = ['json', 'pretty'] as const;
/** About how many series the demo serves, by scale. */
export const demoSeries = { small: 5_000, medium: 120_000, full: 270_000 } as const;
/** What the accounts of the demo are called where there are several. */
export const demoAccounts = ['acme', 'umbrella', 'initech', 'globex', 'hooli'] as const;
const demoScales = Object.keys(demoSeries) as (keyof typeof demoSeries)[];

/** The command was called wrongly. The message has one line for each mistake. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Reader<T> {
  /** Undefined if the text is not what is expected. */
  read(text: string): T | undefined;
  readonly expected: string | ((text: string) => string);
  /** The accepted values, if they are a list. */
  readonly values?: readonly string[];
}

interface Flag {
  readonly name: string;
  readonly help: string;
  /** For the value, in the help. Without it the flag is a switch. */
  readonly placeholder?: string;
  /** As the user would write it. */
  readonly default?: string;
  /** May be given several times, or as a list. */
  readonly repeatable?: true;
  /** What is between the values of a list. Default: a comma. */
  readonly separator?: string;
  readonly value?: Reader<unknown>;
}

const comma = ',';

type ValueOf<F extends Flag> = F extends { value: Reader<infer T> }
  ? (F extends { repeatable: true } ? readonly T[] : T) | (F extends { default: string } ? never : undefined)
  : boolean;

const toggle = { read: parseBoolean, expected: 'true or false' };

const path = { read: (text: string) => text || undefined, expected: 'a path' };

function choice<const T extends string>(values: readonly T[]): Reader<T> {
  return { read: (text) => values.find((value) => value === text), expected: orList(values), values };
}

const kinds = [...resources.map(({ kind }) => kind), ownKind];

const kind: Reader<string> = { ...choice(kinds), expected: (text) => expectedOf(text, kinds) };

/** Without a host: all addresses. Port 0: any free one. */
const listenAddress = {
  read(text: string) {
    const [, bracketed, plain, digits] =
      /^(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([^\s:/@[\]]*)):(\d{1,5})$/.exec(text) ?? [];
    const port = Number(digits);
    return port <= 65_535 ? { host: bracketed || plain || undefined, port } : undefined;
  },
  expected: 'host:port, such as :10057, 127.0.0.1:10057 or [::1]:10057',
};

const otherPages = ['/config', '/-/healthy', '/-/ready', '/-/reload', '/api/v1/targets', '/sd/hostnames'];

const telemetryPath = {
  read(text: string) {
    const isPath = /^(?:\/[A-Za-z0-9._~-]+)+$/.test(text) && !/\/\.{1,2}(?:\/|$)/.test(text);
    return isPath && !otherPages.includes(text) ? text : undefined;
  },
  expected: 'a path that begins with / and is no other page, such as /metrics',
};

const hourMs = 3_600_000;

const pastDuration = {
  read(text: string) {
    const ms = parseDuration(text) ?? 0;
    return ms >= hourMs && ms <= 9_600 * hourMs ? ms : undefined;
  },
  expected: 'a duration from 1h to 400d, such as 30d',
};

const past = {
  read(text: string) {
    const isTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/.test(text);
    // Date.parse makes 30 February a day of March.
    const ms = isTime ? 1000 * (parseInstant(text) ?? Number.NaN) : Number.NaN;
    return ms <= Date.now() ? ms : undefined;
  },
  expected: 'a time that is not in the future, in RFC 3339, such as 2026-11-02T14:00:00Z',
};

const step = {
  read(text: string) {
    const ms = parseDuration(text) ?? 0;
    return ms >= 1000 && hourMs % ms === 0 ? ms : undefined;
  },
  expected: 'a duration of at least 1s that divides an hour, such as 1m, 5m or 1h',
};

const extraLabel = {
  read(text: string) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.+)$/s.exec(text) ?? [];
    return name === undefined || value === undefined || name.startsWith('__')
      ? undefined
      : ([name, value] as const);
  },
  expected: 'NAME=VALUE with a name of letters, digits and underscores, such as job=bunnynet-exporter',
};

const accounts = {
  read: (text: string) => {
    const number = /^\d$/.test(text) ? Number(text) : 0;
    return number >= 1 && number <= demoAccounts.length ? number : undefined;
  },
  expected: `a number from 1 to ${demoAccounts.length}`,
};

const table = {
  configFile: {
    name: 'config.file',
    placeholder: 'PATH',
    help: 'The configuration file. Without it, settings come from the environment.',
    value: path,
  },
  configCheck: {
    name: 'config.check',
    help: 'Check the configuration and the keys, print a summary and exit: 0 when all is valid, else 1. Calls no API.',
  },
  once: {
    name: 'once',
    help: 'Poll every target once, print the page on stdout and exit: 0 when every poll and listing succeeded, else 3.',
  },
  onceKinds: {
    name: 'once.kind',
    placeholder: 'KIND',
    repeatable: true,
    help: `With --once and --backfill: only this kind; ${ownKind} is the exporter's own metrics. May be given several times.`,
    value: kind,
  },
  report: {
    name: 'report',
    help: 'Poll every target once, print a summary of the answers for a bug report, without any value of the account, and exit.',
  },
  backfill: {
    name: 'backfill',
    placeholder: 'DURATION',
    help: 'Write what the API has of the past, such as 30d, on stdout for Prometheus to load, and exit: 0 when nothing is missing, else 3.',
    value: pastDuration,
  },
  backfillUntil: {
    name: 'backfill.until',
    placeholder: 'TIME',
    help: 'With --backfill: where the history ends, such as 2026-11-02T14:00:00Z. Without it: the last even UTC hour at least three hours ago.',
    value: past,
  },
  backfillStep: {
    name: 'backfill.step',
    placeholder: 'DURATION',
    default: '5m',
    help: 'With --backfill: the time between two samples. It divides an hour.',
    value: step,
  },
  backfillLabels: {
    name: 'backfill.label',
    placeholder: 'NAME=VALUE',
    repeatable: true,
    help: 'With --backfill: a label of each series, such as job=bunnynet-exporter. May be given several times; the variable has one in each line.',
    // A value can hold commas.
    separator: '\n',
    value: extraLabel,
  },
  demo: {
    name: 'demo',
    help: 'Export from a simulator of the API on loopback: no account needed.',
  },
  demoScale: {
    name: 'demo.scale',
    placeholder: 'SCALE',
    default: 'small',
    help: `How many targets the simulator has: ${orList(demoScales)} (about ${orList(Object.values(demoSeries).map(count))} series).`,
    value: choice(demoScales),
  },
  demoAccounts: {
    name: 'demo.accounts',
    placeholder: 'N',
    default: '1',
    help: `How many accounts the simulator has, 1 to ${demoAccounts.length}, each with a key and things of its own.`,
    value: accounts,
  },
  demoOutage: { name: 'demo.outage', help: 'Let the simulator play a scripted outage.' },
  listenAddresses: {
    name: 'web.listen-address',
    placeholder: 'HOST:PORT',
    default: ':10057',
    repeatable: true,
    help: 'Address to serve on. May be given several times.',
    value: listenAddress,
  },
  probeAddress: {
    name: 'web.probe-address',
    placeholder: 'HOST:PORT',
    help: 'Answer /-/healthy and /-/ready here too: over HTTP and without a password, for probes.',
    value: listenAddress,
  },
  telemetryPath: {
    name: 'web.telemetry-path',
    placeholder: 'PATH',
    default: '/metrics',
    help: 'The path of the metrics.',
    value: telemetryPath,
  },
  webConfigFile: {
    name: 'web.config.file',
    placeholder: 'PATH',
    help: "TLS and basic auth, in the format of Prometheus' exporter-toolkit.",
    value: path,
  },
  enableLifecycle: { name: 'web.enable-lifecycle', help: 'Allow POST /-/reload.' },
  stateFile: {
    name: 'state.file',
    placeholder: 'PATH',
    help: 'Keep counters over a restart in this file, instead of that of the configuration (state.file).',
    value: path,
  },
  logLevel: {
    name: 'log.level',
    placeholder: 'LEVEL',
    default: 'info',
    help: `The lowest level that is logged: ${orList(logLevels)}.`,
    value: choice(logLevels),
  },
  logFormat: {
    name: 'log.format',
    placeholder: 'FORMAT',
    help: `Format of the log on stderr: ${orList(logFormats)}. Without it: pretty on a terminal, json elsewhere.`,
    value: choice(logFormats),
  },
  version: { name: 'version', help: 'Print the version and exit.' },
  help: { name: 'help', help: 'Print this text and exit.' },
} as const satisfies Record<string, Flag>;

type FlagKey = keyof typeof table;
export type Flags = { readonly [Key in FlagKey]: ValueOf<(typeof table)[Key]> };

const flags = Object.entries(table) as readonly (readonly [FlagKey, Flag])[];

/** The table of the flags, for the help, for the documentation and for shells. */
export const flagRows = flags.map(([, row]) => ({
  ...row,
  values: row.value?.values,
  /** `--state.file=PATH` */
  usage: `--${row.name}${row.placeholder === undefined ? '' : `=${row.placeholder}`}`,
  variable: variableOf(row.name),
}));
export type FlagRow = (typeof flagRows)[number];

export const flagVariables: readonly string[] = flagRows.map(({ variable }) => variable);

function variableOf(name: string): string {
  return `BUNNYNET_${name.toUpperCase().replace(/[.-]/g, '_')}`;
}

/** How the program gets its key, in two lines. */
export const keyText = `The account's key is in the variable BUNNYNET_ACCESS_KEY, or in the file that BUNNYNET_ACCESS_KEY_FILE names;
a configuration file names where its keys are. Without an account, try --demo.`;

export function helpText(): string {
  const width = Math.max(...flagRows.map(({ usage }) => usage.length)) + 2;
  const rows = flagRows.map(({ usage, variable, default: preset, help }) => {
    const note = preset === undefined ? `[$${variable}]` : `[$${variable}, default ${preset}]`;
    return `  ${usage.padEnd(width)}${help}\n  ${' '.repeat(width)}${note}`;
  });
  return `Usage: bunnynet-exporter [flags]

Exports to Prometheus what a bunny.net account has, uses and costs.
${keyText}

Flags (each has an environment variable; a flag wins):
${rows.join('\n')}
`;
}

interface FlagInput {
  readonly text: string;
  /** The flag or the variable, as it is written. */
  readonly source: string;
  readonly isFlag: boolean;
}

/** Reads the flags (`argv` without node and script). Throws a `UsageError` with every mistake. */
export function parseFlags(argv: readonly string[], env: Environment): Flags {
  const problems: string[] = [];
  const given = new Map([...fromEnvironment(env), ...fromArguments(argv, problems)]);
  const read: Record<string, unknown> = {};
  for (const [
    key,
    { value = toggle, placeholder, repeatable, separator = comma, default: preset },
  ] of flags) {
    const { text = preset ?? (placeholder === undefined ? 'false' : undefined), source } =
      given.get(key) ?? {};
    if (text === undefined) {
      read[key] = undefined;
      continue;
    }
    const texts = repeatable ? text.split(separator).map((part) => part.trim()) : [text];
    const values = texts.map((one) => {
      const data = value.read(one);
      const { expected } = value;
      const wanted = typeof expected === 'string' ? expected : expected(one);
      if (data === undefined) problems.push(`${source}: expected ${wanted}; got ${quote(one)}`);
      return data;
    });
    read[key] = repeatable ? values : values[0];
  }
  resolveConflicts(read, given, problems);
  if (problems.length > 0 && !(read['help'] || read['version'])) throw new UsageError(problems.join('\n'));
  return read as Flags;
}

const conflicts: readonly (readonly [FlagKey, FlagKey])[] = [
  ['demo', 'configFile'],
  ['demo', 'configCheck'],
  ['once', 'configCheck'],
  ['report', 'configCheck'],
  ['once', 'report'],
  ['backfill', 'configCheck'],
  ['backfill', 'once'],
  ['backfill', 'report'],
];

/** The first does nothing without one of the others. */
const needs: readonly (readonly [FlagKey, ...(readonly FlagKey[])])[] = [
  ['demoScale', 'demo'],
  ['demoAccounts', 'demo'],
  ['demoOutage', 'demo'],
  ['onceKinds', 'once', 'backfill'],
  ['backfillUntil', 'backfill'],
  ['backfillStep', 'backfill'],
  ['backfillLabels', 'backfill'],
];

/** Refuses flags that contradict each other, unless one comes from the environment: then the flag wins. */
function resolveConflicts(
  read: Record<string, unknown>,
  given: ReadonlyMap<FlagKey, FlagInput>,
  problems: string[],
): void {
  for (const pair of conflicts) {
    if (!pair.every((key) => read[key])) continue;
    const [a, b] = pair.map((key) => given.get(key));
    if (a?.isFlag === b?.isFlag) {
      problems.push(`${a?.source} and ${b?.source} cannot be used together; leave one out`);
    } else {
      const loser = pair[a?.isFlag ? 1 : 0];
      const { placeholder }: Flag = table[loser];
      read[loser] = placeholder === undefined ? false : undefined;
    }
  }
  for (const [key, ...needed] of needs) {
    if (!needed.some((one) => read[one]) && given.get(key)?.isFlag && read[key] !== false)
      problems.push(
        `--${table[key].name} works only with ${orList(needed.map((one) => `--${table[one].name}`))}`,
      );
  }
}

function fromEnvironment(env: Environment): readonly [FlagKey, FlagInput][] {
  return flags.flatMap(([key, { name }]): [FlagKey, FlagInput][] => {
    const source = variableOf(name);
    const text = env[source]?.trim() ?? '';
    return text === '' ? [] : [[key, { text, source, isFlag: false }]];
  });
}

function fromArguments(argv: readonly string[], problems: string[]): ReadonlyMap<FlagKey, FlagInput> {
  const given = new Map<FlagKey, FlagInput>();
  const words = argv.filter((word) => word !== '--');
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, source = '', inline] = /^([^=]*)(?:=(.*))?$/s.exec(word === '-h' ? '--help' : word) ?? [];
    const [key, flag] = flags.find(([, { name }]) => source === `--${name}`) ?? [];
    if (key === undefined || flag === undefined) {
      problems.push(unknownWord(word, source));
      continue;
    }
    const before = given.get(key);
    let text = inline;
    if (flag.placeholder === undefined) text ??= 'true';
    // A word that begins with a dash is the next flag, not a value.
    else if (!words[0]?.startsWith('-')) text ??= words.shift();
    if (text === undefined) {
      problems.push(`${source}: expected a value: ${source}=${flag.placeholder}`);
    } else if (before && !flag.repeatable) {
      problems.push(`${source}: expected once; it is given several times`);
    } else {
      const { separator = comma } = flag;
      given.set(key, { text: before ? `${before.text}${separator}${text}` : text, source, isFlag: true });
    }
  }
  return given;
}

function unknownWord(word: string, flag: string): string {
  if (word.startsWith('-')) {
    const names = flags.map(([, { name }]) => `--${name}`);
    return `unknown flag ${quote(flag)}${didYouMean(flag, names)}`;
  }
  return `unexpected argument ${quote(word)}: every setting is a flag, such as --config.file=PATH`;
}
