/** What the page shows of a reading: the rows of each family of its kind, but for the counters. Pure. */
import type { FamilySamples } from '../exposition/store.ts';
import { accountLabel, catalogue, firstFamilyOf, saysAccount } from '../resources/catalogue.ts';
import type { Family, Sample } from '../resources/resource.ts';
import type { Target } from './spec.ts';

/** The rows of one family, by its index in the catalogue. */
export type FamilyRows = FamilySamples;

/** Receives the API field of a sample whose value is not finite. */
export type OnNotFinite = (field: string) => void;

function isFiniteSample({ value }: Sample): boolean {
  return Number.isFinite(value);
}

/** Gives the samples of an `_info` their names. Without a single text beyond the id of a part there is no series. */
function withNames(
  { named }: Family,
  samples: readonly Sample[],
  { name, parts = [] }: Pick<Target, 'name' | 'parts'>,
): readonly Sample[] {
  if (named === undefined) return samples;
  return samples.flatMap(({ labels = {}, value }) => {
    const isPart = ({ ids }: { ids: Readonly<Record<string, string>> }) =>
      Object.entries(ids).some(([label, id], at, all) => at === all.length - 1 && labels[label] === id);
    const given = named === 'parts' ? parts.find(isPart)?.name : name;
    const after = given ? { ...labels, name: given } : labels;
    const isNamed = named === 'parts' ? after['name'] !== '' : Object.values(after).some(Boolean);
    return isNamed ? [{ labels: after, value }] : [];
  });
}

/** Says whose the target is in the families that do. */
export function withAccount(
  family: number,
  samples: readonly Sample[],
  { account }: Target,
): readonly Sample[] {
  if (!saysAccount(family)) return samples;
  return samples.map(({ labels, value }) => ({ labels: { [accountLabel]: account, ...labels }, value }));
}

/** The rows of `_info` families with the names of now, of things and of the account. infos: as `rowsOf` gave them. */
export function namedRowsOf(target: Target, infos: readonly FamilyRows[]): readonly FamilyRows[] {
  return infos.flatMap(({ family, samples }) => {
    const declared = catalogue[family];
    return declared
      ? [{ family, samples: withAccount(family, withNames(declared, samples, target), target) }]
      : [];
  });
}

/**
 * The rows of a reading, without the counters. Samples without a finite number are left out.
 *
 * @param infos receives the samples whose names, or whose account's name, can change without another reading
 */
export function rowsOf(
  target: Target,
  reading: unknown,
  onNotFinite: OnNotFinite = () => undefined,
  infos: FamilyRows[] = [],
): readonly FamilyRows[] {
  const first = firstFamilyOf(target.kind);
  const rows: FamilyRows[] = [];
  for (let family = first; ; family++) {
    const declared = catalogue[family];
    if (declared?.kind !== target.kind) return rows;
    const all = declared.samples(reading, target);
    const finite = all.every(isFiniteSample) ? all : all.filter(isFiniteSample);
    for (let left = all.length - finite.length; left > 0; left--)
      onNotFinite(declared.fields[0] ?? declared.name);
    if ((declared.named !== undefined || saysAccount(family)) && finite.length > 0)
      infos.push({
        family,
        // The texts of a reading may be slices that keep the whole answer in memory.
        samples: finite.map(({ labels = {}, value }) => ({ labels: structuredClone(labels), value })),
      });
    const samples = withAccount(family, withNames(declared, finite, target), target);
    if (samples.length > 0) rows.push({ family, samples });
  }
}
