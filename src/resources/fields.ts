/**
 * The API's types: each turns the API's value into the exporter's (seconds, ratios, names). What is null or missing is absent,
 * what has the wrong type is absent and noted (the API documents no field as certain): it costs that field alone. Only a body
 * that is not the expected answer is a failure. A type does not know what becomes of its value on the page.
 */
import { type Documented, documentedFields, undescribed } from './documented.ts';
import type { RequestedRange } from './requested.ts';
import { parseInstant } from './times.ts';

/** Records what could not be used of an answer. */
export interface Diagnostics {
  /**
   * A field of the wrong type: its series are left out, the rest of the answer is kept.
   *
   * @param expected what it should be, such as `a number`
   * @param received what it is, without its value
   */
  mismatch(field: string, expected?: string, received?: string): void;
  /**
   * A value that the API does not document (an unknown state).
   *
   * @param value what it is, after the fields inside the field that lead to it: `Type 16`. Any text of any length
   */
  unrecognized(field: string, value: string): void;
}

/** Records nothing. */
export const silent: Diagnostics = { mismatch: () => undefined, unrecognized: () => undefined };

/** Whether the API's own name of an error says that what was asked for is not there, or is another account's. */
export function saysNotFound(errorKey: string): boolean {
  return /^not_found/i.test(errorKey);
}

/** An answer that was read but is no reading: an error in its body, or a body that cannot be one. */
export class ReadingError extends Error {
  override readonly name = 'ReadingError';
  readonly result: 'not_found' | 'rejected' | 'schema';
  /** The API's own name of the error, where it gave one. */
  readonly errorKey: string | undefined;

  constructor(result: ReadingError['result'], message: string, errorKey?: string) {
    super(message);
    this.result = result;
    this.errorKey = errorKey;
  }
}

/** An answer that goes on for longer than is read: the next one would, too. */
export class TooLongError extends ReadingError {
  readonly isTooLarge = true;

  constructor(message: string) {
    super('schema', message);
  }
}

/** Records what is wrong with the field that is being read. */
export interface Notes {
  /** Of an answer that was requested for a range of time. */
  readonly requested?: RequestedRange | undefined;
  /** The names of the fields that lead to the value, the outermost first. */
  readonly path: string[];
  /** The values so far that the API does not document. They are reported when the whole answer was read. */
  readonly unrecognized: { readonly field: string; readonly value: string }[];
  mismatch(expected: string, value: unknown): undefined;
  /** Of an object whose keys are data. what: `a day`. */
  badKey(what: string): undefined;
}

/** How a value is read, and what is documented of it. */
export interface FieldType<Value = unknown> {
  /** Reads a value that is there; one of the wrong type is noted and undefined. */
  read(this: void, value: unknown, notes: Notes): Value | undefined;
  readonly documented?: Documented | undefined;
}

export type ValueOf<Type extends FieldType> = NonNullable<ReturnType<Type['read']>>;

export function readValue<Value>(type: FieldType<Value>, value: unknown, notes: Notes): Value | undefined {
  return value === undefined || value === null ? undefined : type.read(value, notes);
}

/** Turns what a type reads into something else; undefined where that is not possible. */
export function mapped<From, To>(
  type: FieldType<From>,
  to: (value: From, notes: Notes) => To | undefined,
): FieldType<To> {
  return {
    documented: type.documented,
    read(value, notes) {
      const from = type.read(value, notes);
      return from === undefined ? undefined : to(from, notes);
    },
  };
}

export const anything: FieldType = { read: (value) => value };

/** A number (double). Beyond 2^53 it may lose its last digits, which an id may not. */
export const number: FieldType<number> = {
  read(value, notes) {
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'number' && Number.isFinite(value) ? value : notes.mismatch('a number', value);
  },
};

/** An integer; `3.0` is one. */
export const integer = mapped(number, (value, notes) =>
  Number.isInteger(value) ? value : notes.mismatch('a whole number', value),
);

/** Divides without rounding errors: 248.3 by 1000 is 0.2483, not 0.24830000000000002. */
export function divided(value: number, by: number): number {
  return Number((value / by).toPrecision(15));
}

/** Milliseconds, as seconds. */
export const milliseconds = mapped(number, (value) => divided(value, 1000));

/** A percentage, as a number from 0 to 1. */
export const percentage = mapped(number, (value) => divided(value, 100));

/** Gigabytes of 10^9, as bytes. */
export const gigabytes = mapped(number, (value) => Math.round(value * 1e9));

export const boolean: FieldType<boolean> = {
  read: (value, notes) => (typeof value === 'boolean' ? value : notes.mismatch('a boolean', value)),
};

