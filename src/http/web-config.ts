/**
 * The web configuration file: TLS, users, headers and rate limit, in the format of Prometheus' exporter-toolkit. It turns
 * the file, and the certificates that it names, into what the server works with; it knows nothing of sockets.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { validateHeaderValue } from 'node:http';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { ConfigError, formatPath, type Path, type Problem } from '../config/problems.ts';
import { parseYaml } from '../config/yaml.ts';
import { isExposed } from '../secrets/file-permissions.ts';
import {
  cipherNames,
  clientAuthTypes,
  createTlsSettings,
  curveNames,
  http2Ciphers,
  type TlsSettings,
  tlsVersions,
} from './tls.ts';

export interface RateLimit {
  /** In which one more request is allowed. */
  readonly intervalMs: number;
  /** The most requests that may be saved up. */
  readonly burst: number;
}

export interface WebConfig {
  /** Plain HTTP without it. */
  readonly tls: TlsSettings | undefined;
  readonly http2: boolean;
  readonly headers: ReadonlyMap<string, string>;
  /** The bcrypt hash of each user's password; none means that nobody is asked. */
  readonly users: ReadonlyMap<string, string>;
  readonly rateLimit: RateLimit | undefined;
  /** What it was read from: the file itself, certificates, keys. */
  readonly files: readonly string[];
  /** What is odd but does no harm by itself, one sentence each. */
  readonly warnings: readonly string[];
}

/** The web configuration cannot be used. Its message never holds a key or a hash. */
export class WebConfigError extends ConfigError {
  /** What was read, or was to be read: a change of one may mend it. */
  readonly files: readonly string[];

  constructor(problems: readonly Problem[], files: readonly string[]) {
    super(problems);
    this.files = files;
  }
}

/** Notes a problem at the place of a path. */
type Report = (path: Path, message: string) => void;

