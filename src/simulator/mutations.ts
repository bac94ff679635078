/** The faults that change the data of a good answer, by the traits of the operation. */
import { type FaultDeclaration, spoilt } from './fault.ts';
import { rawJson } from './json.ts';
import type { Traits } from './kind.ts';

type Json = Record<string, unknown>;

/** Changes a reading: an object, or a list of objects. */
type Mutation = (reading: unknown, traits: Traits) => unknown;

/** The body with its reading changed; a body without a reading stays as it is. A list that is the body is the reading. */
export function mutateReading(traits: Traits, body: unknown, mutation: Mutation): unknown {
  if (isList(body) && traits.list) return mutation(body, traits);
  if (!isObject(body)) return body;
  return mutateAt(body, traits.field?.split('.') ?? [], (reading) => mutation(reading, traits));
}

function mutateAt(value: unknown, path: readonly string[], mutate: (reading: unknown) => unknown): unknown {
  const [field, ...rest] = path;
  if (field === undefined) return (value ?? null) === null ? value : mutate(value);
  return isObject(value) ? { ...value, [field]: mutateAt(value[field], rest, mutate) } : value;
}

/** Changes each object of a list, or the one object. */
function each(mutate: (item: Json, traits: Traits) => Json): Mutation {
  return (reading, traits) => {
    if (isList(reading)) return reading.map((item) => (isObject(item) ? mutate(item, traits) : item));
    return isObject(reading) ? mutate(reading, traits) : reading;
  };
}

/** Changes the fields of each object, ids apart; a field of which nothing is made is left out. */
function fields(mutate: (field: string, held: unknown, traits: Traits) => readonly unknown[]): Mutation {
  return each((item, traits) =>
    Object.fromEntries(
      Object.entries(item).flatMap(([field, held]) =>
        (isIdOf(traits, field) ? [held] : mutate(field, held, traits)).map((made) => [field, made]),
      ),
    ),
  );
}

/** Changes every value that is no object with fields, at any depth, ids apart. */
function leaves(mutate: (value: unknown, index: number) => unknown): Mutation {
  return (reading, traits) => {
    let index = 0;
    const walk = (value: unknown): unknown => {
      if (!isObject(value)) {
        index += 1;
        return mutate(value, index - 1);
      }
      return Object.fromEntries(
        Object.entries(value).map(([field, held]) => [field, isIdOf(traits, field) ? held : walk(held)]),
      );
    };
    return isList(reading) ? reading.map(walk) : walk(reading);
  };
}

function isIdOf({ ids = [] }: Traits, field: string): boolean {
  return ids.includes(field);
}

const wrongValues: Readonly<Record<string, unknown>> = { number: 'many', string: 7, boolean: 'perhaps' };

const hugeNumbers = ['9223372036854775807', '1e308', '1e400', '123456789012345678901234567890', '1e-400'];
const numberStrings = ['NaN', 'Infinity', '-Infinity', '1,234', '0x1f', '', ' ', '12 ms', '1e', '--1'];

function numbers(mutate: (value: number, index: number) => unknown): Mutation {
  return leaves((value, index) => (typeof value === 'number' ? mutate(value, index) : value));
}

/** Every entry of a listing under an id that depends on the page: ids are texts or whole numbers. */
export function invented(page: number): Mutation {
  return (reading, { ids: [id = ''] = [] }) => {
    if (!isList(reading)) return reading;
    return reading.map((item) => (isObject(item) ? { ...item, [id]: inventedId(item[id], page) } : item));
  };
}

function inventedId(id: unknown, page: number): unknown {
  if (typeof id === 'number') return id + 1_000_000 * page;
  // A GUID keeps its form.
  return typeof id === 'string' ? id.replace(/.{4}$/, String(page).padStart(4, '0')) : id;
}

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

function named(rename: (name: unknown, index: number) => unknown): Mutation {
  return (reading, traits) => {
    let index = 0;
    return each((item, { names = [] }) => {
      const renamed = { ...item };
      for (const field of names) if (field in renamed) renamed[field] = rename(renamed[field], index);
      index += 1;
      return renamed;
    })(reading, traits);
  };
}

