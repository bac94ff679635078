/** The simulator's targets with the exporter's names. */

import { allKinds, type Dataset, type KindName, operations } from '../../simulator/dataset.ts';
import { targetsOf } from '../../simulator/everything.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { type Ids, isReadAlone, type Resource } from '../../src/resources/resource.ts';

export const kindNames: readonly KindName[] = allKinds.map(({ kind }) => kind);

/** The first kind of each sort. */
function firstOfEach(sortOf: (resource: Resource) => string): readonly KindName[] {
  const firsts = new Map([...resources].reverse().map((resource) => [sortOf(resource), resource.kind]));
  return kindNames.filter((name) => [...firsts.values()].includes(name));
}

export const kindOfEachApi = firstOfEach(({ api }) => api);

/** Together they have every form of answer, and every error inside a good one. */
export const kindOfEachForm = firstOfEach((resource) => {
  const operation = operations.find(({ name }) => name === resource.kind);
  return [resource.api, isReadAlone(resource), ...(operation?.rejections ?? [])].join();
});

/** The ids of each target of a kind by label, for targets that are named one by one or found. */
export function idsOf(dataset: Dataset, kind: KindName, isNamed = true): readonly Ids[] {
  const labels = resources.find((one) => one.kind === kind)?.ids ?? [];
  const declared = allKinds.find((one) => one.kind === kind);
  const targets = declared ? targetsOf(declared, dataset, isNamed) : [];
  return targets.map(({ ids }) =>
    Object.fromEntries(labels.map(({ label, setting }) => [label, ids[setting] ?? ''])),
  );
}
