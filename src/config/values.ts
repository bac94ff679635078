/**
 * Schemas of single values: text in, a checked value out, an error that says what was expected, and the JSON Schema for
 * editors.
 */
import { X509Certificate } from 'node:crypto';
import * as z from 'zod';
import type { IdField } from '../resources/resource.ts';
import {
  didYouMean,
  durationPattern,
  expectedOf,
  formatDuration,
  parseBoolean,
  parseDuration,
  quote,
} from '../text.ts';
import { patternProblem } from './selector.ts';

/**
 * A value read from text.
 *
 * @param editor the JSON Schema for editors, which see YAML's own types
 * @param quiet never quote the value in errors
 */
function scalar<T>(
  expected: string | ((text: string | undefined) => string),
  read: (text: string) => T | undefined,
  editor: { readonly type: string | string[]; readonly [keyword: string]: unknown },
  quiet = false,
): z.ZodType<T, string> {
  const message = (text?: string) => `expected ${typeof expected === 'string' ? expected : expected(text)}`;
  return z
    .string({ error: () => message() })
    .transform((text, context) => {
      const value = read(text);
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', input: text, message: message(text), params: { quiet } });
      return z.NEVER;
    })
    .meta(editor);
}

/** A mapping of settings. For unknown keys the message is the list of the known ones, for `unknownSetting`. */
export function mapping<Shape extends z.ZodRawShape>(shape: Shape, expected = 'a mapping') {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? Object.keys(shape).join() : `expected ${expected}`),
  });
}

export function unknownSetting(name: string, known: readonly string[]): string {
  return `unknown setting${didYouMean(name, known) || `; expected ${expectedOf(name, known)}`}`;
}

/** The end of a message: what the input is instead of what was expected. */
export function gotText(input: unknown): string {
  if (input === undefined) return 'it is missing';
  if (input === null) return 'got nothing';
  if (typeof input === 'string') return `got ${quote(input)}`;
  return Array.isArray(input) ? 'got a list' : 'got a mapping';
}

/** A setting that may be left out. */
export function optional<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.describe(description).optional();
}

/** A setting with a default, as it would be written. */
export function preset<Schema extends z.ZodType>(
  schema: Schema,
  given: z.input<Schema>,
  description: string,
) {
  return schema
    .prefault(given as z.input<Schema> & z.util.NoUndefined<z.input<Schema>>)
    .describe(description);
}

/** A duration in milliseconds. */
export function duration(minMs = 1000, maxMs = 31_536_000_000): z.ZodType<number, string> {
  const tooLong = (text = '') => (parseDuration(text) ?? 0) > maxMs;
  return scalar(
    (text) =>
      tooLong(text)
        ? `a duration of at most ${formatDuration(maxMs)}`
        : `a duration of at least ${formatDuration(minMs)}, such as 30s or 1h30m`,
    (text) => within(parseDuration(text), minMs, maxMs),
    { type: 'string', minLength: 1, pattern: durationPattern },
  );
}

/** A whole number. Helm renders large ones as `1e+06`. */
export function integer(min: number, max: number): z.ZodType<number, string> {
  return scalar(
    `a whole number from ${min} to ${max}`,
    (text) => within(Number(parseInteger(text) ?? Number.NaN), min, max),
    { type: ['integer', 'string'], minimum: min, maximum: max, pattern: '^[0-9.e+]+$' },
  );
}

export function decimal(min: number, max: number): z.ZodType<number, string> {
  return scalar(
    `a number from ${min} to ${max}`,
    (text) => within(/^\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?$/.test(text) ? Number(text) : undefined, min, max),
    { type: ['number', 'string'], minimum: min, maximum: max, pattern: '^[0-9.e+-]+$' },
  );
}

const byteUnits: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** A size in bytes. */
export function bytes(min: number, max: number): z.ZodType<number, string> {
  return scalar(
    `a size from ${formatBytes(min)} to ${formatBytes(max)}, such as 512KiB or 8MiB`,
    (text) => {
      const [, digits = '', unit = ''] = /^(.*?) ?([KMG]iB)?$/.exec(text) ?? [];
      const number = Number(parseInteger(digits) ?? Number.NaN);
      return within(number * (byteUnits[unit] ?? 1), min, max);
    },
    {
      type: ['string', 'integer'],
      minimum: min,
      maximum: max,
      pattern: '^[0-9.e+]+ ?([KMG]iB)?$',
    },
  );
}

/** The inverse of `bytes`, with the largest binary unit that divides it. */
export function formatBytes(size: number): string {
  const unit = ['GiB', 'MiB', 'KiB'].find((name) => size > 0 && size % (byteUnits[name] ?? 1) === 0);
  return unit === undefined ? String(size) : `${size / (byteUnits[unit] ?? 1)}${unit}`;
}