const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** As Go reads a duration in YAML: numbers with units, or a bare integer of nanoseconds. */
const durationMs = z
  .string('expected a duration such as 100ms')
  .regex(/^(\d+|((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$/, 'expected a duration such as 100ms')
  .transform((given) => {
    if (/^\d+$/.test(given)) return Number(given) * 1e-6;
    let totalMs = 0;
    for (const [, number, unit = ''] of given.matchAll(/([\d.]+)([a-zµ]+)/g)) {
      totalMs += Number(number) * (unitsMs[unit] ?? 0);
    }
    return totalMs;
  });

/** The words of YAML 1.1, which the toolkit's parser reads. */
const bool = z
  .string('expected true or false')
  .regex(/^(true|false|yes|no|on|off|y|n)$/i, 'expected true or false')
  .transform((word) => /^[tyo][^f]*$/i.test(word));

function oneOf<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.enum(names, `expected one of ${names.join(', ')}`);
}

/** Where text is wanted, none and an empty one mean that the setting is absent. */
const text = z
  .string('expected text')
  .nullish()
  .transform((given) => given || undefined);
const list = <Item extends z.ZodType>(item: Item) => z.array(item, 'expected a list').nullish();

const headerValues: Readonly<Record<string, readonly string[] | undefined>> = {
  'Content-Security-Policy': undefined,
  'Strict-Transport-Security': undefined,
  'X-Content-Type-Options': ['nosniff'],
  'X-Frame-Options': ['deny', 'sameorigin'],
  'X-XSS-Protection': undefined,
};

/** Names that the file gives freely, and what stands for each. zod's record would lose one that is called `__proto__`. */
function named<Value extends z.ZodType>(value: Value, expected: string) {
  const entries = (given: unknown) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? new Map(Object.entries(given))
      : given;
  return z.preprocess(entries, z.map(z.string(), value, expected));
}

const headers = named(z.string('expected text'), 'expected headers and their values').superRefine(
  (given, context) => {
    for (const [name, value] of given) {
      const report = (message: string) => context.addIssue({ code: 'custom', path: [name], message });
      const values = headerValues[name];
      if (!Object.hasOwn(headerValues, name)) {
        report(`this header cannot be set; expected one of ${Object.keys(headerValues).join(', ')}`);
      } else if (values && !values.includes(value)) {
        report(`expected ${values.join(' or ')}`);
      } else {
        try {
          validateHeaderValue(name, value);
        } catch {
          report('holds characters that no header may have');
        }
      }
    }
  },
);

const bcryptHash = z
  .string('expected a bcrypt hash')
  .regex(
    /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/,
    "expected a bcrypt hash ($2y$…), as `htpasswd -nBC 10 ''` makes one",
  );

const tlsShape = {
  cert: text,
  cert_file: text,
  key: text,
  key_file: text,
  client_ca: text,
  client_ca_file: text,
  client_auth_type: z
    .enum(['', 'RequireClientCert', ...clientAuthTypes], `expected one of ${clientAuthTypes.join(', ')}`)
    .nullish(),
  client_allowed_sans: list(z.string('expected text')),
  min_version: oneOf(tlsVersions).nullish(),
  max_version: oneOf(tlsVersions).nullish(),
  cipher_suites: list(z.enum(cipherNames, `expected one of ${cipherNames.join(', ')}`)),
  curve_preferences: list(z.enum(curveNames, `expected one of ${curveNames.join(', ')}`)),
  prefer_server_cipher_suites: bool.optional(),
};
const httpShape = { http2: bool.optional(), headers: headers.nullish() };
const rateShape = {
  interval: durationMs,
  burst: z
    .string('expected a number')
    .regex(/^\d{1,9}$/, 'expected a number, 0 or more')
    .transform(Number)
    .optional(),
};
const fileShape = {
  tls_server_config: z.strictObject(tlsShape, 'expected settings').nullish(),
  http_server_config: z.strictObject(httpShape, 'expected settings').nullish(),
  basic_auth_users: named(bcryptHash, 'expected users and their bcrypt hashes').nullish(),
  rate_limit: z.strictObject(rateShape, 'expected settings').nullish(),
};
const fileSchema = z.strictObject(fileShape, 'expected settings');
type Section = NonNullable<z.output<typeof fileSchema>['tls_server_config']>;

/** What may stand in each section, for who mistyped a setting. */
const settingsOf: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(fileShape),
  tls_server_config: Object.keys(tlsShape),
  http_server_config: Object.keys(httpShape),
  rate_limit: Object.keys(rateShape),
};

/** Reads and checks the file and everything that it names; rejects with a {@link WebConfigError}. */
export async function loadWebConfig(file: string): Promise<WebConfig> {
  const files = [file];
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const message = `cannot be read (${error.code}); check --web.config.file`;
    throw new WebConfigError([{ file, line: undefined, column: undefined, path: '', message }], files);
  });

  // All values are text: a user may be called `on`, and a hash is never a number.
  const yaml = parseYaml(content);
  const problems: Problem[] = yaml.problems.map((problem) => ({
    ...problem,
    file,
    path: formatPath(problem.path),
  }));
  const report: Report = (path, message) => {
    problems.push({ file, ...yaml.position(path), path: formatPath(path), message });
  };
  const refuse = () =>
    new WebConfigError(
      problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
      files,
    );

  const parsed = fileSchema.safeParse(yaml.raw ?? {});
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    if (issue.code === 'unrecognized_keys') {
      const known = settingsOf[path.join('.')]?.join(', ');
      for (const key of issue.keys) report([...path, key], `unknown setting; expected one of ${known}`);
    } else {
      report(path, issue.message);
    }
  }
  if (!parsed.success || problems.length > 0) throw refuse();

  const { tls_server_config: section, http_server_config: http, rate_limit: rate } = parsed.data;
  const http2 = http?.http2 ?? true;
  const tls = section ? await readTls(section, http2, dirname(file), files, report) : undefined;
  if (problems.length > 0) throw refuse();
  const keyFile = section?.key ? file : section?.key_file && resolve(dirname(file), section.key_file);
  const isKeyExposed = keyFile ? await isExposed(keyFile).catch(() => false) : false;
  return {
    warnings: isKeyExposed
      ? [`every user of this machine can read the private key in ${keyFile}: chmod o-r takes that away`]
      : [],
    tls,
    http2,
    // A blank one is not sent.
    headers: new Map([...(http?.headers ?? [])].filter(([, value]) => value !== '')),
    users: parsed.data.basic_auth_users ?? new Map(),
    rateLimit: rate && rate.interval > 0 ? { intervalMs: rate.interval, burst: rate.burst ?? 0 } : undefined,
    files,
  };
}

