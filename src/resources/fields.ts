/**
 * The API's value types as zod schemas, and the tolerant way to read an object made of them: what is null or missing is
 * absent, what has the wrong type is absent and noted, what is unknown is ignored (reference 2; any field may be missing).
 */
import * as z from 'zod';
import { type Diagnostics, ReadingError } from './resource.ts';

/** Integers beyond 2^53 arrive as bigint; a figure may lose its last digits, an id may not. */
const figure = z.union([z.number(), z.bigint()]).transform(Number);

/** A number (double). */
export const number = figure.nullish();

/** An integer; `3.0` is one. */
export const integer = figure.refine(Number.isInteger, 'a whole number').nullish();

/** The values that the reference lists, of the fields that have them. */
const codes = z.registry<readonly number[]>();

/** An integer that stands for something. A value that is not listed is kept, and noted by `readFields`. */
export function code(listed: readonly number[]) {
  return figure.refine(Number.isInteger, 'a whole number').nullish().register(codes, listed);
}

/** The fields of an object that are codes. */
export function codeFieldsOf({ shape }: z.ZodObject): readonly string[] {
  return Object.keys(shape).filter((field) => codes.has(shape[field] as z.ZodType));
}

/** A figure in a greater unit. 248.3 by a thousand is 0.2483, not 0.24830000000000002. */
export function divided(value: number | null | undefined, by: number): number | undefined {
  return typeof value === 'number' ? Number((value / by).toPrecision(15)) : undefined;
}

/** 1 or 0. */
export function flag(value: boolean | null | undefined): number | undefined {
  return typeof value === 'boolean' ? Number(value) : undefined;
}

export const boolean = z.boolean().nullish();

export const text = z.string().nullish();

/** A list of which only the length matters. */
export const list = z.array(z.unknown()).nullish();

/** An object whose keys are data: any text may be one, `__proto__` too, which `z.record` passes over. */
export function record<Value extends z.ZodType>(value: Value) {
  return z.custom<Readonly<Record<string, unknown>>>(isObject, 'an object').transform((given, context) => {
    const values = Object.create(null) as Record<string, z.output<Value>>;
    for (const [key, one] of Object.entries(given)) {
      const read = value.safeParse(one);
      if (read.success) values[key] = read.data;
      else for (const issue of read.error.issues) context.addIssue({ ...issue, path: [key, ...issue.path] });
    }
    return values;
  });
}

const idText = 'a whole number of up to 64 bits';

/** An identifier of up to 64 bits, as its decimal digits. */
export const id = z
  .union([
    z.int().nonnegative(idText),
    z.bigint().nonnegative(idText),
    z.string().regex(/^\d{1,20}$/, idText),
  ])
  .transform(String)
  .nullish();

/** An ISO 8601 date-time, in UTC where it names no zone, as seconds since 1970; undefined for a text that is none. */
export function parseInstant(value: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/i.exec(value);
  if (!match) return undefined;
  const [, date, time, fraction = '', offset = 'Z'] = match;
  const zone = /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase();
  // Date.parse rolls 31 February over into March, as Date.UTC does.
  if (parseDay(date ?? '') === undefined) return undefined;
  // Date knows milliseconds; the API writes up to seven digits.
  const seconds = Date.parse(`${date}T${time}${zone}`) / 1000 + Number(`0${fraction}`);
  return Number.isFinite(seconds) ? seconds : undefined;
}

/**
 * The time of a chart's key, in seconds since 1970: an ISO 8601 date with or without a time, or Unix seconds. Undefined for
 * what could be read in two ways, such as `05/06/2026`.
 */
export const parseChartKey = remembering((key: string): number | undefined => {
  if (/^\d{9,10}$/.test(key)) return Number(key);
  if (/^\d{4}-\d{2}-\d{2}$/.test(key)) return parseDay(key);
  return parseInstant(key.replace(/^([\d-]{10}[T ]\d{2}:\d{2})(?=Z|[+-]|$)/i, '$1:00'));
});

const maxRemembered = 1000;

/** Charts have the same keys in every answer: reading them is a twentieth of a poll. */
function remembering(parse: (key: string) => number | undefined): typeof parse {
  const known = new Map<string, number>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined || key.length > 40) return before ?? parse(key);
    if (known.size >= maxRemembered) known.clear();
    const value = parse(key);
    if (value !== undefined) known.set(key, value);
    return value;
  };
}

/** A date-time in UTC as seconds since 1970. The year 1, which .NET writes for «no date», is absent. */
export const instant = z
  .string()
  .transform((value, context) => {
    if (value.startsWith('0001-01-01')) return undefined;
    const seconds = parseInstant(value);
    if (seconds === undefined) context.addIssue({ code: 'custom', message: 'a date-time' });
    return seconds;
  })
  .nullish();

/** The start of a UTC day, in seconds since 1970, from `dd-MM-yyyy` or an ISO 8601 date with or without a time. */
export function parseDay(key: string): number | undefined {
  const dayFirst = /^(\d{2})-(\d{2})-(\d{4})$/.exec(key);
  const yearFirst = /^(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?$/.exec(key);
  const [year, month, day] = dayFirst
    ? [dayFirst[3], dayFirst[2], dayFirst[1]]
    : [yearFirst?.[1], yearFirst?.[2], yearFirst?.[3]];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const date = new Date(time);
  // Date.UTC rolls 31 February over into March and reads the year 1 as 1901; a day that is none must not become another.
  const isThatDay = date.getUTCDate() === Number(day) && date.getUTCFullYear() === Number(year);
  return isThatDay ? time / 1000 : undefined;
}

export interface Day<Figures> {
  /** Its start in UTC, in seconds since 1970. */
  readonly startSeconds: number;
  readonly figures: Figures;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'number' && !Number.isFinite(value)
    ? 'a number that is too large'
    : `a ${typeof value}`;
}

/** What an issue of zod expected. */
function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_union') {
    const first = issue.errors[0]?.[0];
    if (first) return expectedBy(first);
  }
  if (issue.code !== 'invalid_type') return issue.message.replace(/^.*: expected /, '');
  const { expected } = issue;
  if (expected === 'int') return 'a whole number';
  return `${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`;
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body);
}

