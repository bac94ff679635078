/**
 * Loads the configuration from a file, from plain data or from the environment, and answers with all of it or with every
 * problem at once, each with its place. It starts nothing and calls nothing.
 */
import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { loadPatternEngine } from '../discovery/selector.ts';
import { apiNames } from '../resources/resource.ts';
import { createCredentials } from '../secrets/credentials.ts';
import type { Config } from './config.ts';
import { type Document, fromFile, fromPlain, type Plain, readBytes } from './document.ts';
import {
  describeUnread,
  type EnvironmentOptions,
  fromEnvironment,
  toHint,
  unreadVariables,
} from './environment.ts';
import { ConfigError, formatProblem, type Path, type Problem } from './problems.ts';
import { readDocument } from './read.ts';
import type { Raw } from './yaml.ts';

export interface LoadOptions extends EnvironmentOptions {
  /** The YAML file; without it and without `document` the environment's own settings count. */
  readonly file?: string | undefined;
  /** The same as plain data: numbers and booleans may stand where the file would hold them. */
  readonly document?: { readonly [section: string]: Plain | undefined } | undefined;
}

export interface Loaded {
  readonly config: Config;
  /** Warnings: odd but harmless, one sentence each. */
  readonly warnings: readonly string[];
}

/** Loads and checks everything, keys included. Rejects with a `ConfigError` that holds all problems. */
export async function loadConfig(options: LoadOptions): Promise<Loaded> {
  const { env, resources } = options;
  const document = await open(options);
  const problems: Problem[] = [...document.problems];
  const warnings: string[] = [...document.warnings];
  const report = (path: Path, message: string): void => {
    problems.push({ ...document.place(path), message });
  };
  const warn = (path: Path, message: string): void => {
    warnings.push(formatProblem({ ...document.place(path), message }));
  };
  const { refer, withLongForm } = document;
  if (holdsPatterns(document.raw)) await loadPatternEngine();
  const config = readDocument(document.raw, resources, { report, warn, refer, withLongForm });
  const credentials = resolvePaths(config.credentials, document.directory);
  for (const { credential, severity, message } of await createCredentials(credentials, env).check()) {
    (severity === 'error' ? report : warn)(['credentials', credential], message);
  }
  const apis = await resolveAuthorities(config.apis, document.directory, report);
  const unread = unreadVariables(options, credentials, isGiven(options)).map(describeUnread);
  warnings.push(...unread);
  if (problems.length > 0) {
    // Without a file, what is missing may be there under a mistyped name.
    throw new ConfigError([...inOrder(problems), ...(isGiven(options) ? [] : unread.map(toHint))]);
  }
  return { config: { ...config, credentials, apis }, warnings };
}

/** Whether a section, or what it says of parents, selects by patterns. */
function holdsPatterns(raw: Raw, depth = 0): boolean {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw) || depth > 3) return false;
  const settings = Object.entries(raw as Readonly<Record<string, Raw>>);
  return settings.some(
    ([key, value]) => key === 'include' || key === 'exclude' || holdsPatterns(value, depth + 1),
  );
}

function isGiven({ file, document }: LoadOptions): boolean {
  return file !== undefined || document !== undefined;
}

async function open(options: LoadOptions): Promise<Document> {
  const { file, document } = options;
  if (file !== undefined) return await fromFile(file);
  return document === undefined ? fromEnvironment(options) : fromPlain(document);
}

function resolvePaths(credentials: Config['credentials'], directory: string): Config['credentials'] {
  const resolved = Object.entries(credentials).map(([name, source]) => [
    name,
    'file' in source ? { file: resolve(directory, source.file) } : source,
  ]);
  return Object.fromEntries(resolved) as Config['credentials'];
}

/** The APIs with whole paths to their certificates, which are looked at. */
async function resolveAuthorities(
  apis: Config['apis'],
  directory: string,
  report: (path: Path, message: string) => void,
): Promise<Config['apis']> {
  const resolved = { ...apis };
  for (const api of apiNames) {
    const { caFile } = apis[api];
    if (typeof caFile !== 'string') continue;
    const file = resolve(directory, caFile);
    const content = await readBytes(file);
    const authorities = typeof content === 'string' ? '' : content.toString('latin1');
    if (!isCertificates(authorities)) {
      report(['apis', api, 'ca_file'], `expected a file of PEM certificates; ${file} holds none`);
    }
    resolved[api] = { ...apis[api], caFile: file, authorities };
  }
  return resolved;
}

function isCertificates(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).fingerprint256 !== '');
  } catch {
    return false;
  }
}

/** By their lines; where there are none, by their paths or variables. */
function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) =>
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      (a.line === undefined ? a.path.localeCompare(b.path, 'en', { numeric: true }) : 0),
  );
}
