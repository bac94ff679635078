/** Every family of every kind in the order of the page: what the store holds and the metric reference is made from. */
import { finished } from './families.ts';
import { resources } from './kinds/index.ts';
import { once } from './queries.ts';
import { type Family, isReadAlone, type Query, type Resource } from './resource.ts';

/** The two families of each kind that stay when a target is stale: whether it answers, and since when it does not. */
function stateFamilies({ kind, metricPrefix, noun }: Resource): readonly Family[] {
  const states = [
    { name: 'up', words: `1 when the last poll of the ${noun} succeeded, else 0` },
    {
      name: 'last_success_timestamp_seconds',
      words: `Time of the last successful poll of the ${noun}, as Unix time`,
    },
  ];
  return states.map((state) => finished(kind, metricPrefix, { ...state, series: () => [] }));
}

/** Says whose a target is, where its labels do not. */
export const accountLabel = 'account';

/** `_up` and the families of type info say whose a target is, so that every figure can be joined with that by the target's labels. */
function withAccount(families: readonly Family[], { ids, metricPrefix }: Resource): readonly Family[] {
  if (ids.some(({ label }) => label === accountLabel)) return families;
  return families.map((family) =>
    family.type === 'info' || family.name === `${metricPrefix}_up`
      ? { ...family, labels: [accountLabel, ...family.labels] }
      : family,
  );
}

export const catalogue: readonly Family[] = resources.flatMap((resource) =>
  withAccount([...stateFamilies(resource), ...resource.families], resource),
);

const kinds = new Map(
  resources.map((resource) => {
    const { kind } = resource;
    const families = catalogue.flatMap((family, index) => (family.kind === kind ? [index] : []));
    const counters = families.filter((index) => catalogue[index]?.days !== undefined);
    return [kind, { first: families[0] ?? -1, counters, resource }] as const;
  }),
);

/** All labels of a family, the target's first. */
export function allLabelsOf({ kind, labels }: Family): readonly string[] {
  return [...(kinds.get(kind)?.resource.ids.map(({ label }) => label) ?? []), ...labels];
}

/** The index of a kind's first family in the catalogue: that of `_up`; `_last_success_timestamp_seconds` is next. */
export function firstFamilyOf(kind: string): number {
  return kinds.get(kind)?.first ?? -1;
}

/** Whether a family has the label that says whose a target is, beyond the target's own labels. */
export function saysAccount(index: number): boolean {
  return catalogue[index]?.labels[0] === accountLabel;
}

/** The indexes in the catalogue of a kind's counters that add up days. */
export function counterFamiliesOf(kind: string): readonly number[] {
  return kinds.get(kind)?.counters ?? [];
}

/** What a kind requests for a range of days. */
export function queryOf(kind: string): Query {
  const resource = kinds.get(kind)?.resource;
  return (resource && isReadAlone(resource) ? resource.query : undefined) ?? once;
}

/** The state that the API reports in a reading of a kind, where the kind has one. */
export function conditionOf(kind: string, reading: unknown): string | undefined {
  return kinds.get(kind)?.resource.condition?.stateOf(reading);
}

/** What a kind extracts from a reading: a copy, whose texts do not keep the whole answer in memory. before: what it extracted from the reading before. */
export function extractOf(kind: string, reading: unknown, before: unknown): unknown {
  const extracted = kinds.get(kind)?.resource.extract?.(reading, before);
  return extracted === undefined ? undefined : structuredClone(extracted);
}
