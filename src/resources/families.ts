/**
 * What a field can become on the page: a gauge, a flag, a label, a series for each state. The API fields that a HELP names
 * follow from where the field stands in the answer. Nothing here knows a kind, or how the page is written.
 */
import {
  type Answer,
  boolean,
  codeNumber,
  type FieldType,
  identifierOf,
  instant,
  integer,
  list,
  listOf,
  mapped,
  number,
  type ObjectType,
  oneOf,
  percentage,
  shownWhere,
  snakeCased,
  text,
} from './fields.ts';
import type { CounterBound, CounterSample, Family, Labels, Sample, TargetContext } from './resource.ts';

/** A family that a value becomes, without what follows from its name and its fields. */
export interface FamilyOf<Value = unknown> {
  /** Without the prefix of the kind. It ends in its unit; a counter's ends in `_total`. Fields with the same name make one family. */
  readonly name: string;
  /** The HELP without its full stop. `%s` stands for `API field Name`; where it is left out, that follows in brackets. */
  readonly words: string;
  /** The fields that it comes from. Default: the one that it is declared with. */
  readonly fields?: readonly string[] | undefined;
  /** For a family of several fields: the label that tells this one from the others. */
  readonly fixed?: Labels | undefined;
  /** Names of the labels that `series` gives. Default: none. */
  readonly labels?: readonly string[];
  /** See {@link Family}. Default: those with a bound do. */
  readonly comesAndGoes?: true | undefined;
  /** For label values that the API chooses: only the largest have a series of their own. */
  readonly bound?: CounterBound;
  /** Which value counts of two list elements with the same labels. Default: their sum. */
  readonly ofDuplicates?: 'highest' | undefined;
  /** See {@link Family}. */
  readonly named?: Family['named'];
  /** See {@link Family}. */
  readonly withoutDays?: Family['withoutDays'] | undefined;
  /** Whether a counter shows what the API has counted. Otherwise it adds up what days have gained. */
  readonly asCounted?: true | undefined;
  /** A number is a sample without labels. A counter adds up the days of a series; a gauge shows the newest day of any series. */
  series(this: void, value: Value, target: TargetContext): Series | number | undefined;
}

type Series = readonly (Sample | CounterSample)[];

interface MarkedType<Value = unknown> extends FieldType<Value> {
  readonly shown?: readonly FamilyOf<Value>[];
  readonly label?: string;
}

/** A field that becomes these families. */
export function shown<Value>(
  { read, documented }: FieldType<Value>,
  ...families: readonly FamilyOf<Value>[]
): MarkedType<Value> {
  return { read, documented, shown: families };
}

/** A number as it is. fixed: as in `FamilyOf`. */
export function gauge(
  name: string,
  words: string,
  type: FieldType<number> = number,
  fixed?: Labels,
): FieldType<number> {
  return shown(type, { name, words, fixed, series: (value) => value });
}

/** A whole number of things, or of bytes. */
export function count(name: string, words: string, fixed?: Labels): FieldType<number> {
  return gauge(name, words, integer, fixed);
}

/** What the API itself counts up, from whenever it began. */
export function asCounted(name: string, words: string): FieldType<number> {
  return shown(integer, { name, words, asCounted: true, series: (value) => value });
}

/** A share from 0 to 1. Where two elements have one name, the higher share counts. */
export function ratio(name: string, words: string): FieldType<number> {
  return shown(percentage, { name, words, ofDuplicates: 'highest', series: (value) => value });
}

/** A code that stands for one of these, from 0, as a number. One that is not listed is noted; a number is shown all the same. */
export function coded(name: string, words: string, meanings: readonly string[]): FieldType<number> {
  const listed = meanings.map((meaning, value) => `${value} ${meaning}`).join(', ');
  return gauge(name, `${words}: ${listed}`, codeNumber(meanings));
}

export function flag(name: string, words: string, values = '1 yes, 0 no'): FieldType<boolean> {
  return shown(boolean, { name, words: `${words}: ${values}`, series: (value) => Number(value) });
}

export function timestamp(name: string, words: string): FieldType<number> {
  return gauge(name, `${words}, as Unix time`, instant);
}

