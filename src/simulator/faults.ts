/** Which fault strikes which request: the faults that were put in, by operation, target, share, time and count. */
import { type OperationName, operations } from './dataset.ts';
import type { FaultParameters } from './fault.ts';
import { type FaultType, faultTypes } from './fault-types.ts';
import type { ApiName } from './kind.ts';
import { hash, unit } from './random.ts';

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
  /** After so long, by the simulator's clock, it is gone. Default: never. */
  readonly durationMs?: number;
  /** After so many strikes it is gone. Default: never. */
  readonly count?: number;
}

/** What happens to one request. */
export interface Strike {
  /** The sum of all latencies that strike it. */
  readonly latencyMs: number;
  /** The newest fault that strikes it, latencies apart. */
  readonly fault: Fault | undefined;
}

interface Injected {
  readonly fault: Fault;
  readonly operations: ReadonlySet<OperationName>;
  readonly seed: number;
  readonly endsAtMs: number;
  /** Requests that matched, before the share. */
  matched: number;
  strikes: number;
}

const defaultLatencyMs = 1_000;

export function createFaults(seed: number, now: () => number) {
  // The newest first.
  let injected: Injected[] = [];
  let number = 0;

  function remove(gone: Injected): void {
    injected = injected.filter((entry) => entry !== gone);
  }

  function strikes(entry: Injected, operation: OperationName, parts: readonly string[]): boolean {
    const { fault } = entry;
    if (!entry.operations.has(operation)) return false;
    if (fault.target !== undefined && !holds(parts, fault.target)) return false;
    if (now() >= entry.endsAtMs) {
      remove(entry);
      return false;
    }
    entry.matched += 1;
    if (unit(entry.seed, entry.matched) >= (fault.share ?? 1)) return false;
    entry.strikes += 1;
    if (entry.strikes === fault.count) remove(entry);
    return true;
  }

  return {
    /** Throws a RangeError for a fault that can never strike. Returns what removes it. */
    inject(fault: Fault): () => void {
      const entry: Injected = {
        fault,
        operations: struckOperations(fault),
        seed: hash(seed, 0x66, number),
        endsAtMs: fault.durationMs === undefined ? Number.POSITIVE_INFINITY : now() + fault.durationMs,
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
    /** Nothing for a request that no fault strikes. */
    strike(operation: OperationName, parts: readonly string[]): Strike | undefined {
      if (injected.length === 0) return undefined;
      let latencyMs = 0;
      let newest: Fault | undefined;
      for (const entry of injected) {
        const late = entry.fault.type === 'latency';
        if (!late && newest !== undefined) continue;
        if (!strikes(entry, operation, parts)) continue;
        if (late) latencyMs += entry.fault.latencyMs ?? defaultLatencyMs;
        else newest = entry.fault;
      }
      return latencyMs === 0 && newest === undefined ? undefined : { latencyMs, fault: newest };
    },
  };
}

function struckOperations(fault: Fault): ReadonlySet<OperationName> {
  const declaration = faultTypes[fault.type];
  if (declaration === undefined) throw new RangeError(`There is no fault ${JSON.stringify(fault.type)}.`);
  const { share = 1, count = 1, durationMs = 0 } = fault;
  if (!(share >= 0 && share <= 1)) throw new RangeError(`A share lies between 0 and 1; got ${share}.`);
  if (!(count >= 1)) throw new RangeError(`A fault strikes at least once; got a count of ${count}.`);
  if (!(durationMs >= 0)) throw new RangeError(`A fault lasts for 0 ms at least; got ${durationMs}.`);
  const { kind, api } = fault;
  const struck = operations
    .filter((operation) => api === undefined || operation.api === api)
    .map(({ name }) => name)
    .filter((name) => kind === undefined || [kind].flat().includes(name))
    .filter((name) => declaration.appliesTo.includes(name));
  if (struck.length === 0) {
    const asked = [kind ?? [], api === undefined ? [] : `the ${api} API`].flat();
    throw new RangeError(`The fault ${fault.type} cannot happen to ${asked.join(', ')}.`);
  }
  return new Set(struck);
}

/** True when the parts of the target are among these parts, in the same order. */
function holds(parts: readonly string[], target: string): boolean {
  const wanted = target.split('/').filter((part) => part !== '');
  let next = 0;
  for (const part of parts) {
    if (part === wanted[next]) next += 1;
  }
  return next === wanted.length;
}
