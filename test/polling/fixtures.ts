import type { Config, SectionConfig, TargetConfig } from '../../src/config/config.ts';
import { resources } from '../../src/resources/index.ts';
import type { Resource } from '../../src/resources/resource.ts';

const api = {
  baseUrl: 'http://127.0.0.1:1',
  timeoutMs: 1000,
  maxConcurrency: 4,
  requestsPerSecond: 100,
  maxRetries: 0,
  maxResponseBytes: 1_000_000,
};

export function targetConfig(ids: Record<string, string>, more: Partial<TargetConfig> = {}): TargetConfig {
  return { ids, name: undefined, credential: 'account', intervalMs: 60_000, staleAfterMs: 180_000, ...more };
}

export function sectionConfig(
  kind: string,
  targets: SectionConfig['targets'],
  more: Partial<SectionConfig> = {},
): SectionConfig {
  const settings = kind === 'application' ? { latency_unit: 'milliseconds', latency_chart: 'latest' } : {};
  return {
    kind,
    credential: 'account',
    intervalMs: 60_000,
    staleAfterMs: 180_000,
    settings,
    targets,
    ...more,
  };
}

export function configOf(sections: readonly SectionConfig[]): Config {
  return {
    credentials: { account: { env: 'KEY' } },
    apis: { application: api, shield: api, core: api, video: api },
    sections,
    limits: { maxSeries: 1_000_000 },
  };
}

export function resourceOf(kind: string): Resource {
  const resource = resources.find((one) => one.kind === kind);
  if (!resource) throw new Error(`no resource ${kind}`);
  return resource;
}
