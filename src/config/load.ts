/**
 * Loads the configuration from a file, from plain data or from the environment. Reports all violations of the schema at once,
 * each with its place; if there are none, all contradictions between settings. Starts nothing and calls no API.
 */

import { apiNames } from '../resources/resource.ts';
import { Credentials } from '../secrets/credentials.ts';
import { nextTurn } from '../turns.ts';
import type { Config } from './config.ts';
import { type Document, fromFile, fromPlain, type Plain, readBytes } from './document.ts';
import {
  accountVariable,
  type EnvironmentOptions,
  fromEnvironment,
  ignoredText,
  ownVariables,
  toProblem,
} from './environment.ts';
import { type AddProblem, ConfigError, formatProblem, type Problem } from './problems.ts';
import { readConfig } from './read.ts';
import { loadPatternEngine } from './selector.ts';
import { readSettings } from './settings.ts';
import { isCertificates } from './values.ts';
import { isMapping, type Mapping } from './yaml.ts';

export interface LoadOptions extends EnvironmentOptions {
  /** Undefined, like `document`, if the environment variables are the configuration. */
  readonly file?: string | undefined;
  /** The configuration as plain data, in the form of the file. */
  readonly document?: { readonly [section: string]: Plain | undefined } | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Odd but harmless; one sentence each. */
  readonly warnings: readonly string[];
}

/** Loads and checks everything, keys included. Rejects with a `ConfigError` that holds the problems. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { env, resources } = options;
  const document = await open(options);
  const { raw, place } = document;
  const problems = [...document.problems];
  const report: AddProblem = (path, message) => void problems.push({ ...place(path), message });
  if (holdsPatterns(raw)) await loadPatternEngine();
  // In turns: at once, a file of all kinds stalls scrapes and polls for 70 ms at a reload.
  await nextTurn();
  if (hasDocument(options) && (env[accountVariable] ?? '') !== '')
    problems.push(
      toProblem(
        `expected no ${accountVariable} beside a configuration file, which names its credentials itself`,
      ),
    );
  const settings = await readSettings(raw, resources, report);
  await nextTurn();
  if (!settings || problems.length > 0) throw refusal(problems, options);
  const config = readConfig(settings, document, resources, report);
  const warnings: string[] = [];
  for (const { credential, severity, message } of await new Credentials(config.credentials, env).check()) {
    const path = ['credentials', credential];
    if (severity === 'error') report(path, message);
    else warnings.push(formatProblem({ ...place(path), message }));
  }
  const apis = await withAuthorities(config.apis, report);
  if (problems.length > 0) throw refusal(problems, options, config);
  const variables = ownVariables(options, config.credentials);
  const unread = hasDocument(options) ? variables.settings : [];
  return {
    config: { ...config, apis },
    warnings: [
      ...warnings,
      ...unread.map((name) => `${name} is ignored, because a configuration file is given`),
      ...variables.unknown.map(ignoredText),
    ],
  };
}

/** Without a file, a missing setting may be a mistyped variable, so the error lists those too. */
function refusal(problems: readonly Problem[], options: LoadOptions, config?: Config): ConfigError {
  const unknown = hasDocument(options) ? [] : ownVariables(options, config?.credentials).unknown;
  return new ConfigError([...inOrder(problems), ...unknown.map(ignoredText).map(toProblem)]);
}

function hasDocument({ file, document }: LoadOptions): boolean {
  return file !== undefined || document !== undefined;
}

function holdsPatterns(raw: Mapping): boolean {
  const sections = Object.values(raw).filter(isMapping);
  return sections.some((section) => ['include', 'exclude', 'parents'].some((key) => key in section));
}

async function open(options: LoadOptions): Promise<Document> {
  const { file, document } = options;
  if (file !== undefined) return await fromFile(file);
  return document === undefined ? fromEnvironment(options) : fromPlain(document);
}

/** The APIs with the certificates of their files. */
async function withAuthorities(apis: Config['apis'], report: AddProblem): Promise<Config['apis']> {
  const read = { ...apis };
  for (const api of apiNames) {
    const { caFile } = apis[api];
    if (caFile === undefined) continue;
    const content = await readBytes(caFile, `PEM certificates in ${caFile}`);
    const authorities = typeof content === 'string' ? '' : content.toString('latin1');
    if (typeof content === 'string') report(['apis', api, 'ca_file'], content);
    else if (!isCertificates(authorities))
      report(['apis', api, 'ca_file'], `expected PEM certificates in ${caFile}; it holds none`);
    read[api] = { ...apis[api], authorities };
  }
  return read;
}

/** By line, or without lines by path. */
function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) =>
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      (a.line === undefined ? a.path.localeCompare(b.path, 'en', { numeric: true }) : 0),
  );
}