export const text: FieldType<string> = {
  read: (value, notes) => (typeof value === 'string' ? value : notes.mismatch('a string', value)),
};

/** A key, in a function so that printing or serializing the object does not show it. */
export const secret = mapped(text, (value) => (value === '' ? undefined : () => value));

function noteUnrecognized(value: unknown, { path, unrecognized }: Notes): void {
  const [field = '', ...inner] = path;
  unrecognized.push({ field, value: [inner.join('.'), String(value)].filter(Boolean).join(' ') });
}

/** The same values, of which not all are shown: a code inside one that is not shown is no drift. */
export function shownWhere<Value>(
  type: FieldType<Value>,
  isShown: (value: Value) => boolean,
): FieldType<Value> {
  return {
    documented: type.documented,
    read(value, notes) {
      const before = notes.unrecognized.length;
      const given = type.read(value, notes);
      if (given === undefined || !isShown(given)) notes.unrecognized.length = before;
      return given;
    },
  };
}

/** A code, which the API gives as a number from 0, as its digits, or by its name. */
interface Code {
  /** Undefined for a name that is not listed. */
  readonly number: number | undefined;
  /** Undefined where it is not listed. */
  readonly name: string | undefined;
}

/** What a code stands for; where the API has another name for it, both. Undefined for a number that stands for nothing. */
type CodeNames = readonly (string | readonly [shown: string, inTheApi: string] | undefined)[];

/** A name without what differs between ways to write it: `OriginUrl` and `origin_url` are one. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z\d]/g, '');
}

/** A code that stands for one of these, from 0. One that is not listed is noted. */
function code(listed: CodeNames): FieldType<Code> {
  const names = listed.map((name) => (typeof name === 'object' ? name[0] : name));
  const numbers = new Map(
    listed.flatMap((name, number) => [name ?? []].flat().map((one) => [folded(one), number])),
  );
  return {
    read(value, notes) {
      const given = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
      const number = typeof given === 'string' ? numbers.get(folded(given)) : integer.read(given, notes);
      if (number === undefined && typeof given !== 'string') return undefined;
      const name = number === undefined ? undefined : names[number];
      if (name === undefined) noteUnrecognized(value, notes);
      return { number, name };
    },
  };
}

/** A code as a number. A number that is not listed is kept, a name is absent. */
export function codeNumber(listed: CodeNames): FieldType<number> {
  return mapped(code(listed), ({ number }) => number);
}

/** The name of a code. A number that is not listed becomes its digits, a name `unknown`. */
export function codeName(listed: CodeNames): FieldType<string> {
  return mapped(code(listed), ({ name, number }) => name ?? String(number ?? 'unknown'));
}

/** A state that the API gives as a code. One that is not listed is `unknown`. */
export function codeState(listed: CodeNames): FieldType<string> {
  return mapped(code(listed), ({ name }) => name ?? 'unknown');
}

/** One of these texts, in any case. An unlisted one is noted; it becomes `unknown` if that is one of them. */
export function oneOf<State extends string>(states: readonly State[]): FieldType<State> {
  return mapped(text, (value, notes) => {
    const state = states.find((known) => known.toLowerCase() === value.toLowerCase());
    if (!state) noteUnrecognized(value, notes);
    return state ?? states.find((known) => known === 'unknown');
  });
}

/** A list; an element of the wrong type is noted and undefined. */
export function listOf<Value>(type: FieldType<Value>): FieldType<readonly (Value | undefined)[]> {
  return {
    documented: { elements: type.documented ?? undescribed },
    read: (value, notes) =>
      Array.isArray(value)
        ? value.map((element) => readValue(type, element, notes))
        : notes.mismatch('an array', value),
  };
}

/** A list of which only the length matters. */
export const list = listOf(anything);

/** The entries of an object whose keys are data. Another object that can have any key takes twice the time and memory. */
export type Entries<Value> = readonly (readonly [key: string, value: Value | undefined])[];

/** An object whose keys are data: any text may be one, `__proto__` too. */
export function entriesOf<Value>(type: FieldType<Value>): FieldType<Entries<Value>> {
  return {
    documented: { values: type.documented ?? undescribed },
    read: (value, notes) =>
      isObject(value)
        ? Object.keys(value).map((key) => [key, readValue(type, value[key], notes)])
        : notes.mismatch('an object', value),
  };
}

/** An identifier of up to 64 bits, as its decimal digits. */
export const id: FieldType<string> = {
  read(value, notes) {
    const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
    const digits = isWhole || typeof value === 'string' ? String(value) : '';
    return /^\d{1,20}$/.test(digits) ? digits : notes.mismatch('a whole number of up to 64 bits', value);
  },
};

