/** The simulated account: what it has, made from a seed and a shape, and its keys. */
import { hash, secret } from './entities.ts';
import { type Kind, type LibraryKeys, type Operation, type Scale, scaleNames } from './kind.ts';
import { kinds } from './kinds/index.ts';

type DeclaredKind = (typeof kinds)[number];

/** How many entities of each sort there are. */
export type Shape = Readonly<Record<SizeOf<DeclaredKind>, number>>;
type SizeOf<One> = One extends { sizes: infer Sizes } ? keyof Sizes : never;

/** Everything that the account has. */
export type Dataset = Intersection<PartOf<DeclaredKind>>;
type PartOf<One> = One extends { create: (...given: never) => infer Part } ? Part : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

export type KindName = DeclaredKind['kind'];
type ListingName<One> = One extends { kind: infer Name extends string; listing: object }
  ? `${Name}_listing`
  : never;
/** The name of an operation in faults and counters: its kind, or the listing of its kind. */
export type OperationName = KindName | ListingName<DeclaredKind>;

export type AnyOperation = Operation<Dataset> & { readonly name: OperationName };

/** A kind with its operations by name. */
export interface AnyKind extends Pick<Kind<Dataset>, 'section' | 'targets' | 'listed'> {
  readonly kind: KindName;
  /** The one that gives the readings comes first. */
  readonly operations: readonly [AnyOperation, ...AnyOperation[]];
}

const declared: readonly (Kind<Dataset> & { readonly kind: KindName })[] = kinds;

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
  const place = scaleNames.indexOf(scale);
  const sizes = declared.flatMap((kind) => Object.entries(kind.sizes ?? {}));
  return Object.fromEntries(sizes.map(([name, counts]) => [name, counts[place]])) as Shape;
}

export function createDataset(seed: number, shape: Shape): Dataset {
  const dataset = {} as Dataset;
  type Create = (seed: number, sizes: Shape, dataset: Dataset) => object;
  for (const { create } of kinds as readonly { readonly create?: Create }[]) {
    Object.assign(dataset, create?.(seed, shape, dataset));
  }
  return dataset;
}

export interface Keys extends LibraryKeys {
  /** Opens everything but the video API. */
  readonly account: string;
}

export function createKeys(seed: number, libraryIds: readonly string[]): Keys {
  const key = (name: string, number: number) => secret(name, hash(seed, 6, number));
  const ofLibraries = (made: (id: string, index: number) => string) =>
    Object.fromEntries(libraryIds.map((id, index) => [id, made(id, index)]));
  return {
    account: key('account', 0),
    libraries: ofLibraries((id, index) => key(`library-${id}`, index + 1)),
    readOnlyLibraries: ofLibraries((id, index) => key(`read-only-${id}`, -1 - index)),
  };
}
