/**
 * The settings that the environment alone can give, for a sidecar or a first try: turned into the same document that a
 * file holds, so that the same schema checks them.
 */
import { apis } from '../api/apis.ts';
import { type ApiName, apiNames, type Resource } from '../resources/resource.ts';
import { oneOf, suggest } from '../text.ts';
import type { Config } from './config.ts';
import { type Document, nowhere } from './document.ts';
import type { LoadOptions } from './load.ts';
import { ConfigError, type Path, type Problem } from './problems.ts';
import { shortForms, takesAll } from './schema.ts';
import type { Raw } from './yaml.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The credential that an API is asked with, and the variable that gives its key (or, with `_FILE`, the key's file). */
function keyOf(api: ApiName): { readonly credential: string; readonly variable: string } {
  return api === 'video'
    ? { credential: 'video', variable: 'BUNNYNET_VIDEO_ACCESS_KEY' }
    : { credential: 'account', variable: 'BUNNYNET_ACCESS_KEY' };
}

export interface EnvironmentSetting {
  readonly variable: string;
  readonly help: string;
}

/** Every setting of the environment beside the flags', for the documentation. */
export function environmentSettings(resources: readonly Resource[]): readonly EnvironmentSetting[] {
  return [
    { variable: 'BUNNYNET_ACCESS_KEY', help: 'the key of the account, for every API but video' },
    { variable: 'BUNNYNET_ACCESS_KEY_FILE', help: 'the file that holds it' },
    { variable: 'BUNNYNET_VIDEO_ACCESS_KEY', help: 'the key of the video library' },
    { variable: 'BUNNYNET_VIDEO_ACCESS_KEY_FILE', help: 'the file that holds it' },
    ...resources.map((resource) => ({
      variable: resource.environment,
      help: `${takesAll(resource) ? 'all, or ' : ''}a list of ${shortForms(resource)}, separated by commas`,
    })),
    ...apiNames.map((api) => ({ variable: apis[api].urlVariable, help: `the address of the ${api} API` })),
  ];
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

  const root: Record<string, Raw> = {};
  const credentials: Record<string, Raw> = {};
  for (const resource of resources) {
    const list = take(resource.environment, [resource.section]);
    if (list === undefined) continue;
    const { credential, variable } = keyOf(resource.api);
    root[resource.section] = { credential, targets: targetsOf(list) };
    if (credential in credentials) continue;
    const file = env[`${variable}_FILE`]?.trim() ?? '';
    const variableInUse = file === '' ? variable : `${variable}_FILE`;
    credentials[credential] = file === '' ? { env: variable } : { file };
    origins.push({ path: ['credentials', credential], variable: variableInUse });
    if (file !== '' && (env[variable] ?? '') !== '') {
      const message = `expected either ${variable} or ${variable}_FILE; both are set`;
      problems.push({ ...nowhere, path: variable, message });
    }
  }
  if (Object.keys(root).length === 0) {
    const lists = oneOf(resources.map(({ environment }) => environment));
    const message = `expected a configuration file (--config.file=PATH), or a key in BUNNYNET_ACCESS_KEY and targets in ${lists}`;
    const advice = `${message}; nothing says what to poll. To try it without an account: --demo`;
    throw new ConfigError([{ ...nowhere, message: advice }, ...hints()]);
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