function mutateMaps(
  item: Json,
  names: readonly string[],
  mutate: (entries: [string, unknown][]) => [string, unknown][],
): Json {
  const mutated = { ...item };
  for (const field of names) {
    const map = mutated[field];
    if (isObject(map)) mutated[field] = Object.fromEntries(mutate(Object.entries(map)));
  }
  return mutated;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

/** The first of a listing a second time, with other numbers and another name. */
const repeated: Mutation = (reading, traits) => {
  if (!isList(reading) || reading.length === 0) return reading;
  const other = numbers((value) => value + 1)(reading[0], traits);
  return [...reading, named((name) => `${String(name)} again`)(other, traits)];
};

const nameless: Mutation = (reading, traits) => {
  if (!isList(reading)) return reading;
  const [first, ...others] = reading;
  if (!isObject(first)) return reading;
  const kept = Object.entries(first).filter(([field]) => !isIdOf(traits, field));
  return [Object.fromEntries(kept), ...others];
};

const unrecognized = fields((field, held, { states = [], codes = [] }) => {
  if (states.includes(field)) return ['hibernating'];
  return [codes.includes(field) ? 97 : held];
});

const capitalised = fields((field, held, { states = [] }) => {
  const state = String(held);
  return [states.includes(field) ? state.charAt(0).toUpperCase() + state.slice(1) : held];
});

const mixedDays = each((item, { days = [] }) =>
  mutateMaps(item, days, (entries) => {
    const mixed = entries.map(([day, held], index): [string, unknown] => [
      index % 2 === 0 ? day.split('-').reverse().join('-') : day,
      held,
    ]);
    const third = mixed.filter((_entry, index) => index % 3 === 0);
    return [...third.reverse(), ...mixed.filter((_entry, index) => index % 3 !== 0)];
  }),
);

const timeless = each((item, { days = [], charts = [], instants = [] }) => {
  const mutated = mutateMaps(item, [...days, ...charts], (entries) =>
    entries.map(([, held], index): [string, unknown] => [`${index} days after the fair`, held]),
  );
  return instants.reduce(
    (made, path) => mutateAt(made, path.split('.'), () => '2026-13-45T99:00:00Z') as Json,
    mutated,
  );
});

const extended = each((item) => ({ addedLater: { deep: [1, { more: null }] }, ...item, newFlag: true }));

/** Changes the data in a good answer. to: it happens to readings with one of these; default to all. */
function mutated(description: string, mutation: Mutation, ...to: readonly (keyof Traits)[]) {
  const appliesTo = ({ traits }: { readonly traits: Traits }) =>
    to.length === 0 || to.some((trait) => trait in traits);
  return spoilt(
    description,
    (reply, { operation }) => ({ ...reply, json: mutateReading(operation.traits, reply.json, mutation) }),
    appliesTo,
  );
}

/** The faults that change the data of a good answer. */
export const dataFaults = {
  'wrong-types': mutated(
    'Every value of a wrong type, ids apart',
    leaves((value) => wrongValues[typeof value] ?? true),
  ),
  'wrong-shapes': mutated('A list in the place of the object, or the other way round', (reading) =>
    isList(reading) ? Object.fromEntries(reading.entries()) : [reading],
  ),
  'all-null': mutated(
    'Every field null, ids apart',
    fields(() => [null]),
  ),
  'all-missing': mutated(
    'No fields but ids',
    fields(() => []),
  ),
  'huge-numbers': mutated(
    'Numbers at and beyond the range of doubles and 64 bits',
    numbers((_value, index) => rawJson(hugeNumbers[index % hugeNumbers.length] as string)),
    'number',
  ),
  'negative-numbers': mutated(
    'Every number negative',
    numbers((value) => (value === 0 ? -1 : -Math.abs(value))),
    'number',
  ),
  'integers-as-doubles': mutated(
    'Whole numbers written as 3.0, which is right',
    numbers((value) => (Number.isInteger(value) ? rawJson(`${value}.0`) : value)),
    'wholeNumbers',
  ),
  'number-strings': mutated(
    'Text such as "NaN" in the place of every number',
    numbers((_value, index) => numberStrings[index % numberStrings.length]),
    'number',
  ),
  'duplicate-ids': mutated(
    'The first of the listing again, with other numbers and another name',
    repeated,
    'list',
  ),
  'entry-without-id': mutated('The first of the listing without an id', nameless, 'list'),
  'hostile-names': mutated(
    'Names with line ends, quotes, 10,000 letters, right-to-left marks, lone surrogates and markup',
    named((_name, index) => hostile[index % hostile.length]),
    'names',
  ),
  'unknown-values': mutated('A state or codes that nobody documents', unrecognized, 'states', 'codes'),
  'capitalised-status': mutated('The state with a capital letter, which is right', capitalised, 'states'),
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
