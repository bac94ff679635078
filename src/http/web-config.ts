/** The web configuration file, in the format of Prometheus' exporter-toolkit, as what the server works with. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, formatPath, type Problem } from '../config/problems.ts';
import { parseYaml } from '../config/yaml.ts';
import { isExposed } from '../files.ts';
import { readTls, type TlsSettings } from './tls-section.ts';
import { fileSchema, type Report, type TlsSection } from './web-config-schema.ts';

export interface RateLimit {
  /** In which one more request is allowed. */
  readonly intervalMs: number;
  /** The most requests that may be saved up. */
  readonly burst: number;
}

export interface WebConfig {
  /** Plain HTTP without it. */
  readonly tls?: TlsSettings | undefined;
  /** What `tls` was made of. */
  readonly tlsSection?: TlsSection | undefined;
  readonly headers: ReadonlyMap<string, string>;
  /** The bcrypt hash of each user's password; nobody is asked for one where it is empty. */
  readonly users: ReadonlyMap<string, string>;
  readonly rateLimit?: RateLimit | undefined;
  /** The file that holds the private key, the web configuration itself where it is written there. */
  readonly keyFile?: string | undefined;
  /** What it was read from: the file itself, certificates, keys. */
  readonly files: readonly string[];
}

/** The web configuration cannot be used. Its message never holds a key or a hash. */
export class WebConfigError extends ConfigError {
  /** What was read, or was to be read: a change of one of these may make it valid. */
  readonly files: readonly string[];

  constructor(problems: readonly Problem[], files: readonly string[]) {
    super(problems);
    this.files = files;
  }
}

/** Reads and checks the file and all that it names, and looks for what is unsafe; rejects with a {@link WebConfigError}. */
export async function loadWebConfig(
  file: string,
): Promise<WebConfig & { readonly warnings: readonly string[] }> {
  const config = readWebConfig(file);
  return { ...config, warnings: await warningsOf(config) };
}

/** What is unsafe though valid, one sentence each. */
export async function warningsOf({ keyFile }: WebConfig): Promise<readonly string[]> {
  if (keyFile === undefined || !(await isExposed(keyFile).catch(() => false))) return [];
  return [`every user of this machine can read the private key in ${keyFile}: chmod o-r takes that away`];
}

/**
 * Throws a {@link WebConfigError}.
 *
 * @param before the one in use, when the file is read again: what keeps strangers out stays unless the file says otherwise
 */
export function readWebConfig(file: string, before?: WebConfig): WebConfig {
  const files = [file];
  const yaml = parseYaml(readText(file));
  const problems: Problem[] = [];
  const report: Report = (path, message) => {
    problems.push({ file, ...yaml.position(path), path: formatPath(path), message });
  };
  const check = () => {
    problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    if (problems.length > 0) throw new WebConfigError(problems, files);
  };

  for (const problem of yaml.problems) problems.push({ ...problem, file, path: formatPath(problem.path) });
  const settings = parseSettings(yaml.raw, report);
  check();
  const { tls_server_config: section, http_server_config: http, rate_limit: rate } = settings ?? {};
  const users = settings?.basic_auth_users;
  const tls = section && readTls(section, dirname(file), files, report);
  check();
  const config: WebConfig = {
    tls,
    tlsSection: section,
    // A header that is set to nothing is not sent.
    headers: new Map([...(http?.headers ?? [])].filter(([, value]) => value !== '')),
    users: users ?? new Map(),
    rateLimit: rate && rate.interval > 0 ? { intervalMs: rate.interval, burst: rate.burst } : undefined,
    keyFile: section?.key ? file : section?.key_file && resolve(dirname(file), section.key_file),
    files,
  };
  if (before) {
    reportOpened(before, config, users !== undefined, report);
    if (problems.length === 0 && yaml.raw === null && !isEmpty(before)) report([], 'the file is empty');
  }
  check();
  return config;
}

/**
 * A file that is empty or half written for a moment must let nobody in. So users and client certificates go only where the file
 * says so, and TLS with a restart.
 */
function reportOpened(before: WebConfig, now: WebConfig, saysUsers: boolean, reportAt: Report): void {
  const reportTls = (setting: string, message: string) => reportAt(['tls_server_config', setting], message);
  if (before.users.size > 0 && !saysUsers) {
    reportAt(['basic_auth_users'], 'expected users; `basic_auth_users: {}` lets everybody in');
  }
  if ((now.tls === undefined) !== (before.tls === undefined)) {
    const change = now.tls ? 'on' : 'off';
    reportAt(['tls_server_config'], `TLS cannot be turned ${change} while running; restart`);
  }
  const [was, is] = [before.tlsSection, now.tlsSection];
  if (!was || !is || !was.client_auth_type) return;
  if (!is.client_auth_type) {
    const message = `expected ${was.client_auth_type} as before, or another type`;
    reportTls('client_auth_type', `${message}; NoClientCert asks for no certificate`);
  } else if (is.client_auth_type === was.client_auth_type) {
    const hadAuthority = was.client_ca ?? was.client_ca_file;
    if (hadAuthority && !(is.client_ca ?? is.client_ca_file)) {
      reportTls('client_ca_file', 'expected authorities as before; restart to do without');
    }
    if (was.client_allowed_sans && !is.client_allowed_sans) {
      reportTls('client_allowed_sans', 'expected names as before; restart to allow all');
    }
  }
}

function isEmpty({ tls, users, headers, rateLimit }: WebConfig): boolean {
  return !tls && !rateLimit && users.size + headers.size === 0;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const message = `cannot be read (${(error as NodeJS.ErrnoException).code}); check --web.config.file`;
    throw new WebConfigError([{ file, line: undefined, column: undefined, path: '', message }], [file]);
  }
}

/** All values are text to begin with: a user may be called `on`, and a hash is never a number. */
function parseSettings(raw: unknown, report: Report) {
  const parsed = fileSchema.safeParse(raw ?? {});
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    if (issue.code !== 'unrecognized_keys') report(path, issue.message);
    else for (const key of issue.keys) report([...path, key], issue.message);
  }
  return parsed.data;
}
