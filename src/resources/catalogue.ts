/** Every family of every kind in the order of the page: what the store holds and the metric reference is made from. */
import { finished } from './families.ts';
import { resources } from './index.ts';
import type { Family, Resource } from './resource.ts';

/** A family, with what its kind adds to it. */
export interface CatalogueFamily extends Family {
  readonly kind: string;
  /** All labels, the target's first. */
  readonly allLabels: readonly string[];
}

/** The two families of each kind that stay when a target is stale: whether it answers, and since when it does not. */
function stateFamilies({ metricPrefix, noun }: Resource): readonly Family[] {
  const states = [
    { name: 'up', words: `1 when the last poll of the ${noun} succeeded, else 0` },
    {
      name: 'last_success_timestamp_seconds',
      words: `Time of the last successful poll of the ${noun}, as Unix time`,
    },
  ];
  return states.map((state) => finished(metricPrefix, { ...state, series: () => [] }));
}

export const catalogue: readonly CatalogueFamily[] = resources.flatMap((resource) => {
  const labels = resource.ids.map(({ label }) => label);
  return [...stateFamilies(resource), ...resource.families].map((family) => ({
    ...family,
    kind: resource.kind,
    allLabels: [...labels, ...family.labels],
  }));
});

const kinds = new Map(
  resources.map((resource) => {
    const { kind } = resource;
    const families = catalogue.flatMap((family, index) => (family.kind === kind ? [index] : []));
    const counters = families.filter((index) => catalogue[index]?.days !== undefined);
    return [kind, { first: families[0] ?? -1, counters, resource }] as const;
  }),
);

/** The index of a kind's first family in the catalogue: that of `_up`; `_last_success_timestamp_seconds` is next. */
export function firstFamilyOf(kind: string): number {
  return kinds.get(kind)?.first ?? -1;
}

/** The indexes in the catalogue of a kind's counters that add up days. */
export function counterFamiliesOf(kind: string): readonly number[] {
  return kinds.get(kind)?.counters ?? [];
}

/** The state that the API reports in a reading of a kind, where the kind has one. */
export function conditionOf(kind: string, reading: unknown): string | undefined {
  return kinds.get(kind)?.resource.condition?.of(reading);
}

/** What a kind keeps of a reading. before: what it kept of the reading before. */
export function keptOf(kind: string, reading: unknown, before: unknown): unknown {
  return kinds.get(kind)?.resource.kept?.(reading, before);
}