/** An identifier that may be any text or a whole number. Nothing, and dots alone, would be another path. */
export const textId: FieldType<string> = {
  read(value, notes) {
    const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
    const given = isWhole || typeof value === 'string' ? String(value) : '';
    return /^\.*$/.test(given) ? notes.mismatch('a text or a whole number', value) : given;
  },
};

/** The id of another thing: 0 and -1 stand for none. */
export const reference: FieldType<string> = {
  read(value, notes) {
    const known = value === -1 ? undefined : id.read(value, notes);
    return known === undefined || /^0+$/.test(known) ? undefined : known;
  },
};

/** A date-time in UTC as seconds since 1970. The year 1, which .NET writes for «no date», is absent. */
export const instant: FieldType<number> = mapped(text, (written, notes) =>
  written.startsWith('0001-01-01')
    ? undefined
    : (parseInstant(written) ?? notes.mismatch('a date-time', written)),
);

/** `LiveEncoding` and `Live encoding` as `live_encoding`, `AIGateway` as `ai_gateway`. */
export function snakeCased(name: string): string {
  const words = name.trim().replaceAll(/[\s-]+/g, '_');
  return words.replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toLowerCase();
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `viewsChart` for `ViewsChart`, and the other way round. */
function inOtherCase(name: string): string {
  const first = name.slice(0, 1);
  const lower = first.toLowerCase();
  return (first === lower ? first.toUpperCase() : lower) + name.slice(1);
}

/** The field of an object; where it is missing, that with its first letter in the other case. */
export function fieldOf(given: Readonly<Record<string, unknown>>, name: string): unknown {
  return given[name] === undefined ? given[inOtherCase(name)] : given[name];
}

/** What a value is, for messages. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'number' && !Number.isFinite(value)
    ? 'a number that is too large'
    : `a ${typeof value}`;
}

type Shape = Readonly<Record<string, FieldType>>;
type Values<Of extends Shape> = { readonly [Name in keyof Of]?: ValueOf<Of[Name]> | undefined };

/** What a body is read as. */
export interface Answer<Reading = unknown> {
  /** The fields that are read: of an object, or of each element of a list. */
  readonly shape: Shape;
  /** Of a list. */
  readonly element?: ObjectType;
  /** Of a list: whether elements with the same labels are added up. Otherwise the later one counts. */
  readonly addsUp?: boolean;
  /** What is documented of the body. */
  readonly documented: Documented;
  /** The reading where there is nothing to read. */
  readonly nothing: Reading;
  /**
   * @param requested the range of time that it was requested for, if it was
   * @throws {ReadingError} when the body is not the expected answer
   */
  from(this: void, body: unknown, diagnostics: Diagnostics, requested?: RequestedRange): Reading;
}

/** The type of an object with these fields: of a whole answer, or of a value inside one. */
export interface ObjectType<Value = unknown> extends FieldType<Value>, Answer<Value> {
  readonly documented: Documented;
  /** The same, with further fields that the API documents and nobody reads, as `documented.ts` writes them. */
  ignoring(this: void, unread: string): ObjectType<Value>;
}

/**
 * An object with these fields. Fields of the wrong type are noted by their outermost name and left out; codes that are not
 * listed are noted and kept. An answer with none of the fields that are documented is not the expected one. A field that is
 * missing is looked for with its first letter in the other case.
 */
export function object<Of extends Shape>(shape: Of, unread = ''): ObjectType<Values<Of>> {
  const own = Object.entries(shape).map(([name, type]) => [name, type.documented ?? undescribed] as const);
  const fields = new Map([...own, ...documentedFields(unread)]);
  const types = Object.entries(shape).map(([name, type]) => {
    const other = inOtherCase(name);
    return [name, fields.has(other) ? name : other, type] as const;
  });
  const isKnown = (name: string) => fields.has(name) || fields.has(inOtherCase(name));
  /** depth: how many fields lead to the object. */
  const valuesOf = (given: Readonly<Record<string, unknown>>, notes: Notes, depth: number) => {
    const values: Record<string, unknown> = {};
    for (const [name, other, type] of types) {
      notes.path[depth] = name;
      values[name] = readValue(type, given[name] === undefined ? given[other] : given[name], notes);
    }
    notes.path.length = depth;
    return values as Values<Of>;
  };
  const read = (value: unknown, notes: Notes) =>
    isObject(value) ? valuesOf(value, notes, notes.path.length) : notes.mismatch('an object', value);
  const from: ObjectType<Values<Of>>['from'] = (body, diagnostics, requested) => {
    if (!isObject(body)) throw new ReadingError('schema', `expected an object, got ${nameOf(body)}`);
    if (!Object.keys(body).some(isKnown))
      throw new ReadingError('schema', 'the answer has none of the expected fields');
    const notes = new FieldNotes(diagnostics, requested);
    const values = valuesOf(body, notes, 0);
    for (const { field, value } of notes.unrecognized) diagnostics.unrecognized(field, value);
    return values;
  };
  const ignoring = (names: string) => object(shape, names);
  return { read, shape, documented: { fields }, nothing: {}, from, ignoring };
}

/** Reports under the name of the outermost field. */
class FieldNotes implements Notes {
  readonly path: string[] = [];
  readonly unrecognized: { readonly field: string; readonly value: string }[] = [];
  readonly requested: RequestedRange | undefined;
  readonly #diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics, requested: RequestedRange | undefined) {
    this.#diagnostics = diagnostics;
    this.requested = requested;
  }

  mismatch(expected: string, value: unknown): undefined {
    this.#diagnostics.mismatch(this.path[0] ?? '', expected, nameOf(value));
  }

  badKey(what: string): undefined {
    this.#diagnostics.mismatch(this.path[0] ?? '', `${what} as key`, 'another text');
  }
}

