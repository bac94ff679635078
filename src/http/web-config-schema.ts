/** What may stand in the web configuration file: its settings, as the exporter-toolkit knows them. */
import { validateHeaderValue } from 'node:http';
import * as z from 'zod';
import type { Path } from '../config/problems.ts';
import { cipherNames, clientAuthTypes, curves, tlsVersions } from './tls.ts';

/** Notes a problem at a path of the file. */
export type Report = (path: Path, message: string) => void;

/** Settings, each of which may be blank. The error for an unknown one lists those that exist. */
function section<const Shape extends z.ZodRawShape>(shape: Shape) {
  const expected = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown setting; expected one of ${expected}` : 'expected settings',
  });
}

/** A setting without a value is absent, as for Go. */
function blank<Value extends z.ZodType>(value: Value) {
  return value.nullish().transform((given) => given ?? undefined);
}

function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, `expected one of ${names.join(', ')}`);
}

const text = blank(z.string('expected text')).transform((given) => given || undefined);
const list = <Item extends z.ZodType>(item: Item) => blank(z.array(item, 'expected a list'));
const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>) => Object.keys(table) as Key[];

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
const expectedDuration = 'expected a duration such as 100ms';
const durationMs = z
  .string(expectedDuration)
  .regex(/^(\d+|((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$/, expectedDuration)
  .transform((given) => {
    if (/^\d+$/.test(given)) return Number(given) * 1e-6;
    const parts = [...given.matchAll(/([\d.]+)([a-zµ]+)/g)];
    return parts.reduce((sumMs, [, number, unit = '']) => sumMs + Number(number) * (unitsMs[unit] ?? 0), 0);
  });

/** The words of YAML 1.1, which the toolkit's parser reads. */
const bool = z
  .string('expected true or false')
  .regex(/^(true|false|yes|no|on|off|y|n)$/i, 'expected true or false')
  .transform((word) => /^[tyo][^f]*$/i.test(word));

/** A map with names of the user's choice. zod's record would lose one called `__proto__`. */
function named<Value extends z.ZodType>(value: Value, expected: string) {
  const toEntries = (given: unknown) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? new Map(Object.entries(given))
      : given;
  return z.preprocess(toEntries, z.map(z.string(), value, expected));
}

const headerValues: Readonly<Record<string, readonly string[] | undefined>> = {
  'Content-Security-Policy': undefined,
  'Strict-Transport-Security': undefined,
  'X-Content-Type-Options': ['nosniff'],
  'X-Frame-Options': ['deny', 'sameorigin'],
  'X-XSS-Protection': undefined,
};

function problemOfHeader(name: string, value: string): string | undefined {
  const values = headerValues[name];
  if (!Object.hasOwn(headerValues, name)) {
    return `this header cannot be set; expected one of ${Object.keys(headerValues).join(', ')}`;
  }
  if (values && !values.includes(value)) return `expected ${values.join(' or ')}`;
  try {
    validateHeaderValue(name, value);
    return undefined;
  } catch {
    return 'holds characters that no header may have';
  }
}

const headers = named(z.string('expected text'), 'expected headers and their values').superRefine(
  (given, context) => {
    for (const [name, value] of given) {
      const message = problemOfHeader(name, value);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
  },
);

const bcryptHash = z
  .string('expected a bcrypt hash')
  .regex(
    /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/,
    "expected a bcrypt hash ($2y$…), as `htpasswd -nBC 10 ''` makes one",
  );

const tlsSection = section({
  cert: text,
  cert_file: text,
  key: text,
  key_file: text,
  client_ca: text,
  client_ca_file: text,
  client_auth_type: blank(
    z.enum(['', 'RequireClientCert', ...clientAuthTypes], `expected one of ${clientAuthTypes.join(', ')}`),
  ),
  client_allowed_sans: list(z.string('expected text')),
  min_version: blank(oneOf(keysOf(tlsVersions))),
  max_version: blank(oneOf(keysOf(tlsVersions))),
  cipher_suites: list(oneOf(cipherNames)),
  curve_preferences: list(oneOf(keysOf(curves))),
  prefer_server_cipher_suites: bool.optional(),
});
export type TlsSection = z.output<typeof tlsSection>;

export const fileSchema = section({
  tls_server_config: blank(tlsSection),
  // HTTP/1.1 is served whatever `http2` says: it is known so that files of the toolkit work.
  http_server_config: blank(section({ http2: bool.optional(), headers: blank(headers) })),
  basic_auth_users: blank(named(bcryptHash, 'expected users and their bcrypt hashes')),
  rate_limit: blank(
    section({
      interval: durationMs,
      burst: z
        .string('expected a number')
        .regex(/^\d{1,9}$/, 'expected a number, 0 or more')
        .transform(Number)
        .default(0),
    }),
  ),
});
