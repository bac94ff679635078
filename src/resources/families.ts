/**
 * The families of the page, and the language in which a kind says what a field becomes: a gauge, a flag, a label, a figure
 * by days. What of a HELP names the API field, and which fields can be of the wrong type, follows from the field's place in
 * the answer. Nothing here knows a kind, or how the page is written.
 */
import {
  boolean,
  code,
  type FieldType,
  integer,
  list,
  listOf,
  mapped,
  type ObjectType,
  oneOf,
} from './fields.ts';

/** The target's labels and their values, in the order in which they are exposed. */
export type Ids = Readonly<Record<string, string>>;

/** A part of a target that has a name. */
export interface NamedPart {
  readonly ids: Ids;
  readonly name?: string | undefined;
}

/** The target whose reading becomes samples: its ids, its name, and the settings of its section. */
export interface TargetContext<Settings = unknown> {
  readonly ids: Ids;
  readonly name: string | undefined;
  /** The parts of the target that have a name. */
  readonly parts?: readonly NamedPart[] | undefined;
  readonly settings: Settings;
}

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Labels beyond the target's; their names are the family's `labels`. */
  readonly labels?: Labels;
  readonly value: number;
}

/** What the API has counted on one day so far. */
export interface DayFigure {
  /** Start of the UTC day, in seconds since 1970. */
  readonly startSeconds: number;
  readonly value: number;
}

/** The days of one series of a counter, in any order. */
export interface CounterSample {
  /** Labels beyond the target's; their names are the family's `labels`. */
  readonly labels?: Labels;
  readonly days: readonly DayFigure[];
}

/** How many series one target has of a counter whose label values the API invents. */
export interface CounterBound {
  /** So many have a series of their own: the largest. */
  readonly most: number;
  /** The labels of what all others are counted as. */
  readonly rest: Labels;
}

/** One metric family as data. */
export interface Family<Reading = unknown> {
  readonly name: string;
  readonly help: string;
  /**
   * info: a gauge that is always 1 and carries text in labels; its name ends in `_info`. counter: what `days` has gained since
   * this process first read it; its name ends in `_total`.
   */
  readonly type: 'gauge' | 'info' | 'counter';
  /** The base unit that the name ends in. */
  readonly unit?: 'seconds' | 'bytes' | undefined;
  /** Names of the labels beyond the target's. */
  readonly labels: readonly string[];
  /** The outermost fields of the answer that it comes from. */
  readonly fields: readonly string[];
  /** The samples of a reading; none for what the API did not give. */
  samples(reading: Reading, target: TargetContext): readonly Sample[];
  /** Of a counter: the days that a reading has. */
  days?(reading: Reading, target: TargetContext): readonly CounterSample[];
  /** Of a counter whose label values the API invents. */
  readonly bound?: CounterBound | undefined;
}

/** A family as a kind declares it: what follows from its name and its fields is left out. */
export interface Shown<Value = unknown> {
  /** Without the prefix of the kind. It ends in its unit; a counter's ends in `_total`. Fields of one name make one family. */
  readonly name: string;
  /** How its HELP begins. The API field follows in brackets. */
  readonly words?: string;
  /** What the HELP says before the field: `length of the`. */
  readonly before?: string | undefined;
  /** What the HELP says after the field: `divided by 100`, or which fields inside it are meant. */
  readonly note?: string | undefined;
  /** What the HELP says after the brackets. */
  readonly after?: string | undefined;
  /** The whole HELP, where it is put together in another way. */
  readonly help?: string;
  /** Names of the labels beyond the target's. Default: none. */
  readonly labels?: readonly string[];
  /** The fields that it comes from. Default: the one that it is declared with. */
  readonly fields?: readonly string[];
  /** What the value is on the page: of a counter its days. A number is a sample without labels. */
  series(value: Value, target: TargetContext): Series | number | undefined;
}

type Series = readonly (Sample | CounterSample)[];

