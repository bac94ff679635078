/**
 * The settings that the environment alone can give, for a sidecar or a first try: turned into the same document that a
 * file holds, so that the same schema checks them.
 */

import { apis } from '../api/apis.ts';
import { flagVariables } from '../cli/flags.ts';
import { type ApiName, apiNames, type Resource } from '../resources/resource.ts';
import { oneOf, suggest } from '../text.ts';
import type { Config } from './config.ts';
import type { Path, Place } from './problems.ts';
import { shortForms, takesAll } from './schema.ts';
import type { Raw } from './yaml.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Which key an API is asked with, and the variable that gives it (or, with `_FILE`, its file). */
const keys: Readonly<Record<ApiName, { readonly credential: string; readonly variable: string }>> = {
  application: { credential: 'account', variable: 'BUNNYNET_ACCESS_KEY' },
  shield: { credential: 'account', variable: 'BUNNYNET_ACCESS_KEY' },
  core: { credential: 'account', variable: 'BUNNYNET_ACCESS_KEY' },
  video: { credential: 'video', variable: 'BUNNYNET_VIDEO_ACCESS_KEY' },
};

export interface EnvironmentSetting {
  readonly variable: string;
  readonly help: string;
}

/** Every setting of the environment beside the flags', for the documentation. */
export function environmentSettings(resources: readonly Resource[]): readonly EnvironmentSetting[] {
  return [
    {
      variable: 'BUNNYNET_ACCESS_KEY',
      help: 'the key of the account, for the application, shield and core APIs',
    },
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

export interface EnvironmentDocument {
  readonly raw: Raw;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  readonly warnings: readonly string[];
  readonly place: (path: Path) => Place;
}

export function readEnvironment(env: Environment, resources: readonly Resource[]): EnvironmentDocument {
  const problems: { path: string; message: string }[] = [];
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
    const { credential, variable } = keys[resource.api];
    root[resource.section] = { credential, targets: targetsOf(list) };
    if (credential in credentials) continue;
    const file = env[`${variable}_FILE`]?.trim() ?? '';
    credentials[credential] = file === '' ? { env: variable } : { file };
    origins.push({
      path: ['credentials', credential],
      variable: file === '' ? variable : `${variable}_FILE`,
    });
    if (file !== '' && (env[variable] ?? '') !== '') {
      const message = `expected either ${variable} or ${variable}_FILE; both are set`;
      problems.push({ path: variable, message });
    }
  }
  const lists = oneOf(resources.map(({ environment }) => environment));
  if (Object.keys(root).length === 0) {
    const message = `expected a configuration file (--config.file=PATH), or a key in BUNNYNET_ACCESS_KEY and targets in ${lists}`;
    problems.push({
      path: '',
      message: `${message}; nothing says what to poll. To try it without an account: --demo`,
    });
  }
  const addresses: Record<string, Raw> = {};
  for (const api of apiNames) {
    const url = take(apis[api].urlVariable, ['apis', api, 'base_url']);
    if (url !== undefined) addresses[api] = { base_url: url };
  }
  return {
    raw: { credentials, apis: addresses, ...root },
    problems,
    warnings,
    place: (path) => {
      const origin = origins.find((candidate) => candidate.path.every((step, i) => step === path[i]));
      const index = path.find((step) => typeof step === 'number');
      const element = index === undefined ? '' : ` element ${index + 1}`;
      return {
        file: undefined,
        line: undefined,
        column: undefined,
        path: `${origin?.variable ?? ''}${element}`,
      };
    },
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

/** Warnings for variables that nobody reads: misspelt ones, and those that a configuration file puts out of force. */
export function unusedVariables(
  env: Environment,
  resources: readonly Resource[],
  fromFile: boolean,
  credentials: Config['credentials'],
): readonly string[] {
  const settings = environmentSettings(resources).map(({ variable }) => variable);
  const inFile = Object.values(credentials).flatMap((source) => ('env' in source ? [source.env] : []));
  const warnings: string[] = [];
  for (const variable of Object.keys(env).sort()) {
    if (!variable.startsWith(prefix) || env[variable] === '') continue;
    if (flagVariables.includes(variable) || inFile.includes(variable)) continue;
    if (settings.includes(variable)) {
      if (fromFile) warnings.push(`${variable} is ignored, because a configuration file is given`);
    } else if (!serviceLink.test(variable)) {
      const known = [...settings, ...flagVariables].map((name) => name.slice(prefix.length));
      const near = suggest(variable.slice(prefix.length), known);
      const meant = near === undefined ? '' : ` (did you mean ${prefix}${near}?)`;
      warnings.push(`${variable} is not a setting${meant}: it is ignored`);
    }
  }
  return warnings;
}