export function length(name: string, words: string): FieldType<readonly unknown[]> {
  return shown(list, { name, words: `Number of ${words} (length of the %s)`, series: (all) => all.length });
}

/** A text that is a label: of the kind's `_info`, or of every series of an element. */
export function label(name: string, type: FieldType<string> = text): MarkedType<string> {
  return { read: type.read, documented: type.documented, label: name };
}

/** The names of the states in snake case, and `unknown`. */
function allStates(states: readonly string[]): readonly string[] {
  return [...new Set([...states.map(snakeCased), 'unknown'])];
}

/** One of these states: a series for each, by the label `status` in snake case, 1 for the one that it is in. */
export function states(name: string, words: string, listed: readonly string[]): FieldType<string> {
  const series = seriesOfStates(listed);
  return shown(oneOf([...listed, 'unknown']), {
    name,
    words,
    labels: ['status'],
    ofDuplicates: 'highest',
    series,
  });
}

/** A series for each of these states, by the label `status` in snake case, 1 for the one that something is in. */
export function seriesOfStates(listed: readonly string[]): (state: string) => readonly Sample[] {
  const all = allStates(listed).map((status) => Object.freeze({ status }));
  return (state) => all.map((labels) => ({ labels, value: Number(labels.status === snakeCased(state)) }));
}

/**
 * How many elements of a list are in each of these states, by the label `status` in snake case. One whose state is missing or not
 * listed is `unknown`, so that they add up to all.
 */
export function countedBy<Element>(
  listed: readonly string[],
  stateOf: (element: Element) => string | undefined,
): Pick<FamilyOf<readonly (Element | undefined)[]>, 'labels' | 'series'> {
  const all = allStates(listed);
  return {
    labels: ['status'],
    series(elements) {
      const counts = new Map(all.map((status) => [status, 0]));
      for (const element of elements) {
        const status = snakeCased((element && stateOf(element)) ?? 'unknown');
        const counted = counts.has(status) ? status : 'unknown';
        counts.set(counted, (counts.get(counted) ?? 0) + 1);
      }
      return Array.from(counts, ([status, value]) => ({ labels: { status }, value }));
    },
  };
}

/** The sum, unless a value is unknown: a part would look like the whole. */
export function sumOf(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce(
    (sum, value) => (sum !== undefined && value !== undefined ? sum + value : undefined),
    0,
  );
}

export function highestOf(values: readonly (number | undefined)[]): number | undefined {
  return extremeOf(values, Math.max);
}

export function lowestOf(values: readonly (number | undefined)[]): number | undefined {
  return extremeOf(values, Math.min);
}

/** The highest of these. They are compared one by one, since `Math.max(...values)` throws where there are very many. */
function extremeOf(
  values: readonly (number | undefined)[],
  extreme: (a: number, b: number) => number,
): number | undefined {
  let found: number | undefined;
  for (const value of values)
    found = found === undefined || value === undefined ? (found ?? value) : extreme(found, value);
  return found;
}

/** An object inside an answer: its fields have families of their own. fixed: as in `FamilyOf`. */
export function inside<Values>(object: ObjectType<Values>, fixed: Labels): FieldType<Values> {
  return shown(object, ...partsOf<Values>(object).map((family) => ({ ...nested(family), fixed })));
}

/** A list of objects, each with series of its own, by its labels. An object without its first field is left out. */
export function each<Element>(element: ObjectType<Element>): FieldType<readonly Element[]> {
  const identifier = identifierOf(element) as keyof Element;
  const isKnown = (one: Element) => Boolean(one[identifier]);
  const known = mapped(listOf(shownWhere(element, isKnown)), (all) =>
    all.flatMap((one) => (one && isKnown(one) ? [one] : [])),
  );
  return shown(known, ...ofElements<Element>(element, true).map(nested));
}

/** A family of a field inside another field: the HELP names both. */
export function nested<Value>({ fields = [], ...family }: FamilyOf<Value>): FamilyOf<Value> {
  return { ...family, words: withPlace(family.words).replace('%s', `%s, ${fields.join(', ')}`) };
}

type HasShape = Pick<Answer, 'shape'>;

