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

/** What a value is on the page: a family, less what follows from its name and its fields. */
export interface Shown<Value = unknown> {
  /** Without the prefix of the kind. It ends in its unit; a counter's ends in `_total`. Fields of one name make one family. */
  readonly name: string;
  /** The HELP without its full stop. `%s` stands for `API field Name`; where it is left out, that follows in brackets. */
  readonly words: string;
  /** The fields that it comes from. Default: the one that it is declared with. */
  readonly fields?: readonly string[] | undefined;
  /** For a family of several fields: the label that tells this one from the others. */
  readonly of?: Labels;
  /** Names of the labels that `series` gives. Default: none. */
  readonly labels?: readonly string[];
  /** Of a counter whose label values the API invents. */
  readonly bound?: CounterBound;
  /** What becomes of the same figure of two elements of one name. Default: they are added up. */
  readonly together?: 'most';
  /**
   * A number is a sample without labels. A series of days is what a counter adds up; of a gauge it is the newest day that any
   * series has.
   */
  series(this: void, value: Value, target: TargetContext): Series | number | undefined;
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
  return Object.assign(
    mapped(type, (value) => value),
    { shown: families },
  );
}

/** A number as it is; true and false as 1 and 0. of: as in `Shown`. */
export function gauge<Value extends number | boolean>(
  name: string,
  type: FieldType<Value>,
  words: string,
  of?: Labels,
): FieldType<Value> {
  return shown(type, { name, words, ...(of && { of }), series: (value) => Number(value) });
}

/** A share from 0 to 1: of two elements of one name the higher one counts. */
export function ratio(name: string, type: FieldType<number>, words: string): FieldType<number> {
  return shown(type, { name, words, together: 'most', series: (value) => value });
}

/** A whole number of things, or of bytes. */
export function count(name: string, words: string, of?: Labels): FieldType<number> {
  return gauge(name, integer, words, of);
}

/** A code that stands for one of these, from 0. One that the reference does not list is shown, and noted. */
export function coded(name: string, words: string, meanings: readonly string[]): FieldType<number> {
  const listed = meanings.map((meaning, value) => `${value} ${meaning}`).join(', ');
  return gauge(name, code([...meanings.keys()]), `${words}: ${listed}`);
}

/** 1 for yes, 0 for no. */
export function flag(name: string, words: string, of?: Labels): FieldType<boolean> {
  return gauge(name, boolean, `${words}: 1 yes, 0 no`, of);
}

/** The length of a list. */
export function length(name: string, words: string): FieldType<readonly unknown[]> {
  const help = `Number of ${words} (length of the %s)`;
  return shown(list, { name, words: help, series: (all) => all.length });
}

/** A text of the kind's `_info`. */
export function label(name: string, type: FieldType<string>): FieldType<string> {
  return Object.assign(
    mapped(type, (value) => value),
    { label: name },
  );
}

/** One of these states: a series for each, by the label `status`, 1 for the one that it is in. */
export function states<State extends string>(
  name: string,
  all: readonly State[],
  words: string,
): FieldType<State> {
  const labels = all.map((status) => Object.freeze({ status }));
  return shown(oneOf(all), {
    name,
    words,
    labels: ['status'],
    together: 'most',
    series: (state) => labels.map((own) => ({ labels: own, value: Number(own.status === state) })),
  });
}

/** How many of these are in each of the states that there are. */
export function countSamples(
  name: string,
  all: readonly string[],
  given: readonly (string | undefined)[],
): readonly Sample[] {
  return all.map((state) => ({
    labels: { [name]: state },
    value: given.filter((one) => one === state).length,
  }));
}

/** An object inside an answer: its fields have families of their own. of: as in `Shown`. */
export function inside<Values>(object: ObjectType<Values>, of: Labels): FieldType<Values> {
  return shown(object, ...partsOf(object).map((family) => ({ ...nested(family), of })));
}

/** A list of objects, each with series of its own. One without the field that tells them apart is left out. */
export function each<Element>(
  name: string,
  identifier: keyof Element & string,
  element: ObjectType<Element>,
): FieldType<readonly Element[]> {
  const known = mapped(listOf(element), (all) => all.flatMap((one) => (one?.[identifier] ? [one] : [])));
  return shown(known, ...perElement({ [name]: identifier }, element, true).map(nested));
}

/**
 * The families of a list of elements: each has series of its own, told apart by labels, each with the field that has its text.
 * addsUp: where there may be two of these labels; else the later one counts.
 */
export function perElement<Element>(
  identifiers: Readonly<Record<string, keyof Element>>,
  element: ObjectType<Element>,
  addsUp = false,
): readonly Shown<readonly Element[]>[] {
  return familiesOf(element).map((family) => ({
    name: family.name,
    words: family.words,
    fields: family.fields ?? [],
    labels: [...Object.keys(identifiers), ...labelsOf(family)],
    series(elements, target) {
      const series = elements.flatMap((one) => {
        const labels: Record<string, string> = {};
        for (const [label, field] of Object.entries(identifiers)) labels[label] = String(one[field] ?? '');
        return labelled(labels, seriesOf(family, one, target));
      });
      return addsUp ? putTogether(series, family.together === 'most' ? Math.max : (a, b) => a + b) : series;
    },
  }));
}

