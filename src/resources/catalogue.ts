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

function indexesOf(wanted: (family: CatalogueFamily) => boolean): readonly number[] {
  return catalogue.flatMap((family, index) => (wanted(family) ? [index] : []));
}

const firstFamilies = new Map(resources.map(({ kind }) => [kind, indexesOf((one) => one.kind === kind)[0]]));
const counterFamilies = new Map(
  resources.map(({ kind }) => [kind, indexesOf((one) => one.kind === kind && one.type === 'counter')]),
);
const conditions = new Map(resources.map(({ kind, condition }) => [kind, condition]));

/** The index of a kind's first family in the catalogue: that of `_up`; `_last_success_timestamp_seconds` is next. */
export function firstFamilyOf(kind: string): number {
  return firstFamilies.get(kind) ?? -1;
}

/** The indexes of a kind's counters in the catalogue. */
export function counterFamiliesOf(kind: string): readonly number[] {
  return counterFamilies.get(kind) ?? [];
}

/** The state that the API reports in a reading of a kind, where the kind has one. */
export function conditionOf(kind: string, reading: unknown): string | undefined {
  return conditions.get(kind)?.of(reading);
}
