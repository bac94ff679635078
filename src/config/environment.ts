/**
 * Configuration from environment variables alone, for a sidecar or a first try. They become the same document as a file, so
 * that the same schema checks them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../env.ts';
import { type ApiName, apiNames, type Resource } from '../resources/resource.ts';
import { isService, loadCredential } from '../secrets/service.ts';
import { suggest } from '../text.ts';
import type { Config } from './config.ts';
import { ConfigError, type Path, type Problem } from './problems.ts';
import { isOfAccount, shortForms, takesAll } from './schema.ts';
import { credentialNamePattern } from './values.ts';
import type { Document, Mapping, Raw } from './yaml.ts';

export interface EnvironmentOptions {
  /** Holds the keys, and the settings if there is no file. */
  readonly env: Environment;
  readonly resources: readonly Resource[];
  /** Variables that are read elsewhere: no warning about them. */
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
      help: 'the key of the account; alone, it turns on everything except the storage of videos, which BUNNYNET_VIDEOS adds',
    },
    { variable: 'BUNNYNET_ACCESS_KEY_FILE', help: fileHelp('access-key') },
    {
      variable: 'BUNNYNET_VIDEO_ACCESS_KEY',
      help: "the key of a video library; without it, `all` uses the key of each library, from the account's list",
    },
    { variable: 'BUNNYNET_VIDEO_ACCESS_KEY_FILE', help: fileHelp('video-access-key') },
    {
      variable: accountVariable,
      help: `the name of the account, which is the label \`account\`; default: ${defaultAccount}`,
    },
    {
      variable: factorVariable,
      help: 'what every interval is multiplied by, from 0.5 to 10; default: 1',
    },
    ...resources.map((resource) => ({ variable: resource.environment, help: targetsHelp(resource) })),
    ...apiNames.map((api) => ({ variable: urlVariable(api), help: `the address of the ${api} API` })),
  ];
}

function fileHelp(credential: string): string {
  return `the file that holds it; default: $CREDENTIALS_DIRECTORY/${credential}, if it is there (a credential of a systemd service)`;
}

function targetsHelp(resource: Resource): string {
  if (isOfAccount(resource)) return 'all';
  return `${takesAll(resource) ? 'all, or ' : ''}a list of ${shortForms(resource)}, separated by commas`;
}

/** Sets the address of an API. */
export function urlVariable(api: ApiName): string {
  return `BUNNYNET_${api.toUpperCase()}_URL`;
}

/** Names the credential of the account. */
export const accountVariable = 'BUNNYNET_ACCOUNT';
const factorVariable = 'BUNNYNET_INTERVAL_FACTOR';
const defaultAccount = 'account';
const videoCredential = 'video';

/** Throws a `ConfigError` if nothing says what to poll: other problems would only repeat that. */
export function fromEnvironment(options: EnvironmentOptions): Document {
  const { env, resources } = options;
  const account = textOf(accountVariable, env) || defaultAccount;
  if (account === videoCredential || !new RegExp(credentialNamePattern).test(account))
    throw new ConfigError([
      {
        path: accountVariable,
        message: `expected a name of letters, digits, dots, dashes and underscores, and another one than ${videoCredential}`,
      },
    ]);
  const ofAccount = keyIn('BUNNYNET_ACCESS_KEY', 'access-key', env);
  const ofVideos = keyIn('BUNNYNET_VIDEO_ACCESS_KEY', 'video-access-key', env);
  const keys = new Map([
    [account, ofAccount],
    [videoCredential, ofVideos],
  ]);
  const named = resources.filter(({ environment }) => textOf(environment, env) !== '');
  if (named.length === 0 && !ofAccount.isSet) refuseWithoutKey(options);
  // What costs a request for each of very many is added to the rest, and never stands for it.
  const readsAll = ofAccount.isSet && named.every(({ isCostly }) => isCostly);
  if (readsAll) refuseMistyped(ownVariables(options).unknown);
  const wanted = resources.filter(
    (resource) => named.includes(resource) || (readsAll && takesAll(resource) && !resource.isCostly),
  );
  const factor = textOf(factorVariable, env);
  const used = new Set<string>();
  const sections: Mapping = {};
  for (const resource of wanted) {
    const targets = targetsOf(resource, textOf(resource.environment, env) || 'all');
    const credential = resource.api === 'video' ? videoCredential : account;
    // For `all`, the account's listing has the key of each library. Videos that are named need the variable.
    const usesFoundKeys = credential === videoCredential && targets === 'all' && !ofVideos.isSet;
    if (targets === 'all') used.add(account);
    if (!usesFoundKeys) used.add(credential);
    sections[resource.section] = usesFoundKeys ? { targets } : { credential, targets };
  }
  const addresses = apiNames.flatMap((api) => {
    const address = textOf(urlVariable(api), env);
    return address === '' ? [] : [[api, { base_url: address }]];
  });
  const variableOf = ([section, name, setting]: Path): string => {
    if (section === 'interval_factor') return factorVariable;
    if (section === 'credentials') return keys.get(String(name))?.variable ?? '';
    if (section === 'apis')
      return setting === 'ca_file' ? 'NODE_EXTRA_CA_CERTS' : urlVariable(name as ApiName);
    return wanted.find((resource) => resource.section === section)?.environment ?? '';
  };
  return {
    raw: {
      credentials: Object.fromEntries([...used].map((name) => [name, keys.get(name)?.source ?? null])),
      ...(used.has(account) && { accounts: [account] }),
      ...(factor !== '' && { interval_factor: factor }),
      apis: Object.fromEntries(addresses) as Mapping,
      ...sections,
    },
    place: (path) => {
      const index = path.find((step) => typeof step === 'number');
      const element = index === undefined ? '' : ` element ${index + 1}`;
      return { path: `${variableOf(path)}${element}` };
    },
    directory: '.',
    problems: [...used].flatMap((name) => keys.get(name)?.problem ?? []),
  };
}

