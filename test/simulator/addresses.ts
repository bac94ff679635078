/** The addresses of the simulator's targets, with their keys. */
import {
  type AnyKind,
  type AnyOperation,
  allKinds,
  type OperationName,
  operations,
} from '../../src/simulator/dataset.ts';
import { prefixes } from '../../src/simulator/kind.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { at } from './ask.ts';

export function urls({ baseUrls }: Simulator) {
  return {
    application: (id: string) => `${baseUrls.application}/apps/${id}/summary`,
    zones: (query = '') => `${baseUrls.shield}/shield/shield-zones${query}`,
    guardian: (zone: string, endpoint: string) =>
      `${baseUrls.shield}/shield/metrics/shield-zone/${zone}/api-guardian/endpoint/${endpoint}`,
    rateLimits: (zone: string) => `${baseUrls.shield}/shield/metrics/rate-limits/${zone}`,
    video: (library: string, video: string) => `${baseUrls.video}/library/${library}/videos/${video}/storage`,
  };
}

export function libraryKey({ keys }: Simulator, libraryId: string): string {
  const key = keys.libraries[libraryId];
  if (key === undefined) throw new Error(`Library ${libraryId} has no key.`);
  return key;
}

export function operationOf(name: OperationName): AnyOperation {
  const operation = operations.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  return operation;
}

export interface Address {
  readonly operation: OperationName;
  readonly url: string;
  /** The right one. */
  readonly key: string;
}

/** The address of the first target of each kind. */
export function oneOfEach(simulator: Simulator): Address[] {
  return allKinds.map((kind) => addressOf(simulator, kind.operations[0], kind));
}

/** The address of each operation, for the first target of its kind. */
export function everyOperation(simulator: Simulator): Address[] {
  return allKinds.flatMap((kind) =>
    kind.operations.map((operation) => addressOf(simulator, operation, kind)),
  );
}

function addressOf(simulator: Simulator, operation: AnyOperation, kind: AnyKind): Address {
  const { ids, library } = at(kind.targets(simulator), 0);
  const url = urlOf(operation, Object.values(ids));
  return {
    operation: operation.name,
    url: simulator.origin + url,
    key: library === undefined ? simulator.keys.account : libraryKey(simulator, library),
  };
}

/** The URL below the origin at which an operation answers for these ids. A day in the path that is not among them is today. */
function urlOf({ api, path }: AnyOperation, ids: readonly string[]): string {
  const left = [...ids];
  return prefixes[api] + path.replaceAll(/\{\w+\}/g, () => left.shift() ?? 'today');
}
