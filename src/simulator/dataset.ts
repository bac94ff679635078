/**
 * The account that the simulated API is of: who exists and what never changes about them, from a seed and a shape, and the
 * keys that open it.
 */
import { hexadecimal, streams } from './entities.ts';
import type { Kind, LibraryKeys, Operation, Scale } from './kind.ts';
import { kinds } from './kinds/index.ts';
import { hash, text } from './random.ts';

type DeclaredKind = (typeof kinds)[number];

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type Nothing = Record<never, never>;
type SizesOf<Kind> = Kind extends { sizes: { small: infer Sizes } } ? Sizes : Nothing;
type PartOf<Kind> = Kind extends { create: (...given: never) => infer Part } ? Part : Nothing;

/** How many entities of each sort there are. */
export type Shape = { readonly [Size in keyof Intersection<SizesOf<DeclaredKind>>]: number };

/** Everything that exists, each part under its own names. */
export type Dataset = Intersection<PartOf<DeclaredKind>>;

export type KindName = DeclaredKind['kind'];
type ListingName<Kind> = Kind extends { kind: infer Name extends string; listing: object }
  ? `${Name}_listing`
  : never;
/** What faults and counters call an operation: as its kind, or as the listing of its kind. */
export type OperationName = KindName | ListingName<DeclaredKind>;

export type AnyOperation = Operation<Dataset> & { readonly name: OperationName };

/** What all kinds have. */
export interface AnyKind extends Pick<Kind<never, object, Dataset>, 'section' | 'targets' | 'listed'> {
  readonly kind: KindName;
  /** The one that gives the readings comes first. */
  readonly operations: readonly [AnyOperation, ...AnyOperation[]];
}

type Declared = Operation<Dataset> & Omit<AnyKind, 'operations'> & { readonly listing?: Operation<Dataset> };
const declared: readonly Declared[] = kinds;

export const allKinds: readonly AnyKind[] = declared.map((kind) => {
  const listing = kind.listing && { ...kind.listing, name: `${kind.kind}_listing` as OperationName };
  return { ...kind, operations: [{ ...kind, name: kind.kind }, ...(listing ? [listing] : [])] };
});
export const operations: readonly AnyOperation[] = allKinds.flatMap((kind) => kind.operations);

export const scales: Readonly<Record<Scale, Shape>> = {
  small: shapeOf('small'),
  medium: shapeOf('medium'),
  full: shapeOf('full'),
};

function shapeOf(scale: Scale): Shape {
  return Object.assign({}, ...kinds.map((kind) => 'sizes' in kind && kind.sizes[scale])) as Shape;
}

/** Throws a RangeError for sizes that do not go together. */
export function createDataset(seed: number, shape: Shape): Dataset {
  const dataset = {} as Dataset;
  const makers: readonly Pick<Kind<Shape, object, Dataset>, 'kind' | 'create'>[] = kinds;
  for (const { create } of makers) Object.assign(dataset, create?.(seed, shape, dataset));
  return dataset;
}

export interface Keys extends LibraryKeys {
  /** Opens everything but the video API. */
  readonly account: string;
}

/** Keys that nothing else on a page or in a log can be taken for. */
export function createKeys(seed: number, libraryIds: readonly string[]): Keys {
  const key = (name: string, number: number) =>
    `sim-${name}-key-${text(hash(seed, streams.key, number), 32, hexadecimal)}`;
  return {
    account: key('account', 0),
    libraries: Object.fromEntries(libraryIds.map((id, index) => [id, key(`library-${id}`, index + 1)])),
    readOnlyLibraries: Object.fromEntries(
      libraryIds.map((id, index) => [id, key(`read-only-${id}`, -1 - index)]),
    ),
  };
}
