/**
 * The API's value types, and the tolerant way to read an object made of them: what is null or missing is absent, what has
 * the wrong type is absent and noted, what is unknown is ignored (reference 2; any field may be missing). A type gives the
 * exporter's value for the API's: seconds, ratios, names. It does not know what becomes of it on the page.
 */
import { parseInstant } from './times.ts';

/** Takes note of what could not be used of an answer. */
export interface Diagnostics {
  /**
   * A field of the wrong type: its series are left out, the rest of the answer is kept.
   *
   * @param expected what it should be, such as `a number`
   * @param received what it is, without its value
   */
  mismatch(field: string, expected?: string, received?: string): void;
  /** A value that the reference does not list (an unknown state). */
  unrecognized(field: string): void;
}

/** An answer that was read but is no reading: an error in its body, or a body that cannot be one. */
export class ReadingError extends Error {
  override readonly name = 'ReadingError';
  readonly result: 'rejected' | 'schema';
  /** The API's own name of the error (reference 2.3), where it gave one. */
  readonly errorKey: string | undefined;

  constructor(result: 'rejected' | 'schema', message: string, errorKey?: string) {
    super(message);
    this.result = result;
    this.errorKey = errorKey;
  }
}

/** Takes note of what is wrong with the field that is being read. */
export interface Notes {
  /** Start of the UTC day that was asked for, in seconds since 1970, where one was. */
  readonly daySeconds?: number | undefined;
  mismatch(expected: string, value: unknown): undefined;
  /** Of an object whose keys are data. what: `a day`. */
  badKey(what: string): undefined;
  unrecognized(): undefined;
}

/** Reads a value that is there; one of the wrong type is noted and undefined. */
export interface FieldType<Value = unknown> {
  (value: unknown, notes: Notes): Value | undefined;
  /** True where the reference lists the values that there are, of the field or of one inside it. */
  readonly isEnumerated?: boolean | undefined;
}

/** What a type reads. */
export type ValueOf<Type extends FieldType> = NonNullable<ReturnType<Type>>;

type Shape = Readonly<Record<string, FieldType>>;
type Values<Of extends Shape> = { readonly [Name in keyof Of]?: ValueOf<Of[Name]> | undefined };

/** The type of an object with these fields. */
export interface ObjectType<Value = Readonly<Record<string, unknown>>> extends FieldType<Value> {
  readonly names: readonly string[];
  /** Fields that the API documents and nobody reads. */
  readonly unread: readonly string[];
  readonly shape: Shape;
}

function readValue<Value>(type: FieldType<Value>, value: unknown, notes: Notes): Value | undefined {
  return value === undefined || value === null ? undefined : type(value, notes);
}

function enumerated<Value>(type: FieldType<Value>, isEnumerated: boolean | undefined): FieldType<Value> {
  return Object.assign(type, { isEnumerated });
}

/** What the type reads, made into something else; nothing where that cannot be. */
export function mapped<From, To>(
  type: FieldType<From>,
  to: (value: From, notes: Notes) => To | undefined,
): FieldType<To> {
  const read: FieldType<To> = (value, notes) => {
    const from = type(value, notes);
    return from === undefined ? undefined : to(from, notes);
  };
  return enumerated(read, type.isEnumerated);
}

/** Anything, as it is. */
export const anything: FieldType = (value) => value;

/** A number (double). Beyond 2^53 it may lose its last digits, which an id may not. */
export const number: FieldType<number> = (value, notes) => {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : notes.mismatch('a number', value);
};

/** An integer; `3.0` is one. */
export const integer = mapped(number, (value, notes) =>
  Number.isInteger(value) ? value : notes.mismatch('a whole number', value),
);

/** Milliseconds, as seconds. */
export const milliseconds = mapped(number, (value) => divided(value, 1000));

/** A percentage, as a number from 0 to 1. */
export const percentage = mapped(number, (value) => divided(value, 100));

/** Gigabytes of 10^9, as bytes. */
export const gigabytes = mapped(number, (value) => Math.round(value * 1e9));