/** The field that tells elements apart: their first. */
export function identifierOf({ shape }: Answer): string {
  return Object.keys(shape)[0] ?? '';
}

/** What a list has. */
interface Classification<Element> {
  readonly usable: readonly Element[];
  /** The ids of what it calls deleted; undefined where one has none. */
  readonly deleted: readonly (string | undefined)[];
  /** How many elements cannot be used. */
  readonly unusable: number;
}

/** A list of objects. */
interface ListAnswer<Element> extends Answer<readonly Element[]> {
  /** As `from`, which gives what is usable. */
  classify(this: void, body: unknown, diagnostics: Diagnostics): Classification<Element>;
}

interface ListOptions {
  readonly addsUp?: boolean;
  /** What is listed, if the list decides which targets exist: then a single element that cannot be read is a failure, for nobody can tell which it is. */
  readonly complete?: string;
  /** The fields by which elements are told apart, of which an element needs one. None: it needs no more than any field. Default: the first. */
  readonly identifiers?: readonly string[];
}

/**
 * A list of such objects. An element that is not an object, or has none of its identifiers, is noted and left out; one that
 * says that it is deleted is left out. A list of which no element can be read is not the expected answer.
 */
export function elements<Element>(
  element: ObjectType<Element>,
  { addsUp = false, complete = '', identifiers = [identifierOf(element)] }: ListOptions = {},
): ListAnswer<Element> {
  const { shape, documented } = element;
  const first = identifierOf(element);
  const needed = identifiers.length > 0 ? identifiers : [...(documented.fields?.keys() ?? [])];
  const failed = (message: string) => new ReadingError('schema', message);
  const isUsable = (read: Element) =>
    identifiers.length === 0 || identifiers.some((name) => read[name as keyof Element] !== undefined);
  const classify: ListAnswer<Element>['classify'] = (body, diagnostics) => {
    if (!Array.isArray(body))
      throw failed(`expected ${complete ? `a list of ${complete}` : 'an array'}, got ${nameOf(body)}`);
    const usable: Element[] = [];
    const deleted: unknown[] = [];
    for (const value of body as readonly unknown[]) {
      if (!isObject(value)) diagnostics.mismatch(first, 'an object', nameOf(value));
      else if (fieldOf(value, 'Deleted') === true) deleted.push(fieldOf(value, first));
      else if (!needed.some((name) => (fieldOf(value, name) ?? null) !== null))
        diagnostics.mismatch(first, 'an identifier', 'nothing');
      else {
        // An identifier of the wrong type is noted here, as any field is.
        const read = element.from(value, diagnostics);
        if (isUsable(read)) usable.push(read);
      }
    }
    const unusable = body.length - deleted.length - usable.length;
    if (unusable > 0 && unusable === body.length)
      throw failed(`no element of the array has a usable ${first}`);
    if (complete && unusable > 0)
      throw failed(
        `the listing is incomplete: ${unusable} of ${body.length} ${complete} without a usable ${first}`,
      );
    return { usable, deleted: deleted.map((own) => (own ?? undefined) && String(own)), unusable };
  };
  const from: Answer<readonly Element[]>['from'] = (body, diagnostics) => classify(body, diagnostics).usable;
  return { shape, element, addsUp, documented: { elements: documented }, nothing: [], from, classify };
}
