/** The active faults, and which of them strikes a request: by operation, target, share and count. */
import { type AnyOperation, type OperationName, operations } from './dataset.ts';
import { hash, unit } from './entities.ts';
import type { FaultParameters } from './fault.ts';
import { type FaultType, faultTypes } from './fault-types.ts';
import type { ApiName } from './kind.ts';

export type { FaultParameters } from './fault.ts';
export { type FaultType, faultTypes } from './fault-types.ts';

export interface Fault extends FaultParameters {
  readonly type: FaultType;
  /** Operations that it strikes. Default: all to which the type can happen. */
  readonly kind?: OperationName | readonly OperationName[];
  /** Strikes the operations of this API alone. */
  readonly api?: ApiName;
  /** Parts of the path, joined by `/` and in its order: an id, `501/77`, `library/4711`. Default: any path. */
  readonly target?: string;
  /** The share of the requests that it strikes, from 0 to 1. Default 1. */
  readonly share?: number;
  /** It ends after this many strikes. Default: never. */
  readonly count?: number;
}

/** What happens to one request. */
export interface Strike {
  /** The sum of all latencies that strike it. */
  readonly latencyMs: number;
  /** The newest fault that strikes it, latencies apart. */
  readonly fault: Fault | undefined;
}

interface ActiveFault {
  readonly fault: Fault;
  readonly operations: readonly OperationName[];
  readonly seed: number;
  /** How many requests it matched; it struck the share of them. */
  matched: number;
  strikes: number;
}

export function createFaults(seed: number) {
  // The newest first.
  let injected: ActiveFault[] = [];
  let number = 0;

  function remove(active: ActiveFault): void {
    injected = injected.filter((entry) => entry !== active);
  }

  function strikes(entry: ActiveFault, { name }: AnyOperation, url: string): boolean {
    const { target = '', share = 1, count } = entry.fault;
    if (!entry.operations.includes(name) || !holds(url, target)) return false;
    entry.matched += 1;
    if (unit(entry.seed, entry.matched) >= share) return false;
    entry.strikes += 1;
    if (entry.strikes === count) remove(entry);
    return true;
  }

  return {
    /** Returns a function that removes the fault. Throws a RangeError for one that can never strike. */
    inject(fault: Fault): () => void {
      const entry = {
        fault,
        operations: struckOperations(fault),
        seed: hash(seed, 0x66, number),
        matched: 0,
        strikes: 0,
      };
      number += 1;
      injected = [entry, ...injected];
      return () => remove(entry);
    },
    clear(): void {
      injected = [];
    },
    strike(operation: AnyOperation, url: string): Strike {
      let latencyMs = 0;
      let newest: Fault | undefined;
      for (const entry of injected) {
        const isLatency = entry.fault.type === 'latency';
        if (!isLatency && newest !== undefined) continue;
        if (!strikes(entry, operation, url)) continue;
        if (isLatency) latencyMs += entry.fault.latencyMs ?? 1_000;
        else newest = entry.fault;
      }
      return { latencyMs, fault: newest };
    },
  };
}

function struckOperations({ type, kind, api }: Fault): readonly OperationName[] {
  const struck = operations
    .filter((operation) => api === undefined || operation.api === api)
    .map(({ name }) => name)
    .filter((name) => kind === undefined || [kind].flat().includes(name))
    .filter((name) => faultTypes[type].appliesTo.includes(name));
  if (struck.length > 0) return struck;
  const meant = [kind ?? [], api === undefined ? [] : `the ${api} API`].flat();
  throw new RangeError(`The fault ${type} cannot happen to ${meant.join(', ')}.`);
}

/** Whether the URL has the parts of the target, in the same order. */
function holds(url: string, target: string): boolean {
  const wanted = target.split('/');
  for (const part of url.split(/[/?&=]/)) if (part === wanted[0]) wanted.shift();
  return target === '' || wanted.length === 0;
}
