/** The simulator's targets with the exporter's names. */
import { resources } from '../../src/resources/kinds/index.ts';
import { apiNames, type Ids } from '../../src/resources/resource.ts';
import { allKinds, type Dataset, type KindName } from '../../src/simulator/dataset.ts';
import { targetsOf } from '../../src/simulator/everything.ts';

export const kindNames: readonly KindName[] = allKinds.map(({ kind }) => kind);

/** A kind of each API. Together they have every form of answer and error. */
export const kindOfEachApi: readonly KindName[] = apiNames.flatMap((api) => {
  const first = resources.find((resource) => resource.api === api)?.kind;
  return kindNames.filter((name) => name === first);
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
