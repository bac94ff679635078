/** The faults that change the data of a good answer, by the traits of the operation. */
import { edited, type FaultDeclaration } from './fault.ts';
import { rawJson } from './json.ts';
import type { Traits } from './kind.ts';

type Json = Readonly<Record<string, unknown>>;

/** Changes a reading: an object, or a list of objects. */
type Mutation = (reading: unknown, traits: Traits) => unknown;

/** The body with its reading changed; a body without a reading stays as it is. */
export function mutateReading(traits: Traits, body: unknown, mutation: Mutation): unknown {
  return changeAt(body, traits.field?.split('.') ?? [], (reading) => mutation(reading, traits));
}

function changeAt(value: unknown, path: readonly string[], change: (held: unknown) => unknown): unknown {
  const [field, ...rest] = path;
  if (field === undefined) return (value ?? null) === null ? value : change(value);
  return isObject(value) ? { ...value, [field]: changeAt(value[field], rest, change) } : value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Changes each object of a list, or the one object. */
function each(change: (item: Json, traits: Traits, index: number) => object): Mutation {
  return (reading, traits) =>
    Array.isArray(reading)
      ? reading.map((item: Json, index) => change(item, traits, index))
      : change(reading as Json, traits, 0);
}

/** Changes the fields of each object, except ids. */
function fields(change: (held: unknown, field: string, traits: Traits) => unknown): Mutation {
  return each((item, traits) => mapped(item, (held, field) => change(held, field, traits), traits));
}

/** The object with its fields changed, except ids. JSON leaves out what is undefined. */
function mapped(item: Json, change: (held: unknown, field: string) => unknown, { ids = [] }: Traits): Json {
  return Object.fromEntries(
    Object.entries(item)
      .filter(([, held]) => held !== undefined)
      .map(([field, held]) => [field, ids.includes(field) ? held : change(held, field)]),
  );
}

/** Changes every value that is not an object, at any depth, except ids. */
function leaves(change: (value: unknown, index: number) => unknown): Mutation {
  return (reading, traits) => {
    let index = -1;
    const walk = (value: unknown): unknown => {
      if (isObject(value)) return mapped(value, walk, traits);
      index += 1;
      return change(value, index);
    };
    return Array.isArray(reading) ? reading.map(walk) : walk(reading);
  };
}

function numbers(change: (value: number, index: number) => unknown): Mutation {
  return leaves((value, index) => (typeof value === 'number' ? change(value, index) : value));
}

/** Changes maps by day or by instant, at any depth. */
function maps(
  isKey: RegExp,
  change: (entries: readonly [string, unknown][]) => [string, unknown][],
): Mutation {
  const walk = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    const entries = Object.entries(value);
    if (entries.some(([key]) => isKey.test(key))) return Object.fromEntries(change(entries));
    return Object.fromEntries(entries.map(([field, held]) => [field, walk(held)]));
  };
  return (reading) => (Array.isArray(reading) ? reading.map(walk) : walk(reading));
}

function named(rename: (name: unknown, index: number) => unknown): Mutation {
  return each((item, { name = '' }, index) =>
    name in item ? { ...item, [name]: rename(item[name], index) } : item,
  );
}

/** Changes a list that has entries. */
function list(
  change: (first: Json, others: readonly Json[], traits: Traits) => readonly unknown[],
): Mutation {
  return (reading, traits) => {
    if (!Array.isArray(reading)) return reading;
    const [first, ...others] = reading as Json[];
    return first ? change(first, others, traits) : reading;
  };
}

/** Gives every entry of a listing another id, which depends on the page. */
export function invented(page: number): Mutation {
  // A GUID keeps its form.
  const other = (id: unknown) =>
    typeof id === 'number'
      ? id + 1_000_000 * page
      : String(id).replace(/.{4}$/, String(page).padStart(4, '0'));
  return each((item, { ids: [id = ''] = [] }) => ({ ...item, [id]: other(item[id]) }));
}

const wrongValues: Json = { number: 'many', string: 7, boolean: 'perhaps' };
const hugeNumbers = ['9223372036854775807', '1e308', '1e400', '123456789012345678901234567890', '1e-400'];
const numberStrings = ['NaN', 'Infinity', '-Infinity', '1,234', '0x1f', '', ' ', '12 ms', '1e', '--1'];
const hostile = [
  'two\nlines\r\nand\u2028more',
  '"quoted" \\ and {braced="yes"} # HELP',
  'x'.repeat(10_000),
  '\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd',
  'lone \ud800 surrogate \udc00',
  '__proto__',
  '\u0000\u0007\u001b[31m',
  '<script>alert(1)</script>',
];
const day = /^\d\d-\d\d-\d{4}$/;
const instant = /^\d{4}-\d\d-\d\dT/;