/** The families of each field of an object by itself. */
export function partsOf<Values>({ shape }: HasShape): readonly FamilyOf<Values>[] {
  return Object.entries(shape).flatMap(([field, { shown: families = [] }]: [string, MarkedType]) =>
    families.map((family) => ({
      ...family,
      fields: family.fields ?? [field],
      series(values: Values, target: TargetContext) {
        const value = values[field as keyof Values];
        return value === undefined ? undefined : family.series(value, target);
      },
    })),
  );
}

/** The families of an object, in the order of the first field of each. */
function ofObject<Values>(object: HasShape): readonly FamilyOf<Values>[] {
  const families = new Map<string, FamilyOf<Values>>();
  for (const part of partsOf<Values>(object)) {
    const before = families.get(part.name);
    families.set(part.name, before ? joined(before, part) : part);
  }
  return [...families.values()];
}

function joined<Values>(one: FamilyOf<Values>, other: FamilyOf<Values>): FamilyOf<Values> {
  return {
    name: one.name,
    words: one.words,
    fields: [...new Set([...(one.fields ?? []), ...(other.fields ?? [])])],
    labels: labelsOf(one),
    ofDuplicates: one.ofDuplicates,
    asCounted: one.asCounted,
    withoutDays: one.withoutDays && [...one.withoutDays, ...(other.withoutDays ?? [])],
    series: (values, target) => [...seriesOf(one, values, target), ...seriesOf(other, values, target)],
  };
}

/** The fields of an object that are labels, by the label. */
function labelFieldsOf({ shape }: HasShape): readonly (readonly [label: string, field: string])[] {
  return Object.entries(shape).flatMap(([field, { label: name }]: [string, MarkedType]) =>
    name === undefined ? [] : [[name, field] as const],
  );
}

/** The labels that an object has, with their texts. */
export function labelTextsOf<Values>(object: HasShape): (values: Values) => Labels {
  const fields = labelFieldsOf(object);
  return (values) =>
    Object.fromEntries(fields.map(([name, field]) => [name, String(values[field as keyof Values] ?? '')]));
}

/** The families of a list of objects. addsUp: where two may have the same labels; else the later one counts. */
function ofElements<Element>(element: HasShape, addsUp = false): readonly FamilyOf<readonly Element[]>[] {
  const textsOf = labelTextsOf<Element>(element);
  const names = labelFieldsOf(element).map(([name]) => name);
  return ofObject<Element>(element).map((family) => ({
    name: family.name,
    words: family.words,
    fields: family.fields,
    asCounted: family.asCounted,
    withoutDays: family.withoutDays,
    labels: [...names, ...labelsOf(family)],
    comesAndGoes: true,
    series(elements, target) {
      const series: (Sample | CounterSample)[] = [];
      for (const one of elements)
        for (const sample of labelled(textsOf(one), seriesOf(family, one, target))) series.push(sample);
      return addsUp ? merged(series, family.ofDuplicates === 'highest' ? Math.max : (a, b) => a + b) : series;
    },
  }));
}

/** Merges samples that have the same labels. */
function merged(series: Series, both: (a: number, b: number) => number): Series {
  const known = new Map<string, Sample | CounterSample>();
  for (const one of series) {
    const key = JSON.stringify(one.labels);
    const before = known.get(key);
    const isPair = before && 'value' in before && 'value' in one;
    known.set(key, isPair ? { ...before, value: both(before.value, one.value) } : one);
  }
  return [...known.values()];
}

export function familiesOf<Reading>(answer: Answer<Reading>): readonly FamilyOf<Reading>[] {
  return answer.element
    ? (ofElements(answer, answer.addsUp) as readonly FamilyOf<never>[])
    : ofObject(answer);
}

/** The kind's `_info`: the target's name, and the fields that are labels. The page shows it if it has a single text. */
export function infoOf<Values>(words: string, answer: Answer<Values>): FamilyOf<Values> {
  const labelFields = labelFieldsOf(answer);
  const textsOf = labelTextsOf<Values>(answer);
  return {
    name: 'info',
    words,
    fields: labelFields.map(([, field]) => field),
    labels: [...new Set(['name', ...labelFields.map(([name]) => name)])],
    named: 'target',
    series: (values) => [{ labels: { name: '', ...textsOf(values) }, value: 1 }],
  };
}

