/**
 * Loads the configuration from a file, from plain data or from the environment. Reports all violations of the schema at once,
 * each with its place; if there are none, all contradictions between settings. Starts nothing and calls no API.
 */

import { isUtf8 } from 'node:buffer';
import { dirname, resolve } from 'node:path';
import type * as z from 'zod';
import { stateProblem } from '../counting/state-file.ts';
import { readStart } from '../files.ts';
import { apiNames, type Resource } from '../resources/resource.ts';
import { Credentials } from '../secrets/credentials.ts';
import { sameKeys } from '../secrets/same-keys.ts';
import { didYouMean, expectedOf, suggest, unreadable } from '../text.ts';
import { nextTurn } from '../turns.ts';
import type { Config, Plain } from './config.ts';
import {
  accountVariable,
  type EnvironmentOptions,
  fromEnvironment,
  ignoredText,
  ownVariables,
  toProblem,
} from './environment.ts';
import {
  type AddProblem,
  ConfigError,
  formatPath,
  formatProblem,
  type Path,
  type Problem,
} from './problems.ts';
import { odditiesOf, readConfig } from './read.ts';
import { frameSchema, type Settings, sectionSchema } from './schema.ts';
import { loadPatternEngine } from './selector.ts';
import { gotText, isCertificates, unknownSetting } from './values.ts';
import { type Document, isMapping, type Mapping, parseYaml } from './yaml.ts';

export interface LoadOptions extends EnvironmentOptions {
  /** Undefined, like `document`, if the environment variables are the configuration. */
  readonly file?: string | undefined;
  /** The configuration as plain data, in the form of the file. */
  readonly document?: { readonly [section: string]: Plain | undefined } | undefined;
  /**
   * Set where the configuration is only checked: what a start would tell and go on with is a problem, too. stateFile: that of the flag,
   * which comes before that of the configuration.
   */
  readonly check?: { readonly stateFile: string | undefined } | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** What is odd but harmless, in one sentence each. */
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
  // The work is done in turns: in one, a file of all kinds would hold up scrapes and polls for 70 ms at a reload.
  await nextTurn();
  const settings = await readSettings(raw, resources, report);
  await nextTurn();
  if (!settings || problems.length > 0) throw refusal(problems, options);
  const config = readConfig(settings, document, resources, report);
  const warnings: string[] = [];
  const credentials = new Credentials(config.credentials, env);
  for (const { credential, severity, message } of await credentials.check()) {
    const path = ['credentials', credential];
    if (severity === 'error') report(path, message);
    else warnings.push(formatProblem({ ...place(path), message }));
  }
  const apis = await withAuthorities(config.apis, report);
  if (options.check)
    problems.push(...(await problemsBeyondStart(config, credentials, options.check.stateFile, place)));
  if (problems.length > 0) throw refusal(problems, options, config);
  for (const { path, message } of odditiesOf(config, resources))
    warnings.push(formatProblem({ ...place(path), message }));
  const variables = ownVariables(options, config.credentials);
  // The systemd unit names each instance, also one that has a file.
  const unread = hasDocument(options) ? variables.settings.filter((name) => name !== accountVariable) : [];
  return {
    config: { ...config, apis },
    warnings: [
      ...warnings,
      ...unread.map((name) => `${name} is ignored, because a configuration file is given`),
      ...variables.unknown.map(ignoredText),
    ],
  };
}

