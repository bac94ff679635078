/**
 * The settings that the environment alone can give, for a sidecar or a first try: turned into the same document that a
 * file holds, so that the same schema checks them.
 */
import { type ApiName, apiNames, type Resource } from '../resources/resource.ts';
import { suggest } from '../text.ts';
import { apis } from './apis.ts';
import type { Config } from './config.ts';
import { type Document, nowhere } from './document.ts';
import { ConfigError, type Path, type Problem } from './problems.ts';
import { isOfAccount, shortForms, takesAll } from './schema.ts';
import type { Raw } from './yaml.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentOptions {
  /** Gives the keys, and without a file or plain data the settings. */
  readonly env: Environment;
  readonly resources: readonly Resource[];
  /** Further variables that are read elsewhere, so there is no warning about them. */
  readonly otherVariables?: readonly string[];
}

export interface EnvironmentSetting {
  readonly variable: string;
  readonly help: string;
}

/** Every environment variable that is not a flag's, for the documentation. */
export function environmentSettings(resources: readonly Resource[]): readonly EnvironmentSetting[] {
  return [
    {
      variable: 'BUNNYNET_ACCESS_KEY',
      help: 'the key of the account; alone, it turns everything on but videos',
    },
    { variable: 'BUNNYNET_ACCESS_KEY_FILE', help: 'the file that holds it' },
    {
      variable: 'BUNNYNET_VIDEO_ACCESS_KEY',
      help: 'the key of a video library; without it, `all` uses the key that each library is found with',
    },
    { variable: 'BUNNYNET_VIDEO_ACCESS_KEY_FILE', help: 'the file that holds it' },
    ...resources.map((resource) => ({ variable: resource.environment, help: targetsHelp(resource) })),
    ...apiNames.map((api) => ({ variable: apis[api].urlVariable, help: `the address of the ${api} API` })),
  ];
}

function targetsHelp(resource: Resource): string {
  if (isOfAccount(resource)) return 'all';
  return `${takesAll(resource) ? 'all, or ' : ''}a list of ${shortForms(resource)}, separated by commas`;
}

/** Throws a `ConfigError` if nothing says what to poll: other problems would only repeat that. */
export function fromEnvironment(options: EnvironmentOptions): Document {
  const { env, resources } = options;
  const keys = { account: keyIn('BUNNYNET_ACCESS_KEY', env), video: keyIn('BUNNYNET_VIDEO_ACCESS_KEY', env) };
  const used = new Set<keyof typeof keys>();
  /** The account finds videos, and their libraries with a key each; named ones need the key in its variable. */
  const sectionOf = ({ api }: Resource, targets: Raw): Raw => {
    const credential = api === 'video' ? 'video' : 'account';
    if (targets === 'all') used.add('account');
    if (api === 'video' && targets === 'all' && !keys.video.isGiven) return { targets };
    used.add(credential);
    return { credential, targets };
  };
  const root: Record<string, Raw> = {};
  for (const resource of resources) {
    const list = textOf(resource.environment, env);
    if (list === '') continue;
    root[resource.section] = sectionOf(resource, isOfAccount(resource) ? list : targetsOf(list));
  }
  if (Object.keys(root).length === 0) {
    refuseMistyped(unreadVariables(options), keys.account.isGiven);
    for (const resource of resources) {
      if (takesAll(resource) && !resource.isCostly) root[resource.section] = sectionOf(resource, 'all');
    }
  }
  const addresses = apiNames.flatMap((api) => {
    const address = textOf(apis[api].urlVariable, env);
    return address === '' ? [] : [[api, { base_url: address }] as const];
  });
  const credentials = Object.fromEntries([...used].map((name) => [name, keys[name].source]));
  const variables = [
    ...resources.map(({ environment }) => environment),
    ...apiNames.map((api) => apis[api].urlVariable),
  ];
  const variableOf = ([section, name]: Path): string => {
    if (section === 'credentials') return keys[name as keyof typeof keys]?.variable ?? '';
    if (section === 'apis') return apis[name as ApiName].urlVariable;
    const { environment = '' } = resources.find((resource) => resource.section === section) ?? {};
    return textOf(environment, env) === '' ? '' : environment;
  };
  return {
    raw: { credentials, apis: Object.fromEntries(addresses), ...root },
    problems: [...used].flatMap((name) => keys[name].problem ?? []),
    warnings: variables
      .filter((variable) => env[variable]?.trim() === '')
      .map((variable) => `${variable} is set but empty: it counts as not set`),
    place: (path) => {
      const index = path.find((step) => typeof step === 'number');
      const element = index === undefined ? '' : ` element ${index + 1}`;
      return { ...nowhere, path: `${variableOf(path)}${element}` };
    },
    refer: (path) => `element ${Number(path.at(-1)) + 1}`,
    directory: '.',
    withLongForm: false,
  };
}

