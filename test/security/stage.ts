/** The simulated API with every fault at once, each at its own target, and configurations that export from it. */
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { allKinds, type Keys } from '../../simulator/dataset.ts';
import { everything } from '../../simulator/everything.ts';
import { type FaultType, faultTypes } from '../../simulator/faults.ts';
import { isPaged } from '../../simulator/kind.ts';
import { createSimulator, type Simulator } from '../../simulator/simulator.ts';
import { kindNames } from '../simulator/targets.ts';

export const faults = Object.keys(faultTypes) as FaultType[];

/** A dataset with a target for each fault in most kinds. */
export async function stage(keys: Pick<Keys, 'account'> & { readonly library: string }): Promise<Simulator> {
  const size = faults.length;
  const shape = {
    applications: size,
    zones: size,
    endpoints: size,
    rateLimitZones: size,
    rulesPerZone: 1,
    libraries: 1,
    videosPerLibrary: size,
  };
  const [libraryId = ''] = createSimulator({ shape }).libraryIds;
  const simulator = createSimulator({
    shape,
    keys: { account: keys.account, libraries: { [libraryId]: keys.library } },
    logRequests: true,
  });
  await simulator.start();
  onTestFinished(() => simulator.stop());
  return simulator;
}

/** Each target fails in its own way; endless answers run into the deadline. */
export function injectAll(simulator: Simulator): void {
  for (const { targets, operations } of allKinds) {
    const [operation] = operations;
    const { name } = operation;
    if (isPaged(operation)) continue;
    for (const [index, { ids }] of targets(simulator).entries()) {
      const type = faults[index];
      if (type === undefined || !faultTypes[type].appliesTo.includes(name)) continue;
      const target = Object.values(ids).join('/');
      simulator.inject({
        type,
        kind: name,
        target,
        retryAfterSeconds: 1,
        latencyMs: 10,
        decodedBytes: 4 << 20,
      });
    }
  }
}

/**
 * A configuration of these kinds, by default of everything that the simulator has; `credentials` in YAML defines `account` and
 * `library`. timeout: with faults, answers without end run into it.
 */
export function configOf(
  simulator: Simulator,
  credentials: string,
  kinds: readonly string[] = kindNames,
  timeout = '4s',
): string {
  const { document } = everything(simulator, {
    kinds,
    isNamed: true,
    // Each target is polled once, which is enough to log its fault.
    interval: '1h',
    api: () => ({
      timeout,
      requests_per_second: 5000,
      max_concurrency: 200,
      max_retries: 0,
      max_response_bytes: '1MiB',
    }),
    sections: { application: { latency_chart: 'points' }, shield_zone: { targets: 'all' } },
  });
  const { account, library } = parse(credentials) as Readonly<Record<string, unknown>>;
  const sources = Object.keys(document.credentials).map((name) => [
    name,
    name === 'account' ? account : library,
  ]);
  // JSON is valid YAML.
  return JSON.stringify({ ...document, credentials: Object.fromEntries(sources) as object });
}