/** The base address of an API, without a slash at its end. Messages do not quote it, because an address can hold a password. */
export const baseUrl: z.ZodType<string, string> = scalar(
  'an http or https address without user name, query and fragment, such as https://api.example.com/path',
  (text) => {
    if (/[\s?#\\]/.test(text) || !/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    return url.username === '' && url.password === '' ? url.href.replace(/\/+$/, '') : undefined;
  },
  { type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s][^?#@\\s]*$' },
  true,
);

/** Whether requests to the address would leave the machine unencrypted. */
export function isPlainRemote(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

export const boolean: z.ZodType<boolean, string> = scalar('true or false', parseBoolean, {
  type: ['boolean', 'string'],
});

export const displayName: z.ZodType<string, string> = scalar(
  'a name of 1 to 200 characters on one line',
  (text) => (/^[^\p{Cc}\u2028\u2029]{1,200}$/u.test(text) && text.trim() !== '' ? text.trim() : undefined),
  { type: ['string', 'number', 'boolean'], minLength: 1, maxLength: 200 },
);

/**
 * One pattern or a list of them, as a list.
 *
 * @param otherProblem what is wrong with a pattern whose syntax is right
 */
export function patternsOf(
  otherProblem: (text: string) => string | undefined,
): z.ZodType<readonly string[], string | string[]> {
  const problemOf = (text: string) => patternProblem(text) ?? otherProblem(text);
  const pattern = scalar(
    (text = '') => {
      const problem = problemOf(text);
      return `a pattern in RE2 syntax${problem === undefined ? '' : `; ${problem}`}`;
    },
    (text) => (problemOf(text) === undefined ? text : undefined),
    { type: ['string', 'number', 'boolean'], minLength: 1 },
    true,
  );
  return z
    .union([pattern, z.array(pattern).min(1, { error: 'expected at least one pattern' })], {
      error: 'expected a pattern in RE2 syntax, or a list of them',
    })
    .transform((one) => (typeof one === 'string' ? [one] : one));
}

export const patterns = patternsOf(() => undefined);

export const credentialNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** The name of a credential. Quiet: a key may have been put in its place. */
export const credentialName = matching('the name of a credential', credentialNamePattern, [
  'string',
  'number',
]);

/** One name of a credential or a list of them, as a list. */
export const credentialNames: z.ZodType<readonly string[], string | string[]> = z
  .union([credentialName, z.array(credentialName).min(1, { error: 'expected at least one credential' })], {
    error: 'expected the name of a credential, or a list of them',
  })
  .transform((one) => (typeof one === 'string' ? [one] : one));

/** The name of an environment variable. Quiet: a key may have been put in its place. */
export const variableName = matching(
  'the name of an environment variable, such as BUNNYNET_ACCESS_KEY; never the key itself',
  '^[A-Za-z_][A-Za-z0-9_]{0,255}$',
  'string',
);

function matching(expected: string, pattern: string, type: string | string[]): z.ZodType<string, string> {
  const regExp = new RegExp(pattern);
  return scalar(expected, (text) => (regExp.test(text) ? text : undefined), { type, pattern }, true);
}

/** The path of a file. Quiet: a key may have been put in its place. */
function pathOf(expected: string): z.ZodType<string, string> {
  return scalar(
    expected,
    (text) => (text.trim() !== '' && !/\p{Cc}/u.test(text) && text.length <= 4096 ? text : undefined),
    { type: 'string', minLength: 1 },
    true,
  );
}

export const filePath = pathOf('the path of a file');
export const keyPath = pathOf('the path of a file that holds the key; never the key itself');

const maxId = 2n ** 64n - 1n;

/** A part of a target's id, in its canonical form. */
export const ids: Readonly<Record<IdField['form'], z.ZodType<string, string>>> = {
  opaque: scalar(
    'an id of 1 to 128 characters A-Z a-z 0-9 . _ -',
    (text) => (/^[A-Za-z0-9._-]{1,128}$/.test(text) && !/^\.+$/.test(text) ? text : undefined),
    { type: ['string', 'number', 'boolean'], pattern: '^[A-Za-z0-9._-]{1,128}$' },
  ),
  integer: scalar(
    'an id that is a whole number of at most 64 bits, without leading zeros',
    (text) => {
      const number = parseInteger(text);
      return number !== undefined && number > 0n && number <= maxId && !text.startsWith('0')
        ? String(number)
        : undefined;
    },
    { type: ['integer', 'string'], minimum: 1, pattern: '^[1-9][0-9.e+]*$' },
  ),
  guid: scalar(
    'an id such as 0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f',
    (text) => (guid.test(text) ? text.toLowerCase() : undefined),
    { type: 'string', pattern: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' },
  ),
};

const guid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Also reads `1e+06`: a template engine that knows only doubles writes 1000000 like that. Beyond 2^53 such a number may have
 * lost digits, so it is refused.
 */
function parseInteger(text: string): bigint | undefined {
  if (/^\d{1,20}$/.test(text)) return BigInt(text);
  if (!/^\d(?:\.\d+)?e\+?\d{1,2}$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? BigInt(number) : undefined;
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

/** Whether the text holds certificates in PEM, all of which can be read. */
export function isCertificates(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).fingerprint256 !== '');
  } catch {
    return false;
  }
}