/** The family that the page has. prefix: that of the kind. */
export function finished<Reading>(kind: string, prefix: string, family: FamilyOf<Reading>): Family<Reading> {
  const name = `${prefix}_${family.name}`;
  const isCounter = name.endsWith('_total');
  const addsUpDays = isCounter && !family.asCounted;
  return {
    kind,
    name,
    help: helpOf(family),
    type: isCounter ? 'counter' : /(^|_)info$/.test(name) ? 'info' : 'gauge',
    unit: /_(seconds|bytes)(_total)?$/.exec(name)?.[1] as 'seconds' | 'bytes' | undefined,
    labels: labelsOf(family),
    fields: family.fields ?? [],
    named: family.named,
    comesAndGoes: family.comesAndGoes ?? family.bound !== undefined,
    samples: (reading, target) =>
      addsUpDays ? [] : bounded(asSamples(seriesOf(family, reading, target)), family.bound),
    ...(addsUpDays && {
      days: (reading: Reading, target: TargetContext) =>
        seriesOf(family, reading, target) as readonly CounterSample[],
      bound: family.bound,
      withoutDays: family.withoutDays ?? [],
    }),
    ...(name.endsWith('_latest_day') && {
      figures: (reading: Reading, target: TargetContext) => seriesOf(family, reading, target),
    }),
  };
}

const none: readonly string[] = [];

function labelsOf({ fixed, labels = none }: FamilyOf): readonly string[] {
  return fixed ? [...Object.keys(fixed), ...labels] : labels;
}

export function seriesOf<Value>(family: FamilyOf<Value>, value: Value, target: TargetContext): Series {
  const given = family.series(value, target) ?? [];
  return labelled(family.fixed, typeof given === 'number' ? [{ value: given }] : given);
}

export function labelled(labels: Labels | undefined, series: Series): Series {
  return labels ? series.map((one) => ({ ...one, labels: { ...labels, ...one.labels } })) : series;
}

/** A gauge shows the newest day that any series has, and only the series that have that day. */
function asSamples(series: Series): readonly Sample[] {
  let newestSeconds = Number.NEGATIVE_INFINITY;
  for (const one of series)
    if ('days' in one)
      for (const { startSeconds } of one.days) newestSeconds = Math.max(newestSeconds, startSeconds);
  const samples: Sample[] = [];
  for (const one of series) {
    if ('days' in one) {
      const value = valueOn(newestSeconds, one.days);
      if (value !== undefined) samples.push({ ...(one.labels && { labels: one.labels }), value });
    } else samples.push(one);
  }
  return samples;
}

/** The last figure of a day, by its start in seconds since 1970. */
function valueOn(day: number, days: CounterSample['days']): number | undefined {
  let found: number | undefined;
  for (const { startSeconds, value } of days) if (startSeconds === day) found = value;
  return found;
}

/** Those that are over the bound are added to the rest, which comes last. */
function bounded(samples: readonly Sample[], bound: CounterBound | undefined): readonly Sample[] {
  if (!bound) return samples;
  const rest = Object.entries(bound.rest);
  const named = samples.filter(({ labels }) => rest.some(([label, value]) => labels?.[label] !== value));
  if (named.length <= bound.most) return samples;
  const largest = new Set(named.toSorted((a, b) => b.value - a.value).slice(0, bound.most));
  const others = samples.filter((sample) => !largest.has(sample)).map(({ value }) => value);
  return [
    ...named.filter((sample) => largest.has(sample)),
    { labels: bound.rest, value: sumOf(others) ?? 0 },
  ];
}

function helpOf({ words, fields = [] }: FamilyOf): string {
  if (fields.length === 0) return `${words}.`;
  return `${withPlace(words).replace('%s', `API field${fields.length > 1 ? 's' : ''} ${fields.join(', ')}`)}.`;
}

/** Adds a place for the fields to words that have none. */
function withPlace(words: string): string {
  return /%s|API field/.test(words) ? words : `${words} (%s)`;
}
