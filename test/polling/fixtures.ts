import pino from 'pino';
import type { ApiClient } from '../../src/api/client.ts';
import { Pacer } from '../../src/api/pacer.ts';
import type { Config, SectionConfig, TargetConfig } from '../../src/config/config.ts';
import { Store } from '../../src/exposition/store.ts';
import { type EngineOptions, PollEngine } from '../../src/polling/engine.ts';
import type { SnapshotEntry } from '../../src/polling/listed-things.ts';
import { type Plan, plan, wantedBy } from '../../src/polling/plan.ts';
import type { Spec, Target } from '../../src/polling/spec.ts';
import type { Snapshot } from '../../src/polling/task.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type { Resource } from '../../src/resources/resource.ts';

const api = {
  baseUrl: 'http://127.0.0.1:1',
  timeoutMs: 1000,
  maxConcurrency: 4,
  requestsPerSecond: 100,
  maxRetries: 0,
  maxResponseBytes: 1_000_000,
  names: { host: [], authorities: [] },
};

export function targetConfig(ids: Record<string, string>, more: Partial<TargetConfig> = {}): TargetConfig {
  const { credential = 'account' } = more;
  return {
    ids,
    name: undefined,
    credential,
    account: credential,
    intervalMs: 60_000,
    staleAfterMs: 180_000,
    ...more,
  };
}

/** The same objects in each section, as `wantedBy` keeps them. */
const ofApplications = { latency_unit: 'milliseconds', latency_chart: 'latest' };
const none = {};

export function sectionConfig(
  kind: string,
  targets: SectionConfig['targets'],
  more: Partial<SectionConfig> = {},
): SectionConfig {
  const settings = kind === 'application' ? ofApplications : none;
  return {
    kind,
    accounts: ['account'],
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
    accounts: ['account'],
    apis: { application: api, shield: api, core: api, video: api, origin_errors: api },
    sections,
    state: { file: undefined },
    discovery: { intervalMs: 600_000 },
  };
}

export function resourceOf(kind: string): Resource {
  const resource = resources.find((one) => one.kind === kind);
  if (!resource) throw new Error(`no resource ${kind}`);
  return resource;
}

/** The key of the listing of Shield Zones. */
export function zonesKey(credential = 'account', baseUrl = api.baseUrl): string {
  return `shield_zone Shield Zones#${credential}@${baseUrl}`;
}

/** Found Shield Zones with these ids. */
export function zonesFound(...ids: readonly string[]): readonly SnapshotEntry[] {
  return ids.map((id) => ({ ids: { shield_zone_id: id } }));
}

/** What is known besides the configuration. */
export interface Known {
  /** What the last complete run of a listing had, by its key. */
  readonly had?: Readonly<Record<string, readonly SnapshotEntry[]>>;
  /** Snapshots that were read with another key. */
  readonly snapshots?: Readonly<Record<string, Snapshot>>;
  /** The plan before; its targets may stay. */
  readonly previous?: Plan;
  readonly keyIdOf?: (credential: string) => string;
  readonly all?: readonly Resource[];
}

/** Plans a configuration with these snapshots. Where nothing else is said, every key has the id `k`. */
export function planOf(config: Config, known: Known = {}): Plan {
  const { had = {}, previous, keyIdOf = () => 'k', all = resources } = known;
  return plan({
    ...wantedBy(config, all),
    keyIdOf,
    isComplete: () => true,
    snapshotOf(key) {
      const entries = had[key];
      return known.snapshots?.[key] ?? (entries && { entries, keyId: 'k' });
    },
    before: previous?.targets ?? new Map(),
  });
}

/** What has polls of its own in a plan. */
export function polledIn({ listings, targets }: Plan): readonly Spec[] {
  return [...listings.values(), ...[...targets.values()].filter(({ fedBy }) => fedBy === undefined)];
}

/** The only target of a plan. */
export function targetIn({ targets }: Plan): Target {
  const [target] = targets.values();
  if (!target) throw new Error('the plan has no target');
  return target;
}

/** An engine whose requests are answered by `get`, with the clocks of the test. */
export function engineWith(get: ApiClient['get'], more: Partial<EngineOptions> = {}): PollEngine {
  const pacer = new Pacer({ requestsPerSecond: 10_000, maxConcurrency: 8 });
  return new PollEngine({
    uptimeMs: () => performance.now(),
    resources,
    store: new Store(catalogue),
    clientOf: () => ({ get }),
    paceOf: () => pacer,
    observer: {
      polled: () => undefined,
      mismatched: () => undefined,
      unrecognized: () => undefined,
      started: () => undefined,
    },
    log: pino({ level: 'silent' }),
    foundKeys: { learn: () => [], retain: () => [] },
    ...more,
  });
}
