/**
 * The settings that the environment alone can give, for a sidecar or a first try: turned into the same document that a
 * file holds, so that the same schema checks them.
 */

import { apiNames, type Resource } from '../resources/resource.ts';
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
  /** Variables beside the configuration's own that somebody reads: no warning tells of them. */
  readonly otherVariables?: readonly string[];
}

/** The variable that gives a credential's key, or, with `_FILE`, the key's file. */
const keyVariables = { account: 'BUNNYNET_ACCESS_KEY', video: 'BUNNYNET_VIDEO_ACCESS_KEY' } as const;
type CredentialName = keyof typeof keyVariables;

export interface EnvironmentSetting {
  readonly variable: string;
  readonly help: string;
}

/** Every setting of the environment beside the flags', for the documentation. */
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

/** Throws a `ConfigError` where nothing says what to poll: the rest would only repeat that. */
export function fromEnvironment(options: EnvironmentOptions): Document {
  const { env, resources } = options;
  const problems: Problem[] = [];
  const warnings: string[] = [];
  /** Which variable each part of the document came from. */
  const origins: { readonly path: Path; readonly variable: string }[] = [];
  const take = (variable: string, path: Path): string | undefined => {
    const text = env[variable]?.trim();
    if (text === '') warnings.push(`${variable} is set but empty: it counts as not set`);
    if (text === undefined || text === '') return undefined;
    origins.push({ path, variable });
    return text;
  };

  const isGiven = (variable: string): boolean => (env[variable] ?? '').trim() !== '';
  const hasKey = (credential: CredentialName): boolean =>
    isGiven(keyVariables[credential]) || isGiven(`${keyVariables[credential]}_FILE`);

  const credentials: Record<string, Raw> = {};
  const useKey = (credential: CredentialName): string => {
    if (credential in credentials) return credential;
    const variable = keyVariables[credential];
    const fileVariable = `${variable}_FILE`;
    const isFile = isGiven(fileVariable);
    credentials[credential] = isFile ? { file: env[fileVariable]?.trim() ?? '' } : { env: variable };
    origins.push({ path: ['credentials', credential], variable: isFile ? fileVariable : variable });
    if (isFile && isGiven(variable)) {
      const message = `expected either ${variable} or ${fileVariable}; both are set`;
      problems.push({ ...nowhere, path: variable, message });
    }
    return credential;
  };
  /** The account finds videos, and their libraries with a key each; named ones need the key in its variable. */
  const credentialFor = ({ api }: Resource, targets: Raw): string | undefined => {
    if (api !== 'video') return useKey('account');
    if (targets === 'all') useKey('account');
    return targets !== 'all' || hasKey('video') ? useKey('video') : undefined;
  };

  const root: Record<string, Raw> = {};
  const turnOn = (resource: Resource, targets: Raw): void => {
    const credential = credentialFor(resource, targets);
    root[resource.section] = { ...(credential === undefined ? {} : { credential }), targets };
  };
  for (const resource of resources) {
    const list = take(resource.environment, [resource.section]);
    if (list !== undefined) turnOn(resource, isOfAccount(resource) ? list : targetsOf(list));
  }
  if (Object.keys(root).length === 0) {
    const unread = unreadVariables(options);
    if (!hasKey('account')) {
      const message =
        'expected the key of the account: set BUNNYNET_ACCESS_KEY (or BUNNYNET_ACCESS_KEY_FILE), ' +
        'or give a configuration file (--config.file=PATH). To try it without an account: --demo';
      throw new ConfigError([message, ...unread.map(describeUnread)].map(toHint));
    }
    // Who mistyped what was to narrow it does not want everything.
    const mistyped = unread.filter(({ meant }) => meant !== undefined);
    if (mistyped.length > 0) {
      const advice =
        'correct or remove it. Without a variable that says what to poll, everything would be polled';
      throw new ConfigError(mistyped.map((one) => toHint(`${noSetting(one)}: ${advice}`)));
    }
    for (const resource of resources) {
      if (takesAll(resource) && !resource.isCostly) turnOn(resource, 'all');
    }
  }
  const addresses = apiNames.flatMap((api) => {
    const url = take(apis[api].urlVariable, ['apis', api, 'base_url']);
    return url === undefined ? [] : [[api, { base_url: url }] as const];
  });
  return {
    raw: { credentials, apis: Object.fromEntries(addresses), ...root },
    problems,
    warnings,
    place: (path) => {
      const origin = origins.find((candidate) => candidate.path.every((step, i) => step === path[i]));
      const index = path.find((step) => typeof step === 'number');
      const element = index === undefined ? '' : ` element ${index + 1}`;
      return { ...nowhere, path: `${origin?.variable ?? ''}${element}` };
    },
    refer: (path) => `element ${Number(path.at(-1)) + 1}`,
    directory: '.',
    withLongForm: false,
  };
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
  /** The one that is read in its place, as far as the name tells. */
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

/** A sentence that stands for itself, without a place. */
export function toHint(message: string): Problem {
  return { ...nowhere, message };
}