/** The type of a field that is on the page. */
interface ShownType<Value = unknown> extends FieldType<Value> {
  readonly shown?: readonly Shown<Value>[];
  /** The label of the kind's `_info` that has its text. */
  readonly label?: string;
}

/** A field that becomes these families. */
export function shown<Value>(type: FieldType<Value>, ...families: readonly Shown<Value>[]): FieldType<Value> {
  const before = (type as ShownType<Value>).shown ?? [];
  return Object.assign(
    mapped(type, (value) => value),
    { shown: [...before, ...families] },
  );
}

/** What can be said of a gauge beside its name, its type and its words. */
interface GaugeOptions {
  /** What the HELP says after the field. */
  readonly note?: string;
  /** For a family of several fields: what tells this one from the others. */
  readonly labels?: Labels;
}

/** A number as it is; true and false as 1 and 0. */
export function gauge<Value extends number | boolean>(
  name: string,
  type: FieldType<Value>,
  words: string,
  { note, labels }: GaugeOptions = {},
): FieldType<Value> {
  const own = labels && Object.freeze({ ...labels });
  return shown(type, {
    name,
    words,
    note,
    labels: Object.keys(labels ?? {}),
    series: (value) => (own ? [{ labels: own, value: Number(value) }] : Number(value)),
  });
}

/** A whole number of things, or of bytes. */
export function count(name: string, words: string, options?: GaugeOptions): FieldType<number> {
  return gauge(name, integer, words, options);
}

/** A code that stands for one of these, from 0. One that the reference does not list is shown, and noted. */
export function coded(name: string, words: string, meanings: readonly string[]): FieldType<number> {
  const listed = meanings.map((meaning, value) => `${value} ${meaning}`).join(', ');
  return gauge(name, code([...meanings.keys()]), `${words}: ${listed}`);
}

/** 1 for yes, 0 for no. */
export function flag(name: string, words: string): FieldType<boolean> {
  return gauge(name, boolean, `${words}: 1 yes, 0 no`);
}

/** The length of a list. */
export function length(name: string, words: string): FieldType<readonly unknown[]> {
  return shown(list, {
    name,
    words: `Number of ${words}`,
    before: 'length of the',
    series: (all) => all.length,
  });
}

/** A text of the kind's `_info`. */
export function label(name: string, type: FieldType<string>): FieldType<string> {
  return Object.assign(
    mapped(type, (value) => value),
    { label: name },
  );
}

/** One of these states: a series for each, 1 for the one that it is in. words: what has the state; subject: the same in short. */
export function states<State extends string>(
  name: string,
  words: string,
  all: readonly State[],
  subject = 'it',
): FieldType<State> {
  const labels = all.map((status) => Object.freeze({ status }));
  return shown(oneOf(all), {
    name,
    words,
    after: `: 1 for the state that ${subject} is in, 0 for the others`,
    labels: ['status'],
    series: (state) => labels.map((own) => ({ labels: own, value: own.status === state ? 1 : 0 })),
  });
}

/** How many of these are in each of the states there are. */
export function countSamples(
  name: string,
  states: readonly string[],
  given: readonly (string | undefined)[],
): readonly Sample[] {
  return states.map((known) => ({
    labels: { [name]: known },
    value: given.filter((state) => state === known).length,
  }));
}

/** A list of objects, each with series of its own. One without the field that tells them apart is left out. */
export function each<Element>(
  name: string,
  identifier: keyof Element & string,
  element: ObjectType<Element>,
): FieldType<readonly Element[]> {
  const known = mapped(listOf(element), (all) => all.flatMap((one) => (one?.[identifier] ? [one] : [])));
  const inside = perElement(name, identifier, familiesOf(element)).map(
    ({ fields = [], note, ...family }) => ({
      ...family,
      note: [...fields, ...(note ? [note] : [])].join(', '),
    }),
  );
  return shown(known, ...inside);
}

