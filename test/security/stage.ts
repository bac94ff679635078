/** The simulated API with every fault at once, each at a target of its own, and configurations that export from it. */
import { onTestFinished } from 'vitest';
import type { Keys } from '../../src/simulator/dataset.ts';
import { type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import type { Operation } from '../../src/simulator/request.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';

export const faults = Object.keys(faultTypes) as FaultType[];

/** A world with a target for each fault, of each kind but the listing. */
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

const targetsOf: Readonly<Partial<Record<Operation, (simulator: Simulator) => readonly string[]>>> = {
  application: ({ applications }) => applications.map(({ id }) => id),
  api_guardian: ({ endpoints }) =>
    endpoints.map((endpoint) => `${endpoint.shieldZoneId}/${endpoint.endpointId}`),
  rate_limit: ({ rateLimitZones }) => rateLimitZones.map(({ shieldZoneId }) => shieldZoneId),
  video_storage: ({ videos }) => videos.map(({ libraryId, videoId }) => `${libraryId}/${videoId}`),
};

/** Each target fails in its own way; answers that never end are left to the deadline. */
export function injectAll(simulator: Simulator): void {
  for (const [index, type] of faults.entries()) {
    for (const [kind, targets] of Object.entries(targetsOf) as [
      Operation,
      (s: Simulator) => readonly string[],
    ][]) {
      const target = targets(simulator)[index];
      if (target === undefined || !faultTypes[type].appliesTo.includes(kind)) continue;
      simulator.inject({ type, kind, target, retryAfterSeconds: 1, latencyMs: 10, decodedBytes: 4 << 20 });
    }
  }
}

const pace =
  'timeout: 2s, requests_per_second: 5000, max_concurrency: 200, max_retries: 0, max_response_bytes: 1MiB';

/** A configuration of everything that the simulator has; `credentials` in YAML defines `account` and `library`. */
export function configOf(simulator: Simulator, credentials: string, interval = '5s'): string {
  const { application, shield, video } = simulator.baseUrls;
  const list = (kind: Operation) => JSON.stringify(targetsOf[kind]?.(simulator) ?? []);
  return `credentials: ${credentials}
apis:
  application: { base_url: "${application}", ${pace} }
  shield: { base_url: "${shield}", ${pace} }
  video: { base_url: "${video}", ${pace} }
applications: { credential: account, interval: ${interval}, latency_chart: points, targets: ${list('application')} }
shield_zones: { credential: account, interval: ${interval}, targets: all }
rate_limits: { credential: account, interval: ${interval}, targets: ${list('rate_limit')} }
api_guardian: { credential: account, interval: ${interval}, targets: ${list('api_guardian')} }
video_storage: { credential: library, interval: ${interval}, targets: ${list('video_storage')} }
`;
}
