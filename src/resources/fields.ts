/**
 * The API's value types, and the tolerant way to read an object made of them: what is null or missing is absent, what has
 * the wrong type is absent and noted, what is unknown is ignored (reference 2; any field may be missing). One pass makes the
 * reading, which costs little more than parsing its JSON.
 */
import { type Diagnostics, ReadingError } from './resource.ts';

/** Takes note of what is wrong with the field that is being read. */
interface Notes {
  mismatch(expected: string, value: unknown): undefined;
  unrecognized(): void;
}

/** Reads a value that is there; one of the wrong type is noted and undefined. */
export type FieldType<Value = unknown> = (value: unknown, notes: Notes) => Value | undefined;

/** What a type reads. */
export type ValueOf<Type extends FieldType> = NonNullable<ReturnType<Type>>;

type Shape = Readonly<Record<string, FieldType>>;
type Values<Of extends Shape> = { readonly [Name in keyof Of]?: ValueOf<Of[Name]> | undefined };

/** The type of an object with these fields. */
export interface ObjectType<Of extends Shape = Shape> extends FieldType<Values<Of>> {
  readonly names: readonly string[];
  readonly shape: Of;
}

function readValue<Value>(type: FieldType<Value>, value: unknown, notes: Notes): Value | undefined {
  return value === undefined || value === null ? undefined : type(value, notes);
}

/** Anything, as it is; a field that is not there is noted. */
export const anything: FieldType = (value) => value;

/** A number (double). Beyond 2^53 it may lose its last digits, which an id may not. */
export const number: FieldType<number> = (value, notes) => {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : notes.mismatch('a number', value);
};

/** An integer; `3.0` is one. */
export const integer: FieldType<number> = (value, notes) => {
  const read = number(value, notes);
  return read === undefined || Number.isInteger(read) ? read : notes.mismatch('a whole number', value);
};

/** The types that are codes. */
const codes = new WeakSet<FieldType>();

/** An integer that stands for something. A value that the reference does not list is kept, and noted. */
export function code(listed: readonly number[]): FieldType<number> {
  const type: FieldType<number> = (value, notes) => {
    const read = integer(value, notes);
    if (read !== undefined && !listed.includes(read)) notes.unrecognized();
    return read;
  };
  codes.add(type);
  return type;
}

/** The fields of an object that are codes. */
export function codeFieldsOf({ names, shape }: ObjectType): readonly string[] {
  return names.filter((name) => codes.has(shape[name] as FieldType));
}

/** A figure in a greater unit. 248.3 by a thousand is 0.2483, not 0.24830000000000002. */
export function divided(value: number | null | undefined, by: number): number | undefined {
  return typeof value === 'number' ? Number((value / by).toPrecision(15)) : undefined;
}

/** 1 or 0. */
export function flag(value: boolean | null | undefined): number | undefined {
  return typeof value === 'boolean' ? Number(value) : undefined;
}

export const boolean: FieldType<boolean> = (value, notes) =>
  typeof value === 'boolean' ? value : notes.mismatch('a boolean', value);

export const text: FieldType<string> = (value, notes) =>
  typeof value === 'string' ? value : notes.mismatch('a string', value);

/** A list of which only the length matters. */
export const list = listOf(anything);

/** A list; an element of the wrong type is noted and undefined. */
export function listOf<Value>(type: FieldType<Value>): FieldType<readonly (Value | undefined)[]> {
  return (value, notes) =>
    Array.isArray(value)
      ? value.map((element) => readValue(type, element, notes))
      : notes.mismatch('an array', value);
}

/** What an object with data for keys has. As entries: another object that can have any key takes twice the time and memory. */
export type Entries<Value> = readonly (readonly [key: string, value: Value | undefined])[];

/** An object whose keys are data: any text may be one, `__proto__` too. */
export function entriesOf<Value>(type: FieldType<Value>): FieldType<Entries<Value>> {
  return (value, notes) =>
    isObject(value)
      ? Object.keys(value).map((key) => [key, readValue(type, value[key], notes)])
      : notes.mismatch('an object', value);
}

/** An object with these fields. */
export function object<Of extends Shape>(shape: Of): ObjectType<Of> {
  const names = Object.keys(shape);
  const type: FieldType<Values<Of>> = (value, notes) =>
    isObject(value) ? readShape(shape, names, value, notes) : notes.mismatch('an object', value);
  return Object.assign(type, { names, shape });
}

function readShape<Of extends Shape>(
  shape: Of,
  names: readonly string[],
  value: Readonly<Record<string, unknown>>,
  notes: Notes,
): Values<Of> {
  const values: Record<string, unknown> = {};
  for (const name of names) values[name] = readValue(shape[name] as FieldType, value[name], notes);
  return values as Values<Of>;
}

/** An identifier of up to 64 bits, as its decimal digits. */
export const id: FieldType<string> = (value, notes) => {
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
  const digits = isWhole || typeof value === 'string' ? String(value) : '';
  return /^\d{1,20}$/.test(digits) ? digits : notes.mismatch('a whole number of up to 64 bits', value);
};

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
export const instant: FieldType<number> = (value, notes) => {
  const written = text(value, notes);
  if (written === undefined || written.startsWith('0001-01-01')) return undefined;
  return parseInstant(written) ?? notes.mismatch('a date-time', value);
};

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

/** Notes by the outermost field. */
class FieldNotes implements Notes {
  field = '';
  readonly #diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  mismatch(expected: string, value: unknown): undefined {
    this.#diagnostics.mismatch(this.field, expected, nameOf(value));
    return undefined;
  }

  unrecognized(): void {
    this.#diagnostics.unrecognized(this.field);
  }
}

/**
 * Reads the fields of an object. Fields of the wrong type are noted by their outermost name and left out; codes that are
 * not listed are noted and kept.
 *
 * @throws {ReadingError} when the body is no object, or has none of the fields: then it is not the answer asked for
 */
export function readFields<Type extends ObjectType>(
  { names, shape }: Type,
  body: unknown,
  diagnostics: Diagnostics,
): ValueOf<Type> {
  if (!isObject(body)) throw new ReadingError('schema', `expected an object, got ${nameOf(body)}`);
  if (!names.some((name) => Object.hasOwn(body, name)))
    throw new ReadingError('schema', 'the answer has none of the expected fields');
  const notes = new FieldNotes(diagnostics);
  const values: Record<string, unknown> = {};
  for (const name of names) {
    notes.field = name;
    if (shape[name] === anything && !Object.hasOwn(body, name)) notes.mismatch('an array', undefined);
    values[name] = readValue(shape[name] as FieldType, body[name], notes);
  }
  return values as ValueOf<Type>;
}

/**
 * Reads each element of an array; one that is not an object, or lacks what `identify` needs, is noted and left out.
 *
 * @throws {ReadingError} when the value is no array, or has elements of which none could be read
 */
export function readElements<Type extends ObjectType>(
  type: Type,
  identifier: keyof ValueOf<Type> & string,
  value: unknown,
  diagnostics: Diagnostics,
): readonly ValueOf<Type>[] {
  if (!Array.isArray(value)) throw new ReadingError('schema', `expected an array, got ${nameOf(value)}`);
  const elements: ValueOf<Type>[] = [];
  for (const element of value as readonly unknown[]) {
    if (!isObject(element) || element[identifier] === undefined || element[identifier] === null) {
      const received = isObject(element) ? element[identifier] : element;
      diagnostics.mismatch(identifier, isObject(element) ? 'an identifier' : 'an object', nameOf(received));
      continue;
    }
    // An identifier of the wrong type is noted here, as any field is.
    const fields = readFields(type, element, diagnostics);
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