/** The families of an element as those of a list: each element has series of its own, told apart by a label. */
export function perElement<Element>(
  name: string,
  identifier: keyof Element,
  families: readonly Shown<Element>[],
): readonly Shown<readonly Element[]>[] {
  return families.map((family) => ({
    ...family,
    labels: [name, ...(family.labels ?? [])],
    series: (elements, target) =>
      elements.flatMap((element) =>
        seriesOf(family, element, target).map((one) => ({
          ...one,
          labels: { [name]: String(element[identifier]), ...one.labels },
        })),
      ),
  }));
}

/** The families of the fields of an object, in the order of the first field of each. */
export function familiesOf<Values>(object: ObjectType<Values>): readonly Shown<Values>[] {
  const families = new Map<string, Shown<Values>>();
  for (const [field, { shown: own = [] }] of fieldsOf(object)) {
    for (const family of own) {
      families.set(family.name, joined(families.get(family.name), ofField<Values>(field, family)));
    }
  }
  return [...families.values()];
}

function fieldsOf<Values>({ names, shape }: ObjectType<Values>) {
  return names.map((name) => [name as keyof Values & string, shape[name] as ShownType] as const);
}

function ofField<Values>(field: keyof Values & string, family: Shown): Shown<Values> {
  return {
    ...family,
    fields: family.fields ?? [field],
    series: (values, target) =>
      values[field] === undefined ? undefined : family.series(values[field], target),
  };
}

function joined<Values>(one: Shown<Values> | undefined, other: Shown<Values>): Shown<Values> {
  if (!one) return other;
  return {
    ...one,
    fields: [...(one.fields ?? []), ...(other.fields ?? [])],
    series: (values, target) => [...seriesOf(one, values, target), ...seriesOf(other, values, target)],
  };
}

function seriesOf<Value>(family: Shown<Value>, value: Value, target: TargetContext) {
  const given = family.series(value, target) ?? [];
  return typeof given === 'number' ? [{ value: given }] : given;
}

/** The kind's `_info`: the target's name, and the fields that are labels. Without a single text there is no series. */
export function infoOf<Values>(words: string, answer?: ObjectType<Values>): Shown<Values> {
  const labelled = (answer ? fieldsOf(answer) : []).filter(([, type]) => type.label !== undefined);
  const labels = [...new Set(['name', ...labelled.map(([, type]) => type.label ?? '')])];
  return {
    name: 'info',
    words,
    fields: labelled.map(([field]) => field),
    labels,
    series(values, { name }) {
      const texts: Record<string, string> = Object.fromEntries(labels.map((one) => [one, '']));
      for (const [field, type] of labelled) texts[type.label ?? ''] = String(values[field] ?? '');
      if (name) texts['name'] = name;
      return labels.some((one) => texts[one]) ? [{ labels: texts, value: 1 }] : [];
    },
  };
}

/** The family that the page has. prefix: that of the kind. */
export function finished<Reading>(prefix: string, family: Shown<Reading>): Family<Reading> {
  const { name, labels = [], fields = [], help = helpOf(family) } = family;
  const unit = /_(seconds|bytes)(_total)?$/.exec(name)?.[1] as 'seconds' | 'bytes' | undefined;
  const about = { name: `${prefix}_${name}`, help, unit, labels, fields };
  if (name.endsWith('_total')) {
    const days = (reading: Reading, target: TargetContext) =>
      seriesOf(family, reading, target) as readonly CounterSample[];
    return { ...about, type: 'counter', samples: () => [], days };
  }
  const samples = (reading: Reading, target: TargetContext) =>
    seriesOf(family, reading, target) as readonly Sample[];
  return { ...about, type: name === 'info' ? 'info' : 'gauge', samples };
}

function helpOf({ words = '', before, fields = [], note, after = '' }: Shown): string {
  if (fields.length === 0) return `${words}${after}.`;
  const named = `API field${fields.length > 1 ? 's' : ''} ${fields.join(', ')}`;
  const from = [before, note === undefined ? named : `${named}, ${note}`].filter(Boolean).join(' ');
  return `${words} (${from})${after}.`;
}