const wrongTypes = leaves((value) => wrongValues[typeof value] ?? true);
const allNull = fields(() => null);
const allMissing = fields(() => undefined);
const huge = numbers((_value, index) => rawJson(hugeNumbers[index % hugeNumbers.length] as string));
const negative = numbers((value) => (value === 0 ? -1 : -Math.abs(value)));
const doubles = numbers((value) => (Number.isInteger(value) ? rawJson(`${value}.0`) : value));
const strings = numbers((_value, index) => numberStrings[index % numberStrings.length]);
const hostilelyNamed = named((_name, index) => hostile[index % hostile.length]);
const extended = each((item) => ({ addedLater: { deep: [1, { more: null }] }, ...item, newFlag: true }));

const otherShape: Mutation = (reading) =>
  Array.isArray(reading) ? Object.fromEntries(reading.entries()) : [reading];

const unrecognized = fields((held, field, { codes = [] }) => {
  if (field === 'status') return 'hibernating';
  return codes.includes(field) ? 97 : held;
});

const capitalised = fields((held, field) =>
  field === 'status' ? String(held).replace(/^./, (letter) => letter.toUpperCase()) : held,
);

/** The first of a listing a second time, with other numbers and another name. */
const repeated = list((first, others, traits) => {
  const other = numbers((value) => value + 1)(first, traits);
  return [first, ...others, named((name) => `${String(name)} again`)(other, traits)];
});

const firstWithoutId = list((first, others, { ids = [] }) => [
  { ...first, ...Object.fromEntries(ids.map((id) => [id, undefined])) },
  ...others,
]);

const mixedDays = maps(day, (entries) => {
  const mixed = entries.map(([name, held], index): [string, unknown] => [
    index % 2 === 0 ? name.split('-').reverse().join('-') : name,
    held,
  ]);
  return [...mixed.slice(20), ...mixed.slice(0, 20).toReversed()];
});

const timeless: Mutation = (reading, traits) => {
  const unread = leaves((value) => (instant.test(String(value)) ? '2026-13-45T99:00:00Z' : value));
  const isTime = new RegExp(`${day.source}|${instant.source}`);
  const nameless = maps(isTime, (entries) =>
    entries.map(([, held], index) => [`${index} days after the fair`, held]),
  );
  return nameless(unread(reading, traits), traits);
};

/** Changes the data in a good answer. to: only of operations with one of these traits; default all. */
function mutated(description: string, mutation: Mutation, ...to: readonly (keyof Traits)[]) {
  return edited(
    description,
    (reply, { operation }) => ({ ...reply, body: mutateReading(operation.traits, reply.body, mutation) }),
    ({ traits }) => to.length === 0 || to.some((trait) => trait in traits),
  );
}

const numeric = ['number', 'integer'] as const;

/** The faults that change the data of a good answer. */
export const dataFaults = {
  'wrong-types': mutated('Every value of a wrong type, ids apart', wrongTypes),
  'wrong-shapes': mutated('A list in the place of the object, or the other way round', otherShape),
  'all-null': mutated('Every field null, ids apart', allNull),
  'all-missing': mutated('No fields but ids', allMissing),
  'huge-numbers': mutated('Numbers at and beyond the range of doubles and 64 bits', huge, ...numeric),
  'negative-numbers': mutated('Every number negative', negative, ...numeric),
  'integers-as-doubles': mutated('Whole numbers written as 3.0, which is right', doubles, 'integer'),
  'number-strings': mutated('Text such as "NaN" in the place of every number', strings, ...numeric),
  'duplicate-ids': mutated(
    'The first of the listing again, with other numbers and another name',
    repeated,
    'ids',
  ),
  'entry-without-id': mutated('The first of the listing without an id', firstWithoutId, 'ids'),
  'hostile-names': mutated(
    'Names with line ends, quotes, 10,000 letters, right-to-left marks, lone surrogates and markup',
    hostilelyNamed,
    'name',
  ),
  'unknown-values': mutated('A state or codes that nobody documents', unrecognized, 'status', 'codes'),
  'capitalised-status': mutated('The state with a capital letter, which is right', capitalised, 'status'),
  'mixed-day-keys': mutated('Days in no order, half of them ISO dates, which is right', mixedDays, 'days'),
  'unreadable-times': mutated(
    'Days and instants that cannot be read',
    timeless,
    'days',
    'charts',
    'instants',
  ),
  'extra-fields': mutated('Fields that the reference does not have, which is right', extended),
} as const satisfies Record<string, FaultDeclaration>;
