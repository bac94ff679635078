/**
 * Loads the configuration from a file or, without one, from the environment, and answers with all of it or with every
 * problem at once, each with its place. It starts nothing and calls nothing.
 */
import { X509Certificate } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { apiNames, type Resource } from '../resources/resource.ts';
import { createCredentials } from '../secrets/credentials.ts';
import type { Config, CredentialSource } from './config.ts';
import { type Environment, readEnvironment, unusedVariables } from './environment.ts';
import { ConfigError, formatPath, formatProblem, type Path, type Place, type Problem } from './problems.ts';
import { readDocument } from './read.ts';
import { parseYaml, type Raw } from './yaml.ts';

export interface LoadOptions {
  /** The YAML file; without it the environment's own settings count. */
  readonly file?: string | undefined;
  readonly env: Environment;
  readonly resources: readonly Resource[];
}

export interface Loaded {
  readonly config: Config;
  /** What is odd but does no harm, one sentence each. */
  readonly warnings: readonly string[];
}

/** A document, wherever it came from. */
interface Document {
  readonly raw: Raw;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  readonly place: (path: Path) => Place;
  /** How a message refers to another value of the document. */
  readonly refer: (path: Path) => string;
  /** Where relative paths of key files begin. */
  readonly directory: string;
}

const maxFileBytes = 10 * 2 ** 20;

/** More are only counted. */
const maxProblems = 1000;

/** Loads and checks everything, keys included. Rejects with a `ConfigError` that holds all problems. */
export async function loadConfig({ file, env, resources }: LoadOptions): Promise<Loaded> {
  const document = file === undefined ? fromEnvironment(env, resources) : await fromFile(file);
  const problems: Problem[] = [...document.problems];
  const warnings: string[] = [...document.warnings];
  let omitted = 0;
  const report = (path: Path, message: string): void => {
    if (problems.length < maxProblems) problems.push({ ...document.place(path), message });
    else omitted++;
  };
  const warn = (path: Path, message: string): void => {
    warnings.push(formatProblem({ ...document.place(path), message }));
  };
  const { credentials, config } = readDocument(document.raw, resources, {
    report,
    warn,
    refer: document.refer,
    withLongForm: file !== undefined,
  });
  const sources = resolvePaths(credentials, document.directory);
  for (const { credential, severity, message } of await createCredentials(sources, env).check()) {
    (severity === 'error' ? report : warn)(['credentials', credential], message);
  }
  const apis = await resolveAuthorities(config.apis, document.directory, report);
  const unused = unusedVariables(env, resources, file !== undefined, credentials);
  warnings.push(...unused);
  if (problems.length > 0) {
    // Without a file what is missing may well be there under a mistyped name.
    const hints = file === undefined ? unused.map(toHint) : [];
    throw new ConfigError([...inOrder(problems), ...hints], omitted);
  }
  return { config: { ...config, credentials: sources, apis }, warnings };
}

function resolvePaths(
  credentials: Config['credentials'],
  directory: string,
): Readonly<Record<string, CredentialSource>> {
  const resolved = Object.entries(credentials).map(([name, source]): [string, CredentialSource] => [
    name,
    'file' in source ? { file: resolve(directory, source.file) } : source,
  ]);
  return Object.fromEntries(resolved);
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
    if (caFile === undefined) continue;
    const file = resolve(directory, caFile);
    const content = await readBytes(file);
    const authorities = typeof content === 'string' ? '' : content.toString('latin1');
    if (!isCertificates(authorities)) {
      report(['apis', api, 'ca_file'], `expected a file of certificates in PEM; ${file} is none`);
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

function toHint(message: string): Problem {
  return { file: undefined, line: undefined, column: undefined, path: '', message };
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

function fromEnvironment(env: Environment, resources: readonly Resource[]): Document {
  const document = readEnvironment(env, resources);
  const problems = document.problems.map(({ path, message }) => ({ ...document.place([]), path, message }));
  // Without any target the rest would only repeat that nothing is set.
  if (problems.some(({ path }) => path === '')) {
    throw new ConfigError([...problems, ...unusedVariables(env, resources, false, {}).map(toHint)]);
  }
  return {
    ...document,
    problems,
    refer: (path) => `element ${Number(path.at(-1)) + 1}`,
    directory: '.',
  };
}

async function fromFile(file: string): Promise<Document> {
  const nowhere = { file, line: undefined, column: undefined, path: '' };
  const content = await readBytes(file);
  if (typeof content === 'string') throw new ConfigError([{ ...nowhere, message: content }]);
  const text = decode(content);
  if (text === undefined) {
    throw new ConfigError([
      { ...nowhere, message: 'expected text in UTF-8; save the file in this encoding' },
    ]);
  }
  const { raw, problems, position } = parseYaml(text);
  const located = problems.map(({ path, line, column, message }) => ({
    file,
    line,
    column,
    path: formatPath(path),
    message,
  }));
  if (raw === null) {
    const empty = { ...nowhere, message: 'expected settings; the file holds none' };
    throw new ConfigError(located.length > 0 ? located : [empty]);
  }
  return {
    raw,
    problems: located,
    warnings: [],
    place: (path) => ({ file, path: formatPath(path), ...position(path) }),
    refer: (path) => `on line ${position(path).line}`,
    directory: dirname(resolve(file)),
  };
}

/** The content of the file, or why there is none. */
async function readBytes(file: string): Promise<Buffer | string> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY);
    if ((await handle.stat()).isDirectory()) return 'expected a configuration file; it is a directory';
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(2 ** 16), 0, 2 ** 16);
      if (bytesRead === 0) return Buffer.concat(chunks);
      size += bytesRead;
      if (size > maxFileBytes) return 'expected a configuration file of at most 10MiB; it is larger';
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'expected a configuration file; there is none';
    if (code === 'EACCES' || code === 'EPERM')
      return 'expected a configuration file; this process may not read it';
    return `expected a configuration file; it cannot be read (${code})`;
  } finally {
    await handle?.close();
  }
}

function decode(content: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    // UTF-16 can pass for UTF-8, but not without these.
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