/** What a variable says, or nothing if it is not set. */
function textOf(variable: string, env: Environment): string {
  return env[variable]?.trim() ?? '';
}

/** Where a key is read: in its variable, or in the file that the variable with `_FILE` names. */
function keyIn(variable: string, env: Environment) {
  const fileVariable = `${variable}_FILE`;
  const isGiven = textOf(variable, env) !== '';
  const file = textOf(fileVariable, env);
  if (file === '') return { isGiven, variable, source: { env: variable } };
  const message = `expected either ${variable} or ${fileVariable}; both are set`;
  const problem: Problem | undefined = isGiven ? { ...nowhere, path: variable, message } : undefined;
  return { isGiven: true, variable: fileVariable, source: { file }, problem };
}

/** Refuses to poll everything if there is no key, or if a variable that should narrow it is mistyped. */
function refuseMistyped(unread: readonly UnreadVariable[], hasKey: boolean): void {
  if (!hasKey) {
    const message =
      'expected the key of the account: set BUNNYNET_ACCESS_KEY (or BUNNYNET_ACCESS_KEY_FILE), ' +
      'or give a configuration file (--config.file=PATH). To try it without an account: --demo';
    throw new ConfigError([message, ...unread.map(describeUnread)].map(toHint));
  }
  const mistyped = unread.filter(({ meant }) => meant !== undefined);
  const advice =
    'correct or remove it. Without a variable that says what to poll, everything would be polled';
  if (mistyped.length > 0) {
    throw new ConfigError(mistyped.map((one) => toHint(`${noSetting(one)}: ${advice}`)));
  }
}

/** An element without text is left to the schema to refuse. */
function targetsOf(list: string): Raw {
  return list === 'all' ? list : list.split(',').map((element) => element.trim() || null);
}

const prefix = 'BUNNYNET_';

/** Kubernetes describes the services of a namespace in variables that begin with the service's name. */
const serviceLink =
  /^BUNNYNET_(?:EXPORTER_.*|(?:.*_)?SERVICE_(?:HOST|PORT(?:_.*)?)|(?:.*_)?PORT(?:_\d+_.*)?)$/;

/** A variable of ours that nobody reads. */
export interface UnreadVariable {
  readonly variable: string;
  /** The variable that was probably meant. */
  readonly meant?: string | undefined;
  /** True where it is a setting, which a file or plain data replaces. */
  readonly isReplaced?: boolean;
}

/** Misspelt variables, and with `isReplaced` the settings that a file or plain data replaces. */
export function unreadVariables(
  { env, resources, otherVariables = [] }: EnvironmentOptions,
  credentials: Config['credentials'] = {},
  isReplaced = false,
): readonly UnreadVariable[] {
  const settings = environmentSettings(resources).map(({ variable }) => variable);
  const named = Object.values(credentials).flatMap((source) => ('env' in source ? [source.env] : []));
  const known = [...settings, ...otherVariables].map((name) => name.slice(prefix.length));
  return Object.keys(env)
    .filter((variable) => variable.startsWith(prefix) && env[variable] !== '')
    .filter((variable) => !otherVariables.includes(variable) && !named.includes(variable))
    .sort()
    .flatMap((variable): readonly UnreadVariable[] => {
      if (settings.includes(variable)) return isReplaced ? [{ variable, isReplaced }] : [];
      if (serviceLink.test(variable)) return [];
      const near = suggest(variable.slice(prefix.length), known);
      return [{ variable, meant: near === undefined ? undefined : `${prefix}${near}` }];
    });
}

export function describeUnread(one: UnreadVariable): string {
  if (one.isReplaced) return `${one.variable} is ignored, because a configuration file is given`;
  return `${noSetting(one)}: it is ignored`;
}

function noSetting({ variable, meant }: UnreadVariable): string {
  return `${variable} is not a setting${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
}

/** A sentence without a place. */
export function toHint(message: string): Problem {
  return { ...nowhere, message };
}