/** One sample for all that have the same labels. */
function putTogether(series: Series, both: (a: number, b: number) => number): Series {
  const known = new Map<string, Sample | CounterSample>();
  for (const one of series) {
    const key = JSON.stringify(one.labels);
    const before = known.get(key);
    const isPair = before && 'value' in before && 'value' in one;
    known.set(key, isPair ? { ...before, value: both(before.value, one.value) } : one);
  }
  return [...known.values()];
}

/** A family of fields inside a field: the HELP names both. */
export function nested<Value>({ fields = [], ...family }: Shown<Value>): Shown<Value> {
  return { ...family, words: withPlace(family.words).replace('%s', `%s, ${fields.join(', ')}`) };
}

/** The families of the fields of an object, in the order of the first field of each. */
export function familiesOf<Values>(object: ObjectType<Values>): readonly Shown<Values>[] {
  const families = new Map<string, Shown<Values>>();
  for (const part of partsOf(object)) {
    const before = families.get(part.name);
    families.set(part.name, before ? joined(before, part) : part);
  }
  return [...families.values()];
}

/** The same, each field's by itself. */
export function partsOf<Values>({ names, shape }: ObjectType<Values>): readonly Shown<Values>[] {
  return names.flatMap((field) =>
    ((shape[field] as ShownType).shown ?? []).map((family) => ({
      ...family,
      fields: family.fields ?? [field],
      series(values: Values, target: TargetContext) {
        const value = values[field as keyof Values];
        return value === undefined ? undefined : family.series(value, target);
      },
    })),
  );
}

function joined<Values>(one: Shown<Values>, other: Shown<Values>): Shown<Values> {
  return {
    name: one.name,
    words: one.words,
    fields: [...new Set([...(one.fields ?? []), ...(other.fields ?? [])])],
    labels: labelsOf(one),
    ...(one.together && { together: one.together }),
    series: (values, target) => [...seriesOf(one, values, target), ...seriesOf(other, values, target)],
  };
}

function labelsOf({ of = {}, labels = [] }: Shown): readonly string[] {
  return [...Object.keys(of), ...labels];
}

function seriesOf<Value>(family: Shown<Value>, value: Value, target: TargetContext): Series {
  const given = family.series(value, target) ?? [];
  return labelled(family.of, typeof given === 'number' ? [{ value: given }] : given);
}

function labelled(labels: Labels | undefined, series: Series): Series {
  return labels ? series.map((one) => ({ ...one, labels: { ...labels, ...one.labels } })) : series;
}

/** The kind's `_info`: the target's name, and the fields that are labels. Without a single text there is no series. */
export function infoOf<Values>(words: string, answer?: ObjectType<Values>): Shown<Values> {
  const labelOf = (field: string) => (answer?.shape[field] as ShownType | undefined)?.label ?? '';
  const fields = answer?.names.filter((field) => labelOf(field) !== '') ?? [];
  const labels = [...new Set(['name', ...fields.map(labelOf)])];
  return {
    name: 'info',
    words,
    fields,
    labels,
    series(values, { name }) {
      const texts = Object.fromEntries(labels.map((one) => [one, '']));
      for (const field of fields) texts[labelOf(field)] = String(values[field as keyof Values] ?? '');
      if (name) texts['name'] = name;
      return Object.values(texts).some(Boolean) ? [{ labels: texts, value: 1 }] : [];
    },
  };
}

/** The family that the page has. prefix: that of the kind. */
export function finished<Reading>(prefix: string, family: Shown<Reading>): Family<Reading> {
  const { fields = [] } = family;
  const name = `${prefix}_${family.name}`;
  const counter = name.endsWith('_total');
  return {
    name,
    help: helpOf(family),
    type: counter ? 'counter' : /(^|_)info$/.test(name) ? 'info' : 'gauge',
    unit: /_(seconds|bytes)(_total)?$/.exec(name)?.[1] as 'seconds' | 'bytes' | undefined,
    labels: labelsOf(family),
    fields,
    samples: (reading, target) => (counter ? [] : asSamples(seriesOf(family, reading, target))),
    ...(counter && {
      days: (reading: Reading, target: TargetContext) =>
        seriesOf(family, reading, target) as readonly CounterSample[],
      bound: family.bound,
    }),
  };
}

/** Of days a gauge shows the newest that any series has, and only the series that have it. */
function asSamples(series: Series): readonly Sample[] {
  const days = series.flatMap((one) => ('days' in one ? one.days : []));
  const newest = days.reduce((latest, { startSeconds }) => Math.max(latest, startSeconds), 0);
  return series.flatMap((one) => {
    if (!('days' in one)) return [one];
    const value = one.days.findLast(({ startSeconds }) => startSeconds === newest)?.value;
    return value === undefined ? [] : [{ ...(one.labels && { labels: one.labels }), value }];
  });
}

function helpOf({ words, fields = [] }: Shown): string {
  if (fields.length === 0) return `${words}.`;
  return `${withPlace(words).replace('%s', `API field${fields.length > 1 ? 's' : ''} ${fields.join(', ')}`)}.`;
}

/** Words that say where the fields stand. */
function withPlace(words: string): string {
  return /%s|API field/.test(words) ? words : `${words} (%s)`;
}
