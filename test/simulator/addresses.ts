/** The addresses of the simulator's operations, with their keys. */
import { type AnyOperation, allKinds, type OperationName, operations } from '../../simulator/dataset.ts';
import { prefixes } from '../../simulator/kind.ts';
import type { Simulator } from '../../simulator/simulator.ts';

export function operationOf(name: OperationName): AnyOperation {
  const operation = operations.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  return operation;
}

/** Where an operation answers for the first target of its kind, and the right key. A day in the path that is not among its ids is today. */
export function addressOf(
  simulator: Simulator,
  name: OperationName,
): { readonly url: string; readonly key: string } {
  const { api, path } = operationOf(name);
  const kind = allKinds.find((one) => one.operations.some((operation) => operation.name === name));
  const [target] = kind?.targets(simulator) ?? [];
  if (!target) throw new Error(`Nothing asks for ${name}.`);
  const { ids, library } = target;
  const left = Object.values(ids);
  const key = library === undefined ? simulator.keys.account : simulator.keys.libraries[library];
  return {
    url: simulator.origin + prefixes[api] + path.replaceAll(/\{\w+\}/g, () => left.shift() ?? 'today'),
    key: key ?? '',
  };
}