/** What the configuration alone does not say: most of it ends no start, as the exporter reads the rest, or counts without keeping it. */
async function problemsBeyondStart(
  { accounts, state }: Config,
  credentials: Credentials,
  stateFile: string | undefined,
  place: Document['place'],
): Promise<readonly Problem[]> {
  const keys = await credentials.readAll();
  const ofKeys = sameKeys(accounts, (name) => keys.get(name)).map(({ account, other }) => ({
    ...place(['credentials', account]),
    message: `expected another key than that of ${other} (${credentials.describe(other)}); it is the same, and a key is of one account`,
  }));
  const file = stateFile ?? state.file;
  const problem = file && (await stateProblem(file));
  if (!problem) return ofKeys;
  const where = stateFile === undefined ? place(['state', 'file']) : { path: '--state.file' };
  return [...ofKeys, { ...where, message: `expected a file that can be written; ${problem}` }];
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

/** Plain data of the same form as the file. Numbers and booleans become text, as in a file. */
function fromPlain(document: { readonly [section: string]: Plain | undefined }): Document {
  const toText = (_: string, value: unknown) =>
    typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return {
    raw: JSON.parse(JSON.stringify(document), toText) as Mapping,
    place: (path) => ({ path: formatPath(path) }),
    directory: '.',
    problems: [],
  };
}

/** Rejects with a `ConfigError` if the file cannot be read or does not hold settings. */
async function fromFile(file: string): Promise<Document> {
  const content = await readBytes(file);
  if (typeof content === 'string') throw new ConfigError([{ file, path: '', message: content }]);
  // UTF-16 can pass for UTF-8, but has zero bytes.
  if (!isUtf8(content) || content.includes(0)) {
    const message = 'expected text in UTF-8; save the file in this encoding';
    throw new ConfigError([{ file, path: '', message }]);
  }
  const { raw, problems, place } = parseYaml(content.toString(), file);
  if (isMapping(raw)) return { raw, place, directory: dirname(resolve(file)), problems };
  const message = `expected a mapping of settings; ${gotText(raw)}`;
  throw new ConfigError(problems.length > 0 ? problems : [{ ...place([]), message }]);
}

const maxFileBytes = 10 * 2 ** 20;

/** The content of the file, or a text that says why it cannot be used. what: what the file should be, for that text. */
async function readBytes(file: string, what = 'a configuration file'): Promise<Buffer | string> {
  try {
    const content = await readStart(file, maxFileBytes + 1);
    if (content.length <= maxFileBytes) return content;
    return `expected ${what} of at most 10MiB; it is larger`;
  } catch (error) {
    return `expected ${what}; ${unreadable(error)}`;
  }
}

/** Parses a document with the schemas. Reports every violation, in our own words; undefined if there is one. */
async function readSettings(
  raw: Mapping,
  resources: readonly Resource[],
  report: AddProblem,
): Promise<Settings | undefined> {
  const issues: z.core.$ZodIssue[] = [];
  const parse = (schema: z.ZodType, path: Path, part: unknown) => {
    // Zod would compile a schema before it is used, which takes longer than to read a part with it once.
    const { data, error } = schema.safeParse(part, { reportInput: true, jitless: true });
    for (const issue of error?.issues ?? []) issues.push(...withoutUnions(issue, path));
    return data;
  };
  const settings = { ...(parse(frameSchema(resources), [], raw) as object) } as Record<string, unknown>;
  for (const resource of resources) {
    const { section } = resource;
    if (raw[section] === undefined) continue;
    await nextTurn();
    settings[section] = parse(sectionSchema(resource), [section], raw[section]);
  }
  const misspelt = issues.flatMap(meantSettings);
  for (const issue of issues) {
    const path = issue.path as Path;
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys)
        report(
          [...path, key],
          absentSettings[formatPath([...path, key])] ?? unknownSetting(key, knownSettings(issue)),
        );
    } else if (!misspelt.some((meant) => isMissing(issue, meant))) {
      // The setting that a misspelt one was meant for is missing as well: one problem is enough.
      report(path, messageOf(issue));
    }
  }
  return issues.length === 0 ? (settings as unknown as Settings) : undefined;
}

/** What one may look for, and why there is none. */
const absentSettings: Readonly<Record<string, string>> = {
  'discovery.include':
    'unknown setting; there is none for every kind, since each has names of its own: with `targets: all`, a section has its own `include`',
};

/** The schema lists the settings that it knows in its message. */
function knownSettings({ message }: z.core.$ZodIssue): readonly string[] {
  return message.split(',');
}

/** The paths of the settings that unknown ones were probably meant for. */
function meantSettings(issue: z.core.$ZodIssue): readonly Path[] {
  if (issue.code !== 'unrecognized_keys') return [];
  return issue.keys.flatMap((key) => {
    const meant = suggest(key, knownSettings(issue));
    return meant === undefined ? [] : [[...(issue.path as Path), meant]];
  });
}

/** Whether the issue says that this setting is missing, or that its mapping lacks one of several, which it is one of. */
function isMissing({ code, input, path }: z.core.$ZodIssue, setting: Path): boolean {
  const isAt = (place: Path) => path.join('\n') === place.join('\n');
  return input === undefined ? isAt(setting) : code === 'custom' && isAt(setting.slice(0, -1));
}

/** Replaces the issue of a union by those of the alternative of the input's type, of which there is at most one. */
function withoutUnions(issue: z.core.$ZodIssue, above: Path = []): readonly z.core.$ZodIssue[] {
  const path = [...above, ...(issue.path as Path)];
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((form) => !form.some(isOfOtherType));
    if (meant !== undefined) return meant.flatMap((inner) => withoutUnions(inner, path));
  }
  return [{ ...issue, path }];
}

/** Whether the issue says that the input is of another type than the alternative. */
function isOfOtherType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** The message of an issue. It quotes no text where someone may have put a key by mistake. */
function messageOf(issue: z.core.$ZodIssue): string {
  const { message, input, path } = issue;
  if (issue.code === 'custom' && issue.params?.['quiet'] === true) return message;
  if (typeof input === 'string' && path[0] === 'credentials') return message;
  const word = typeof input === 'string' ? input : '';
  const values = wordsOf(issue);
  const expected = issue.code === 'invalid_value' ? `expected ${expectedOf(word, values)}` : message;
  return `${expected}; ${gotText(input)}${didYouMean(word, values)}`;
}

/** The words that the setting, or an alternative of it, can be. */
function wordsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(wordsOf) : [];
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

/** Problems are in the order of their lines, or without lines of their paths. */
function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) =>
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      (a.line === undefined ? a.path.localeCompare(b.path, 'en', { numeric: true }) : 0),
  );
}