/** Takes the value at a path out of a body, so that it counts as missing. */
function removeAt(body: unknown, path: readonly PropertyKey[]): void {
  let parent = body as Record<PropertyKey, unknown>;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<PropertyKey, unknown>;
  const last = path.at(-1);
  if (last !== undefined) Reflect.set(parent, last, undefined);
}

/**
 * Reads the fields of an object; the body is used up by it. Fields of the wrong type are noted by their outermost name
 * and left out; codes that are not listed are noted and kept.
 *
 * @throws {ReadingError} when the body is no object, or has none of the fields: then it is not the answer asked for
 */
export function readFields<Schema extends z.ZodObject>(
  schema: Schema,
  body: unknown,
  diagnostics: Diagnostics,
): z.output<Schema> {
  if (!isObject(body)) throw new ReadingError('schema', `expected an object, got ${nameOf(body)}`);
  if (!Object.keys(schema.shape).some((field) => Object.hasOwn(body, field))) {
    throw new ReadingError('schema', 'the answer has none of the expected fields');
  }
  const first = schema.safeParse(body);
  for (const issue of first.error?.issues ?? []) {
    diagnostics.mismatch(String(issue.path[0]), expectedBy(issue), nameOf(valueAt(body, issue.path)));
    removeAt(body, issue.path);
  }
  const fields = first.data ?? schema.parse(body);
  for (const field of codeFieldsOf(schema)) {
    const value = fields[field as keyof typeof fields];
    const listed = codes.get(schema.shape[field] as z.ZodType);
    if (typeof value === 'number' && !listed?.includes(value)) diagnostics.unrecognized(field);
  }
  return fields;
}

/**
 * Reads each element of an array; one that is not an object, or lacks what `identify` needs, is noted and left out.
 *
 * @throws {ReadingError} when the value is no array, or has elements of which none could be read
 */
export function readElements<Schema extends z.ZodObject>(
  schema: Schema,
  identifier: keyof z.output<Schema> & string,
  value: unknown,
  diagnostics: Diagnostics,
): readonly z.output<Schema>[] {
  if (!Array.isArray(value)) throw new ReadingError('schema', `expected an array, got ${nameOf(value)}`);
  const elements: z.output<Schema>[] = [];
  for (const element of value as readonly unknown[]) {
    if (!isObject(element) || element[identifier] === undefined || element[identifier] === null) {
      const received = isObject(element) ? element[identifier] : element;
      diagnostics.mismatch(identifier, isObject(element) ? 'an identifier' : 'an object', nameOf(received));
      continue;
    }
    // An identifier of the wrong type is noted here, as any field is.
    const fields = readFields(schema, element, diagnostics);
    if (fields[identifier] !== undefined) elements.push(fields);
  }
  if (value.length > 0 && elements.length === 0) {
    throw new ReadingError('schema', `no element of the array has a usable ${identifier}`);
  }
  return elements;
}

/** The texts and flags of an error envelope (reference 2.3); anything else in their place is as good as absent. */
function readEnvelope(value: unknown): { success: unknown; message: string; errorKey: string } {
  const envelope = isObject(value) ? value : {};
  const { success, message, errorKey } = envelope;
  return {
    success,
    message: typeof message === 'string' ? message : '',
    errorKey: typeof errorKey === 'string' ? errorKey : '',
  };
}

/**
 * The `data` of a shield or video answer. `success: false` alone is no error, for good answers carry an empty default
 * envelope; it is one together with a message or a key, whatever the HTTP status was.
 *
 * @throws {ReadingError} `rejected` for an error in the body, `schema` for a body without data
 */
export function unwrapData(body: unknown): unknown {
  if (!isObject(body)) throw new ReadingError('schema', `expected an object, got ${nameOf(body)}`);
  const envelope = readEnvelope(body['error'] ?? body['errorResponse'] ?? body);
  const failed = envelope.success === false;
  const hasData = body['data'] !== null && body['data'] !== undefined;
  const reason = [envelope.errorKey, envelope.message].filter((part) => part !== '').join(': ');
  // Without data a reason is one also where `success` is missing, as any field may be.
  if (reason !== '' && (failed || (!hasData && envelope.success !== true))) {
    throw new ReadingError('rejected', reason, envelope.errorKey || undefined);
  }
  if (!hasData) {
    throw failed
      ? new ReadingError('rejected', 'the answer has no data and gives no reason')
      : new ReadingError('schema', 'the answer has no data');
  }
  return body['data'];
}

/**
 * The `data` of an answer that is a list: null in it, without a reason, is an empty list.
 *
 * @throws {ReadingError} as `unwrapData`
 */
export function unwrapList(body: unknown): unknown {
  if (isObject(body) && body['data'] === null) {
    const envelope = body['error'] ?? body['errorResponse'] ?? body;
    const { statusCode } = isObject(envelope) ? envelope : {};
    const { message, errorKey } = readEnvelope(envelope);
    if (message === '' && errorKey === '' && !(Number(statusCode) >= 400)) return [];
  }
  return unwrapData(body);
}
