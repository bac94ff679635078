/** The embedded simulator and a configuration that exports all of it: the whole program without an account. */
import type { ApiConfig, Config, SectionConfig } from './config/config.ts';
import type { Ids } from './resources/resource.ts';
import { type Credentials, createCredentials } from './secrets/credentials.ts';
import { outageScript, playScript } from './simulator/script.ts';
import { createSimulator } from './simulator/simulator.ts';

/** The sizes of the demo: about 600, 60,000 and 600,000 series. */
const paces = {
  small: { completeWithinSeconds: 2, intervalMs: 5_000 },
  medium: { completeWithinSeconds: 10, intervalMs: 30_000 },
  full: { completeWithinSeconds: 40, intervalMs: 120_000 },
} as const;

export interface DemoOptions {
  readonly scale: keyof typeof paces;
  readonly seed: number;
  /** Plays the scripted outage, and is told what each of its steps does. */
  readonly onOutageStep?: ((says: string) => void) | undefined;
}

export interface Demo {
  readonly config: Config;
  readonly credentials: Credentials;
  stop(): Promise<void>;
}

interface Listed {
  readonly ids: Ids;
  readonly name: string | undefined;
  readonly credential: string;
}

export async function startDemo({ scale, seed, onOutageStep }: DemoOptions): Promise<Demo> {
  const simulator = createSimulator({ scale, seed });
  await simulator.start();
  const { completeWithinSeconds, intervalMs } = paces[scale];
  const freshness = { intervalMs, staleAfterMs: 3 * intervalMs };
  const account = 'account';
  const libraryCredential = (libraryId: string) => `library-${libraryId}`;

  const section = (kind: string, listed: readonly Listed[], settings: unknown = {}): SectionConfig => ({
    kind,
    credential: account,
    ...freshness,
    settings,
    targets: listed.map((target) => ({ ...target, ...freshness })),
  });
  const sections = [
    section(
      'application',
      simulator.applications.map(({ id, name }) => ({ ids: { app_id: id }, name, credential: account })),
      { latency_unit: 'milliseconds', latency_chart: 'latest' },
    ),
    section(
      'shield_zone',
      simulator.zones.map(({ shieldZoneId, name }) => ({
        ids: { shield_zone_id: shieldZoneId },
        name,
        credential: account,
      })),
    ),
    section(
      'api_guardian',
      simulator.endpoints.map(({ shieldZoneId, endpointId, name }) => ({
        ids: { shield_zone_id: shieldZoneId, endpoint_id: endpointId },
        name,
        credential: account,
      })),
    ),
    section(
      'rate_limit',
      simulator.rateLimitZones.map(({ shieldZoneId }) => ({
        ids: { shield_zone_id: shieldZoneId },
        name: undefined,
        credential: account,
      })),
    ),
    section(
      'video_storage',
      simulator.videos.map(({ libraryId, videoId, name }) => ({
        ids: { library_id: libraryId, video_id: videoId },
        name,
        credential: libraryCredential(libraryId),
      })),
    ),
  ];

  /** The keys are the simulator's own; they reach the exporter as those of an account do. */
  const env: Record<string, string> = { DEMO_ACCOUNT_KEY: simulator.keys.account };
  const sources: Record<string, { env: string }> = { [account]: { env: 'DEMO_ACCOUNT_KEY' } };
  for (const [libraryId, key] of Object.entries(simulator.keys.libraries)) {
    env[`DEMO_LIBRARY_${libraryId}_KEY`] = key;
    sources[libraryCredential(libraryId)] = { env: `DEMO_LIBRARY_${libraryId}_KEY` };
  }

  const pollsOf = (kinds: readonly string[]) =>
    sections.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { targets }) => sum + targets.length, 0);
  const api = (baseUrl: string, polls: number): ApiConfig => ({
    baseUrl,
    timeoutMs: 5_000,
    maxConcurrency: 32,
    requestsPerSecond: Math.max(10, Math.ceil(polls / completeWithinSeconds)),
    maxRetries: 2,
    maxResponseBytes: 8 * 1024 * 1024,
  });
  const config: Config = {
    credentials: sources,
    apis: {
      application: api(simulator.baseUrls.application, pollsOf(['application'])),
      shield: api(simulator.baseUrls.shield, pollsOf(['api_guardian', 'rate_limit'])),
      core: api(simulator.baseUrls.shield, 0),
      video: api(simulator.baseUrls.video, pollsOf(['video_storage'])),
    },
    sections,
    limits: { maxSeries: 1_000_000 },
  };
  const curtain = new AbortController();
  if (onOutageStep) {
    const script = outageScript(simulator.libraryIds);
    void playScript(simulator, script, ({ says }) => onOutageStep(says), curtain.signal);
  }
  return {
    config,
    credentials: createCredentials(sources, env),
    async stop() {
      curtain.abort();
      await simulator.stop();
    },
  };
}