/** Where systemd puts the credentials of a service. */
const credentialsDirectory = 'CREDENTIALS_DIRECTORY';

/** Empty if the variable is not set. */
function textOf(variable: string, env: Environment): string {
  return env[variable]?.trim() ?? '';
}

/**
 * Where a key is read: in its variable, else in the file that the variable with `_FILE` names, else in the credential that
 * systemd has put into a file for the service (LoadCredential).
 */
function keyIn(variable: string, credential: string, env: Environment) {
  const fileVariable = `${variable}_FILE`;
  const isSet = textOf(variable, env) !== '';
  const file = textOf(fileVariable, env);
  if (file !== '') {
    const message = `expected either ${variable} or ${fileVariable}; both are set`;
    const problem: Problem | undefined = isSet ? { path: variable, message } : undefined;
    return { isSet: true, variable: fileVariable, source: { file }, problem };
  }
  const directory = textOf(credentialsDirectory, env);
  const ofService = join(directory, credential);
  return isSet || directory === '' || !existsSync(ofService)
    ? { isSet, variable, source: { env: variable } }
    : { isSet: true, variable: credentialsDirectory, source: { file: ofService } };
}

/** The schema refuses an empty element. */
function targetsOf(resource: Resource, list: string): Raw {
  if (list.toLowerCase() === 'all') return 'all';
  if (isOfAccount(resource)) return list;
  return list.split(',').map((element) => element.trim() || null);
}

/** Where the recipes have the key: in the folder of an instance of the unit, which its account is named after, or in that of all. */
function keyFileOf(env: Environment): string {
  return join('/etc/bunnynet-exporter', textOf(accountVariable, env), 'access-key');
}

function refuseWithoutKey(options: EnvironmentOptions): never {
  const { env } = options;
  const empty = ['BUNNYNET_ACCESS_KEY', 'BUNNYNET_ACCESS_KEY_FILE'].find((name) => env[name] !== undefined);
  const why = [
    ...(empty ? [`${empty} is set, but empty; `] : []),
    ...(textOf(credentialsDirectory, env) === '' ? [] : [`$${credentialsDirectory} has no access-key; `]),
    ...(isService(env)
      ? [`a drop-in of the unit hands it over, ${loadCredential('access-key', keyFileOf(env))}; or `]
      : []),
  ];
  const message =
    `expected the key of the account: ${why.join('')}` +
    'set BUNNYNET_ACCESS_KEY (or BUNNYNET_ACCESS_KEY_FILE), ' +
    'or give a configuration file (--config.file=PATH). To try it without an account: --demo';
  throw new ConfigError([message, ...ownVariables(options).unknown.map(ignoredText)].map(toProblem));
}

/** Throws if a name is mistyped: that variable may say what to poll, and without one everything would be polled. */
function refuseMistyped(unknown: readonly UnknownVariable[]): void {
  const mistyped = unknown.filter(({ isMistyped }) => isMistyped);
  const advice =
    'correct or remove it. Without a variable that says what to poll, everything would be polled';
  if (mistyped.length > 0) {
    throw new ConfigError(mistyped.map(({ problem }) => toProblem(`${problem}: ${advice}`)));
  }
}

const prefix = 'BUNNYNET_';

/** Kubernetes describes the services of a namespace in variables that begin with the service's name. */
const serviceLink =
  /^BUNNYNET_(?:EXPORTER_.*|(?:.*_)?SERVICE_(?:HOST|PORT(?:_.*)?)|(?:.*_)?PORT(?:_\d+_.*)?)$/;

interface UnknownVariable {
  readonly problem: string;
  /** Whether its name resembles that of a known variable. */
  readonly isMistyped: boolean;
}

export function ignoredText({ problem }: UnknownVariable): string {
  return `${problem}: it is ignored`;
}

/** The variables that are set and begin with BUNNYNET_, except flags and keys: known settings, and those that nobody reads. */
export function ownVariables(
  { env, resources, otherVariables = [] }: EnvironmentOptions,
  credentials: Config['credentials'] = {},
): { readonly settings: readonly string[]; readonly unknown: readonly UnknownVariable[] } {
  const settings = environmentSettings(resources).map(({ variable }) => variable);
  const keys = Object.values(credentials).flatMap((source) => ('env' in source ? [source.env] : []));
  const others = new Set([...otherVariables, ...keys]);
  const set = Object.keys(env)
    .filter((variable) => variable.startsWith(prefix) && env[variable] !== '' && !others.has(variable))
    .sort();
  // Names are compared without their common prefix, which would make all of them similar.
  const known = [...settings, ...otherVariables].map((variable) => variable.slice(prefix.length));
  const unknown = set.filter((variable) => !settings.includes(variable) && !serviceLink.test(variable));
  return {
    settings: set.filter((variable) => settings.includes(variable)),
    unknown: unknown.map((variable) => {
      const meant = suggest(variable.slice(prefix.length), known);
      const hint = meant === undefined ? '' : ` (did you mean ${prefix}${meant}?)`;
      return { problem: `${variable} is not a setting${hint}`, isMistyped: meant !== undefined };
    }),
  };
}

/** A problem without a place in a file. */
export function toProblem(message: string): Problem {
  return { path: '', message };
}
