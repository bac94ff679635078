/**
 * The settings that the environment alone can give, for a sidecar or a first try: turned into the same document that a
 * file holds, so that the same schema checks them.
 */
import { apis } from '../api/apis.ts';
import { apiNames, type Resource } from '../resources/resource.ts';
import { suggest } from '../text.ts';
import type { Config } from './config.ts';
import { type Document, nowhere } from './document.ts';
import type { LoadOptions } from './load.ts';
import { ConfigError, type Path, type Problem } from './problems.ts';
import { isOfAccount, shortForms, takesAll } from './schema.ts';
import type { Raw } from './yaml.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that gives a credential's key, or, with `_FILE`, the key's file. */
const keyVariables = { account: 'BUNNYNET_ACCESS_KEY', video: 'BUNNYNET_VIDEO_ACCESS_KEY' } as const;
type CredentialName = keyof typeof keyVariables;

/** Off until its variable is set: it costs a request for each video. */
const costlyKinds: readonly string[] = ['video_storage'];

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

/** Throws a `ConfigError`, with the hints, where nothing says what to poll: the rest would only repeat that. */
export function fromEnvironment(
  env: Environment,
  resources: readonly Resource[],
  hints: () => readonly Problem[],
): Document {
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
    if (!hasKey('account')) {
      const message =
        'expected the key of the account: set BUNNYNET_ACCESS_KEY (or BUNNYNET_ACCESS_KEY_FILE), ' +
        'or give a configuration file (--config.file=PATH). To try it without an account: --demo';
      throw new ConfigError([{ ...nowhere, message }, ...hints()]);
    }
    // Who mistyped what was to narrow it does not want everything.
    const mistyped = hints().filter(({ message }) => message.includes('(did you mean'));
    if (mistyped.length > 0) {
      const advice = ': correct or remove it, for without a variable of a kind everything is polled';
      const problems = mistyped.map((one) => ({
        ...one,
        message: one.message.replace(/: it is ignored$/, advice),
      }));
      throw new ConfigError(problems);
    }
    for (const resource of resources) {
      if (takesAll(resource) && !costlyKinds.includes(resource.kind)) turnOn(resource, 'all');
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

/** Warnings for variables that nobody reads: misspelt ones, and those that a file or plain data replaces. */
export function unusedVariables(
  { env, resources, file, document, otherVariables = [] }: LoadOptions,
  credentials: Config['credentials'],
): readonly string[] {
  const settings = environmentSettings(resources).map(({ variable }) => variable);
  const named = Object.values(credentials).flatMap((source) => ('env' in source ? [source.env] : []));
  const warnings: string[] = [];
  for (const variable of Object.keys(env).sort()) {
    if (!variable.startsWith(prefix) || env[variable] === '') continue;
    if (otherVariables.includes(variable) || named.includes(variable)) continue;
    if (settings.includes(variable)) {
      if ((file ?? document) !== undefined)
        warnings.push(`${variable} is ignored, because a configuration file is given`);
    } else if (!serviceLink.test(variable)) {
      const known = [...settings, ...otherVariables].map((name) => name.slice(prefix.length));
      const near = suggest(variable.slice(prefix.length), known);
      const meant = near === undefined ? '' : ` (did you mean ${prefix}${near}?)`;
      warnings.push(`${variable} is not a setting${meant}: it is ignored`);
    }
  }
  return warnings;
}
