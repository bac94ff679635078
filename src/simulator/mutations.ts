/**
 * Edits of good answers: what a fault makes of the data in them. It knows where each operation keeps its reading and
 * which fields are ids; it knows no HTTP and no fault.
 */
import { rawJson } from './json.ts';
import type { Operation } from './request.ts';

type Json = Record<string, unknown>;

/** What is read, of any operation: an object, or for listings a list of objects. */
export type Edit = (reading: unknown) => unknown;

const idFields = new Set(['shieldZoneId', 'ratelimitId']);

/** The body with its reading edited: all of an application's answer, `data` of the others; other bodies stay as they are. */
export function editReading(operation: Operation, body: unknown, edit: Edit): unknown {
  if (!isObject(body)) return body;
  if (operation === 'application') return edit(body);
  return body['data'] === undefined || body['data'] === null ? body : { ...body, data: edit(body['data']) };
}

/** The edit for each object of a listing, and for the one object of the others. */
export function each(edit: (item: Json) => Json): Edit {
  return (reading) => {
    if (isList(reading)) return reading.map((item) => (isObject(item) ? edit(item) : item));
    return isObject(reading) ? edit(reading) : reading;
  };
}

/** The edit for every value that is no object with fields, at any depth, less the ids. */
export function leaves(edit: (value: unknown, place: number) => unknown): Edit {
  return (reading) => {
    let place = 0;
    const walk = (value: unknown): unknown => {
      if (!isObject(value)) {
        place += 1;
        return edit(value, place - 1);
      }
      return Object.fromEntries(
        Object.entries(value).map(([field, held]) => [field, idFields.has(field) ? held : walk(held)]),
      );
    };
    return isList(reading) ? reading.map(walk) : walk(reading);
  };
}

/** Every field null, ids apart. */
export const nulled = each((item) =>
  Object.fromEntries(Object.entries(item).map(([field, held]) => [field, idFields.has(field) ? held : null])),
);

/** No fields but ids. */
export const emptied = each((item) =>
  Object.fromEntries(Object.entries(item).filter(([field]) => idFields.has(field))),
);

/** Each value of a type that the reference does not give it; none can be read as the right one. */
export const mistyped = leaves((value) => wrongValues[typeof value] ?? true);

const wrongValues: Readonly<Record<string, unknown>> = { number: 'many', string: 7, boolean: 'perhaps' };

/** A list where an object belongs, and the other way round. */
export const misshapen: Edit = (reading) =>
  isList(reading) ? Object.fromEntries(reading.entries()) : [reading];

const hugeNumbers = ['9223372036854775807', '1e308', '1e400', '123456789012345678901234567890', '1e-400'];
const numberStrings = ['NaN', 'Infinity', '-Infinity', '1,234', '0x1f', '', ' ', '12 ms', '1e', '--1'];

/** Numbers at and beyond what a double or 64 bits can hold. */
export const huge = numbers((_value, place) => rawJson(hugeNumbers[place % hugeNumbers.length] as string));

export const negative = numbers((value) => (value === 0 ? -1 : -value));

/** Whole numbers written with a fraction of zero. */
export const doubled = numbers((value) => (Number.isInteger(value) ? rawJson(`${value}.0`) : value));

/** Text where numbers belong. */
export const stringly = numbers((_value, place) => numberStrings[place % numberStrings.length]);

function numbers(edit: (value: number, place: number) => unknown): Edit {
  return leaves((value, place) => (typeof value === 'number' ? edit(value, place) : value));
}

/** The first of a listing a second time, with other numbers. */
export const repeated: Edit = (reading) => {
  if (!isList(reading) || reading.length === 0) return reading;
  return [...reading, numbers((value) => value + 1)(reading[0])];
};

/** A state that the reference does not list; codes that the vendor does not name. */
export const unrecognized = each((item) =>
  Object.fromEntries(
    Object.entries(item).map(([field, held]) => {
      if (field === 'status') return [field, 'hibernating'];
      return [field, codeFields.has(field) ? 97 : held];
    }),
  ),
);

const codeFields = new Set([
  'wafExecutionMode',
  'wafRequestBodyLimitAction',
  'wafResponseBodyLimitAction',
  'planType',
  'dDoSShieldSensitivity',
  'dDoSExecutionMode',
]);

export const capitalised = each((item) => {
  const status = String(item['status']);
  return { ...item, status: status.charAt(0).toUpperCase() + status.slice(1) };
});

const dayFields = ['overviewPastTwentyEightDays', 'ratelimitOverviewPastTwentyEightDays'];

/** Days in no order, every second one written as an ISO date. */
export const mixedDays = each((item) =>
  editMaps(item, dayFields, (entries) => {
    const mixed = entries.map(([day, held], place): [string, unknown] => [
      place % 2 === 0 ? day.split('-').reverse().join('-') : day,
      held,
    ]);
    const half = mixed.filter((_entry, place) => place % 3 === 0);
    return [...half.reverse(), ...mixed.filter((_entry, place) => place % 3 !== 0)];
  }),
);

/** Days and instants that no one can read. */
export const timeless = each((item) => {
  const edited = editMaps(item, [...dayFields, 'latencyChart'], (entries) =>
    entries.map(([, held], place): [string, unknown] => [`${place} days after the fair`, held]),
  );
  for (const field of ['learningModeUntil', 'calculatedAt']) {
    if (field in edited) edited[field] = '2026-13-45T99:00:00Z';
  }
  return edited;
});

/** Fields that the reference does not have. */
export const extended = each((item) => ({
  addedLater: { deep: [1, { more: null }] },
  ...item,
  newFlag: true,
}));

function editMaps(
  item: Json,
  fields: readonly string[],
  edit: (entries: [string, unknown][]) => [string, unknown][],
): Json {
  const edited = { ...item };
  for (const field of fields) {
    const map = edited[field];
    if (isObject(map)) edited[field] = Object.fromEntries(edit(Object.entries(map)));
  }
  return edited;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