/** A figure in a greater unit. 248.3 by a thousand is 0.2483, not 0.24830000000000002. */
export function divided(value: number, by: number): number {
  return Number((value / by).toPrecision(15));
}

/** An integer that stands for something. A value that the reference does not list is kept, and noted. */
export function code(listed: readonly number[]): FieldType<number> {
  return enumerated(
    mapped(integer, (value, notes) => {
      if (!listed.includes(value)) notes.unrecognized();
      return value;
    }),
    true,
  );
}

/** An integer that stands for one of these names, from 0. One that the reference does not list is its digits, and noted. */
export function codeName(names: readonly string[]): FieldType<string> {
  return enumerated(
    mapped(integer, (value, notes) => {
      if (names[value] === undefined) notes.unrecognized();
      return names[value] ?? String(value);
    }),
    true,
  );
}

export const boolean: FieldType<boolean> = (value, notes) =>
  typeof value === 'boolean' ? value : notes.mismatch('a boolean', value);

export const text: FieldType<string> = (value, notes) =>
  typeof value === 'string' ? value : notes.mismatch('a string', value);

/** One of these texts, whatever its case. One that the reference does not list is noted; it is `unknown`, where that is one. */
export function oneOf<State extends string>(states: readonly State[]): FieldType<State> {
  return enumerated(
    mapped(text, (value, notes) => {
      const state = states.find((known) => known.toLowerCase() === value.toLowerCase());
      if (!state) notes.unrecognized();
      return state ?? states.find((known) => known === 'unknown');
    }),
    true,
  );
}

/** A text that opens something. As a function, so that nothing that writes objects out shows it. */
export const secret = mapped(text, (value) => (value === '' ? undefined : () => value));

/** A list of which only the length matters. */
export const list = listOf(anything);

/** A list; an element of the wrong type is noted and undefined. */
export function listOf<Value>(type: FieldType<Value>): FieldType<readonly (Value | undefined)[]> {
  const read: FieldType<readonly (Value | undefined)[]> = (value, notes) =>
    Array.isArray(value)
      ? value.map((element) => readValue(type, element, notes))
      : notes.mismatch('an array', value);
  return enumerated(read, type.isEnumerated);
}

/** What an object with data for keys has. As entries: another object that can have any key takes twice the time and memory. */
export type Entries<Value> = readonly (readonly [key: string, value: Value | undefined])[];

/** An object whose keys are data: any text may be one, `__proto__` too. */
export function entriesOf<Value>(type: FieldType<Value>): FieldType<Entries<Value>> {
  const read: FieldType<Entries<Value>> = (value, notes) =>
    isObject(value)
      ? Object.keys(value).map((key) => [key, readValue(type, value[key], notes)])
      : notes.mismatch('an object', value);
  return enumerated(read, type.isEnumerated);
}

/** An object with these fields. unread: further fields that the API documents, so that an answer with these alone is known. */
export function object<Of extends Shape>(shape: Of, ...unread: readonly string[]): ObjectType<Values<Of>> {
  const names = Object.keys(shape);
  const read: FieldType<Values<Of>> = (value, notes) => {
    if (!isObject(value)) return notes.mismatch('an object', value);
    const values: Record<string, unknown> = {};
    for (const name of names) values[name] = readValue(shape[name] as FieldType, value[name], notes);
    return values as Values<Of>;
  };
  return Object.assign(read, {
    names,
    unread,
    shape,
    isEnumerated: enumeratedFieldsOf({ names, shape }).length > 0,
  });
}

/** The fields whose values the reference lists. */
export function enumeratedFieldsOf({ names, shape }: Pick<ObjectType, 'names' | 'shape'>): readonly string[] {
  return names.filter((name) => shape[name]?.isEnumerated);
}

/** An identifier of up to 64 bits, as its decimal digits. */
export const id: FieldType<string> = (value, notes) => {
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
  const digits = isWhole || typeof value === 'string' ? String(value) : '';
  return /^\d{1,20}$/.test(digits) ? digits : notes.mismatch('a whole number of up to 64 bits', value);
};

