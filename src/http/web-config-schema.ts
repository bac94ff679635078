/** The settings of the web configuration file, as the exporter-toolkit knows them. */
import * as z from 'zod';
import { mapping } from '../config/values.ts';
import { cipherNames, clientAuthTypes, curves, tlsVersions } from './tls.ts';

/** A setting without a value is absent, as for Go. */
function blank<Value extends z.ZodType>(value: Value) {
  return value.nullish().transform((given) => given ?? undefined);
}

function choice<const Name extends string>(names: readonly Name[]) {
  return z.enum(names, `expected one of ${names.join(', ')}`);
}

const text = blank(z.string('expected text')).transform((given) => given || undefined);
const list = <Item extends z.ZodType>(item: Item) => blank(z.array(item, 'expected a list'));
const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>) => Object.keys(table) as Key[];
const bool = z.stringbool('expected true or false').optional();

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
    const parts = [...given.matchAll(/([\d.]+)([a-zµ]*)/g)];
    return parts.reduce(
      (sumMs, [, number, unit]) => sumMs + Number(number) * (unitsMs[unit || 'ns'] ?? 0),
      0,
    );
  });

const headerText = blank(
  z.string('expected text').regex(/^[\t -~\x80-\xff]*$/, 'holds characters that no header may have'),
);
const headers = mapping({
  'Content-Security-Policy': headerText,
  'Strict-Transport-Security': headerText,
  'X-Content-Type-Options': blank(z.enum(['nosniff'], 'expected nosniff')),
  'X-Frame-Options': blank(z.enum(['deny', 'sameorigin'], 'expected deny or sameorigin')),
  'X-XSS-Protection': headerText,
}).transform((given) =>
  Object.entries(given).flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
);

const bcryptHash = z
  .string('expected a bcrypt hash')
  .regex(
    /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/,
    "expected a bcrypt hash ($2y$…), as `htpasswd -nBC 10 ''` makes one",
  );

/** Hashes by user name. A Map, because zod's record would lose a user called `__proto__`. */
const users = z.preprocess(
  (given) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? new Map(Object.entries(given))
      : given,
  z.map(z.string(), bcryptHash, 'expected users and their bcrypt hashes'),
);

const tlsSection = mapping({
  cert: text,
  cert_file: text,
  key: text,
  key_file: text,
  client_ca: text,
  client_ca_file: text,
  client_auth_type: blank(
    // RequireClientCert is the name of RequireAnyClientCert in old versions of the toolkit.
    z.enum(['', 'RequireClientCert', ...clientAuthTypes], `expected one of ${clientAuthTypes.join(', ')}`),
  ).transform((type) => (type === 'RequireClientCert' ? 'RequireAnyClientCert' : type || undefined)),
  client_allowed_sans: list(z.string('expected text')),
  min_version: blank(choice(keysOf(tlsVersions))),
  max_version: blank(choice(keysOf(tlsVersions))),
  cipher_suites: list(choice(cipherNames)),
  curve_preferences: list(choice(keysOf(curves))),
  prefer_server_cipher_suites: bool,
});
export type TlsSection = z.output<typeof tlsSection>;

const rateLimit = mapping({
  /** The time after which one more request is allowed. */
  interval: durationMs,
  /** The size of the token bucket: how many requests may come at once. */
  burst: z
    .string('expected a number')
    .regex(/^\d{1,9}$/, 'expected a number, 1 or more')
    .transform(Number)
    .default(0),
});

export const fileSchema = mapping({
  // A section with only blank settings counts as absent.
  tls_server_config: blank(tlsSection).transform((tls) =>
    Object.values(tls ?? {}).some((value) => value !== undefined) ? tls : undefined,
  ),
  // HTTP/1.1 is served whatever `http2` says; the setting is accepted so that files of the toolkit work.
  http_server_config: blank(mapping({ http2: bool, headers: blank(headers) })),
  basic_auth_users: blank(users),
  rate_limit: blank(rateLimit).transform((given, context) => {
    if (!given || given.interval === 0) return undefined;
    if (given.burst === 0)
      context.addIssue({
        code: 'custom',
        path: ['burst'],
        message: 'expected a number, 1 or more: without it every request would get 429',
      });
    return { intervalMs: given.interval, burst: given.burst };
  }),
});
export type WebSettings = Partial<z.output<typeof fileSchema>>;
