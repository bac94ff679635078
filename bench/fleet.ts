/**
 * A configuration for the whole exporter against the simulated API in another process. It rests on the simulator's world
 * being a function of its seed and shape, so that both sides know the same ids and keys without telling each other.
 */
import type { ApiConfig, Config, SectionConfig } from '../src/config/config.ts';
import type { Ids } from '../src/resources/resource.ts';
import { type Credentials, createCredentials } from '../src/secrets/credentials.ts';
import { createKeys, createWorld, type Shape } from '../src/simulator/dataset.ts';
import { prefixes } from '../src/simulator/request.ts';

export const seed = 1;

/** How fast the exporter asks. */
export interface Pace {
  readonly intervalMs: number;
  readonly requestsPerSecond: number;
  readonly maxConcurrency: number;
  readonly timeoutMs: number;
}

export interface Fleet {
  readonly config: Config;
  readonly credentials: Credentials;
  readonly targets: number;
}

/** Everything that the shape has is a target. */
export function createFleet(origin: string, shape: Shape, pace: Pace): Fleet {
  const world = createWorld(seed, shape);
  const keys = createKeys(seed, world.libraryIds);
  const { intervalMs, requestsPerSecond, maxConcurrency, timeoutMs } = pace;
  // Nothing is to leave the page during a measurement.
  const freshness = { intervalMs, staleAfterMs: 3_600_000 };
  const account = 'account';
  const section = (
    kind: string,
    targets: readonly { ids: Ids; name?: string; credential?: string }[],
    settings: unknown = {},
  ): SectionConfig => ({
    kind,
    credential: account,
    ...freshness,
    settings,
    targets: targets.map((target) => ({ name: undefined, credential: account, ...target, ...freshness })),
  });
  const sections = [
    section(
      'application',
      world.applications.map(({ id, name }) => ({ ids: { app_id: id }, name })),
      { latency_unit: 'milliseconds', latency_chart: 'latest' },
    ),
    section(
      'shield_zone',
      world.zones.map(({ shieldZoneId, name }) => ({ ids: { shield_zone_id: shieldZoneId }, name })),
    ),
    section(
      'api_guardian',
      world.endpoints.map(({ shieldZoneId, endpointId, name }) => ({
        ids: { shield_zone_id: shieldZoneId, endpoint_id: endpointId },
        name,
      })),
    ),
    section(
      'rate_limit',
      world.rateLimitZones.map(({ shieldZoneId }) => ({ ids: { shield_zone_id: shieldZoneId } })),
    ),
    section(
      'video_storage',
      world.videos.map(({ libraryId, videoId, name }) => ({
        ids: { library_id: libraryId, video_id: videoId },
        name,
        credential: `library-${libraryId}`,
      })),
    ),
  ].filter(({ targets }) => targets.length > 0);
  const env: Record<string, string> = { [account]: keys.account };
  for (const [libraryId, key] of Object.entries(keys.libraries)) env[`library-${libraryId}`] = key;
  const sources = Object.fromEntries(Object.keys(env).map((name) => [name, { env: name }]));
  const api = (path: string): ApiConfig => ({
    baseUrl: `${origin}${path}`,
    timeoutMs,
    maxConcurrency,
    requestsPerSecond,
    maxRetries: 2,
    maxResponseBytes: 8 * 1024 * 1024,
  });
  return {
    config: {
      credentials: sources,
      apis: {
        application: api(prefixes.application),
        shield: api(prefixes.shield),
        core: api(prefixes.shield),
        video: api(prefixes.video),
      },
      sections,
      limits: { maxSeries: 1_000_000 },
    },
    credentials: createCredentials(sources, env),
    targets: sections.reduce((sum, { targets }) => sum + targets.length, 0),
  };
}
