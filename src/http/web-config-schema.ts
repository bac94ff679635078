/** What may stand in the web configuration file: its settings, as the exporter-toolkit knows them. */
import { validateHeaderValue } from 'node:http';
import * as z from 'zod/mini';
import type { Path } from '../config/problems.ts';
import { cipherNames, clientAuthTypes, curveNames, tlsVersions } from './tls.ts';

/** Notes a problem at a path of the file. */
export type Report = (path: Path, message: string) => void;

const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** A text of this form. expectedForm: what is said where it is a text of another form. */
function matching(pattern: RegExp, expected: string, expectedForm = expected) {
  return z.string(expected).check(z.regex(pattern, expectedForm));
}

/** As Go reads a duration in YAML: numbers with units, or a bare integer of nanoseconds. */
const durationMs = z.pipe(
  matching(/^(\d+|((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$/, 'expected a duration such as 100ms'),
  z.transform((given: string) => {
    if (/^\d+$/.test(given)) return Number(given) * 1e-6;
    let totalMs = 0;
    for (const [, number, unit = ''] of given.matchAll(/([\d.]+)([a-zµ]+)/g)) {
      totalMs += Number(number) * (unitsMs[unit] ?? 0);
    }
    return totalMs;
  }),
);

/** The words of YAML 1.1, which the toolkit's parser reads. */
const bool = z.pipe(
  matching(/^(true|false|yes|no|on|off|y|n)$/i, 'expected true or false'),
  z.transform((word: string) => /^[tyo][^f]*$/i.test(word)),
);

function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, `expected one of ${names.join(', ')}`);
}

/** An empty text means that the setting is absent, as for Go. */
const text = z.pipe(
  z.nullish(z.string('expected text')),
  z.transform((given: string | null | undefined) => given || undefined),
);
const list = <Item extends z.ZodMiniType>(item: Item) => z.nullish(z.array(item, 'expected a list'));

const headerValues: Readonly<Record<string, readonly string[] | undefined>> = {
  'Content-Security-Policy': undefined,
  'Strict-Transport-Security': undefined,
  'X-Content-Type-Options': ['nosniff'],
  'X-Frame-Options': ['deny', 'sameorigin'],
  'X-XSS-Protection': undefined,
};

/** A map with names of the user's choice. zod's record would lose one called `__proto__`. */
function named<Value extends z.ZodMiniType>(value: Value, expected: string) {
  const entries = (given: unknown) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? new Map(Object.entries(given))
      : given;
  return z.pipe(z.transform(entries), z.map(z.string(), value, expected));
}

const headers = named(z.string('expected text'), 'expected headers and their values').check(
  z.superRefine((given: ReadonlyMap<string, string>, context) => {
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
  }),
);

const bcryptHash = matching(
  /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/,
  'expected a bcrypt hash',
  "expected a bcrypt hash ($2y$…), as `htpasswd -nBC 10 ''` makes one",
);

const tlsShape = {
  cert: text,
  cert_file: text,
  key: text,
  key_file: text,
  client_ca: text,
  client_ca_file: text,
  client_auth_type: z.nullish(
    z.enum(['', 'RequireClientCert', ...clientAuthTypes], `expected one of ${clientAuthTypes.join(', ')}`),
  ),
  client_allowed_sans: list(z.string('expected text')),
  min_version: z.nullish(oneOf(tlsVersions)),
  max_version: z.nullish(oneOf(tlsVersions)),
  cipher_suites: list(oneOf(cipherNames)),
  curve_preferences: list(oneOf(curveNames)),
  prefer_server_cipher_suites: z.optional(bool),
};
// HTTP/1.1 is served whatever `http2` says: it is known so that files of the toolkit work.
const httpShape = { http2: z.optional(bool), headers: z.nullish(headers) };
const rateShape = {
  interval: durationMs,
  burst: z.optional(
    z.pipe(matching(/^\d{1,9}$/, 'expected a number', 'expected a number, 0 or more'), z.transform(Number)),
  ),
};
const fileShape = {
  tls_server_config: z.nullish(z.strictObject(tlsShape, 'expected settings')),
  http_server_config: z.nullish(z.strictObject(httpShape, 'expected settings')),
  basic_auth_users: z.nullish(named(bcryptHash, 'expected users and their bcrypt hashes')),
  rate_limit: z.nullish(z.strictObject(rateShape, 'expected settings')),
};
export const fileSchema = z.strictObject(fileShape, 'expected settings');
export type TlsSection = NonNullable<z.output<typeof fileSchema>['tls_server_config']>;

/** The settings of each section, for the message about an unknown one. */
export const settingsOf: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(fileShape),
  tls_server_config: Object.keys(tlsShape),
  http_server_config: Object.keys(httpShape),
  rate_limit: Object.keys(rateShape),
};
