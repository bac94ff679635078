/** Reads the web configuration file, in the format of Prometheus' exporter-toolkit. */
import { dirname, resolve } from 'node:path';
import { type AddProblem, ConfigError, type Path } from '../config/problems.ts';
import { unknownSetting } from '../config/values.ts';
import { parseYaml, type Raw } from '../config/yaml.ts';
import { isExposed } from '../files.ts';
import { readTls, type TlsSettings } from './tls-section.ts';
import { fileSchema, type WebSettings } from './web-config-schema.ts';

export interface WebConfig {
  readonly settings: WebSettings;
  /** Undefined for plain HTTP. */
  readonly tls?: TlsSettings | undefined;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** The bcrypt hash of each user's password. Empty if no password is required. */
  readonly users: ReadonlyMap<string, string>;
  /** What is valid, but unsafe. */
  readonly warning?: string | undefined;
}

/** Throws where the file cannot be read. */
type ReadText = (file: string) => string;

/**
 * Throws a `ConfigError`, whose message never holds a key or a hash.
 *
 * @param before the configuration in use: users and client certificates stay required unless the file says otherwise
 */
export function readWebConfig(file: string, readText: ReadText, before?: WebConfig): WebConfig {
  const yaml = parseYaml(readFile(file, readText), file);
  const problems = [...yaml.problems];
  const report: AddProblem = (path, message) => void problems.push({ ...yaml.place(path), message });
  const settings = readSettings(yaml.raw, report);
  const { tls_server_config: section, http_server_config: http, basic_auth_users: users } = settings;
  const tls = section && readTls(section, dirname(file), readText, report);
  const keyFile = section?.key ? file : section?.key_file && resolve(dirname(file), section.key_file);
  const config: WebConfig = {
    settings,
    tls,
    headers: http?.headers ?? [],
    users: users ?? new Map(),
    warning: keyFile && warningOf(keyFile),
  };
  if (before && problems.length === 0) reportLoosened(before, config, report);
  const hadSettings = Object.values(before?.settings ?? {}).some((value) => value !== undefined);
  if (problems.length === 0 && yaml.raw === null && hadSettings) report([], 'the file is empty');
  if (problems.length === 0) return config;
  throw new ConfigError(problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)));
}

function readFile(file: string, readText: ReadText): string {
  try {
    return readText(file);
  } catch (error) {
    const message = `cannot be read (${(error as NodeJS.ErrnoException).code}); check --web.config.file`;
    throw new ConfigError([{ file, path: '', message }]);
  }
}

/** All values are text to begin with: a user may be called `on`, and a hash is never a number. */
function readSettings(raw: Raw, report: AddProblem): WebSettings {
  const { data = {}, error } = fileSchema.safeParse(raw ?? {});
  for (const issue of error?.issues ?? []) {
    const path = issue.path as Path;
    if (issue.code !== 'unrecognized_keys') report(path, issue.message);
    else for (const key of issue.keys) report([...path, key], unknownSetting(key, issue.message.split(',')));
  }
  return data;
}

/**
 * A file that is empty or half written for a moment must let nobody in. So users and client certificates cease to be required
 * only if the file says so, and TLS is turned off only by a restart.
 */
function reportLoosened(before: WebConfig, now: WebConfig, report: AddProblem): void {
  if (before.users.size > 0 && !now.settings.basic_auth_users) {
    report(['basic_auth_users'], 'expected users; `basic_auth_users: {}` lets everybody in');
  }
  if (!now.tls !== !before.tls) {
    const change = now.tls ? 'on' : 'off';
    report(['tls_server_config'], `TLS cannot be turned ${change} while running; restart`);
  }
  const [was, is] = [before.settings.tls_server_config, now.settings.tls_server_config];
  if (!was?.client_auth_type || !is) return;
  if (!is.client_auth_type) {
    const message = 'expected a type as before; NoClientCert asks for no certificate';
    report(['tls_server_config', 'client_auth_type'], message);
    return;
  }
  // Another type is an explicit choice.
  if (is.client_auth_type !== was.client_auth_type) return;
  const requirements = [
    ['client_ca_file', 'authorities', was.client_ca ?? was.client_ca_file, is.client_ca ?? is.client_ca_file],
    ['client_allowed_sans', 'names', was.client_allowed_sans, is.client_allowed_sans],
  ] as const;
  for (const [setting, noun, required, given] of requirements) {
    if (required && !given) {
      report(['tls_server_config', setting], `expected ${noun} as before; restart to do without`);
    }
  }
}

function warningOf(keyFile: string): string | undefined {
  if (!isExposed(keyFile)) return undefined;
  return `every user of this machine can read the private key in ${keyFile}: restrict it with chmod o-r`;
}