/** The id of another thing: 0 and -1 stand for none. */
export const reference: FieldType<string> = (value, notes) =>
  value === -1 ? undefined : mapped(id, (known) => (/^0+$/.test(known) ? undefined : known))(value, notes);

/** A date-time in UTC as seconds since 1970. The year 1, which .NET writes for «no date», is absent. */
export const instant: FieldType<number> = (value, notes) => {
  const written = text(value, notes);
  if (written === undefined || written.startsWith('0001-01-01')) return undefined;
  return parseInstant(written) ?? notes.mismatch('a date-time', value);
};

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, for messages. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'number' && !Number.isFinite(value)
    ? 'a number that is too large'
    : `a ${typeof value}`;
}

/** Notes by the outermost field. */
class FieldNotes implements Notes {
  field = '';
  readonly daySeconds: number | undefined;
  readonly #diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics, daySeconds?: number) {
    this.#diagnostics = diagnostics;
    this.daySeconds = daySeconds;
  }

  mismatch(expected: string, value: unknown): undefined {
    this.#diagnostics.mismatch(this.field, expected, nameOf(value));
  }

  badKey(what: string): undefined {
    this.#diagnostics.mismatch(this.field, `${what} as key`, 'another text');
  }

  unrecognized(): undefined {
    this.#diagnostics.unrecognized(this.field);
  }
}

/**
 * Reads the fields of an object. Fields of the wrong type are noted by their outermost name and left out; codes that are
 * not listed are noted and kept.
 *
 * @param daySeconds start of the UTC day that was asked for, where one was
 * @throws {ReadingError} when the body is no object, or has none of the fields, not even of the unread ones: then it is not
 *   the answer asked for
 */
export function readFields<Value>(
  { names, unread, shape }: ObjectType<Value>,
  body: unknown,
  diagnostics: Diagnostics,
  daySeconds?: number,
): Value {
  if (!isObject(body)) throw new ReadingError('schema', `expected an object, got ${nameOf(body)}`);
  if (![...names, ...unread].some((name) => Object.hasOwn(body, name)))
    throw new ReadingError('schema', 'the answer has none of the expected fields');
  const notes = new FieldNotes(diagnostics, daySeconds);
  const values: Record<string, unknown> = {};
  for (const name of names) {
    notes.field = name;
    values[name] = readValue(shape[name] as FieldType, body[name], notes);
  }
  return values as Value;
}

/**
 * Reads each element of an array; one that is not an object, or lacks its identifier, is noted and left out.
 *
 * @throws {ReadingError} when the value is no array, or has elements of which none could be read
 */
export function readElements<Value>(
  type: ObjectType<Value>,
  identifier: keyof Value & string,
  value: unknown,
  diagnostics: Diagnostics,
): readonly Value[] {
  if (!Array.isArray(value)) throw new ReadingError('schema', `expected an array, got ${nameOf(value)}`);
  const elements: Value[] = [];
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
 * The `data` of an answer that is a list. Null is an empty list where the envelope reports no failure; without an envelope it
 * is as good as missing, for an empty list would end everything that was found before.
 *
 * @param isNone whether the answer says elsewhere that it lists nothing: then `data` may be missing
 * @throws {ReadingError} as `unwrapData`
 */
export function unwrapList(body: unknown, isNone = false): unknown {
  if (isObject(body) && (body['data'] ?? null) === null) {
    const envelope = body['error'] ?? body['errorResponse'] ?? body;
    const { success, message, errorKey } = readEnvelope(envelope);
    const { statusCode } = isObject(envelope) ? envelope : {};
    const hasFailed = errorKey !== '' || (message !== '' && success !== true) || Number(statusCode) >= 400;
    const hasEnvelope = ['error', 'errorResponse', 'success'].some((name) => Object.hasOwn(body, name));
    if (!hasFailed && (isNone || (hasEnvelope && body['data'] === null))) return [];
  }
  return unwrapData(body);
}