async function readTls(
  section: Section,
  http2: boolean,
  directory: string,
  files: string[],
  reportAt: Report,
): Promise<TlsSettings | undefined> {
  const at = (setting: string) => (setting === '' ? ['tls_server_config'] : ['tls_server_config', setting]);
  let sound = true;
  const report = (setting: string, message: string) => {
    sound = false;
    reportAt(at(setting), message);
  };
  const given = Object.values(section).some((value) => value !== undefined && value !== null && value !== '');
  if (!given) return undefined;

  /** The text of a setting, or of the file that its other form names. */
  async function pem(
    setting: 'cert' | 'key' | 'client_ca',
  ): Promise<{ text: string; setting: string } | undefined> {
    const inline = section[setting];
    const named = section[`${setting}_file`];
    if (named === undefined) return inline === undefined ? undefined : { text: inline, setting };
    if (inline !== undefined) report(setting, `expected one of ${setting} and ${setting}_file, not both`);
    const path = resolve(directory, named);
    files.push(path);
    try {
      return { text: await readFile(path, 'utf8'), setting: `${setting}_file` };
    } catch (error) {
      report(`${setting}_file`, `cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  }

  const cert = await pem('cert');
  const key = await pem('key');
  const clientCa = await pem('client_ca');
  for (const setting of ['cert', 'key'] as const) {
    if (section[setting] === undefined && section[`${setting}_file`] === undefined) {
      report('', `TLS needs ${setting} or ${setting}_file`);
    }
  }

  const leaf = cert && attempt(() => new X509Certificate(cert.text));
  if (cert && !leaf) report(cert.setting, 'expected a certificate in PEM');
  const privateKey = key && attempt(() => createPrivateKey(key.text));
  if (key && !privateKey) report(key.setting, 'expected a private key in PEM, without a passphrase');
  if (key && leaf && privateKey && !leaf.checkPrivateKey(privateKey)) {
    report(key.setting, 'this key does not belong to the certificate');
  }
  if (clientCa) {
    const blocks = clientCa.text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0 || !blocks.every((block) => attempt(() => new X509Certificate(block)))) {
      report(clientCa.setting, 'expected certificates in PEM');
    }
  }

  const clientAuth =
    section.client_auth_type === 'RequireClientCert'
      ? 'RequireAnyClientCert' // Its name in old versions of the toolkit.
      : section.client_auth_type || 'NoClientCert';
  if (clientCa && clientAuth === 'NoClientCert') {
    report(clientCa.setting, 'an authority for clients needs a client_auth_type that asks for certificates');
  }
  if (
    section.client_allowed_sans &&
    !['RequireAnyClientCert', 'RequireAndVerifyClientCert'].includes(clientAuth)
  ) {
    report(
      'client_allowed_sans',
      'needs a client_auth_type of RequireAnyClientCert or RequireAndVerifyClientCert: no name is checked without a certificate',
    );
  }
  const minVersion = section.min_version ?? 'TLS12';
  const maxVersion = section.max_version ?? 'TLS13';
  if (minVersion > maxVersion) report('max_version', `expected at least min_version, ${minVersion}`);
  const cipherSuites = section.cipher_suites ?? [];
  if (
    http2 &&
    minVersion !== 'TLS13' &&
    cipherSuites.length > 0 &&
    !cipherSuites.some((name) => http2Ciphers.includes(name))
  ) {
    report(
      'cipher_suites',
      `HTTP/2 needs ${http2Ciphers.join(' or ')}; add one, or set http_server_config.http2: false`,
    );
  }
  if (!sound || !cert || !key) return undefined;

  const settings = createTlsSettings({
    cert: cert.text,
    key: key.text,
    clientCa: clientCa?.text,
    clientAuth,
    clientAllowedSans: section.client_allowed_sans ?? undefined,
    minVersion,
    maxVersion,
    cipherSuites,
    preferServerCipherSuites: section.prefer_server_cipher_suites ?? true,
    curves: section.curve_preferences ?? [],
  });
  // What the checks above let through may still be nothing that OpenSSL takes: a key too short, a broken chain.
  if (!attempt(() => createSecureContext(settings.options))) {
    report(cert.setting, 'OpenSSL does not accept this certificate with these settings');
  }
  return settings;
}

/** Errors of OpenSSL name functions, not settings: only that there was one counts. */
function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
