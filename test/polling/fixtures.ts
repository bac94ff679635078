import pino from 'pino';
import type { ApiClient } from '../../src/api/client.ts';
import { Pacer } from '../../src/api/pacer.ts';
import type { Config, SectionConfig, TargetConfig } from '../../src/config/config.ts';
import type { Discovered } from '../../src/discovery/discovered.ts';
import { Store } from '../../src/exposition/store.ts';
import { pollsInPlan } from '../../src/polling/capacity.ts';
import { type EngineOptions, PollEngine } from '../../src/polling/engine.ts';
import { emptyPlan, type Plan, plan, plannedSections, type Snapshot } from '../../src/polling/plan.ts';
import { reconcile } from '../../src/polling/reconcile.ts';
import type { Poll, Target } from '../../src/polling/target.ts';
import type { Polled, TargetStates } from '../../src/polling/target-states.ts';
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
    apis: { application: api, shield: api, core: api, video: api, origin_errors: api },
    sections,
    discovery: { intervalMs: 600_000 },
    limits: { maxSeries: 1_000_000 },
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
export function zonesFound(...ids: readonly string[]): readonly Discovered[] {
  return ids.map((id) => ({ ids: { shield_zone_id: id } }));
}

/** What is known besides the configuration. */
export interface Known {
  /** What the last complete run of a listing had, by its key. */
  readonly had?: Readonly<Record<string, readonly Discovered[]>>;
  /** Other snapshots: of listings that were read with another key, failed, or are still awaited. */
  readonly snapshots?: Readonly<Record<string, Partial<Snapshot>>>;
  /** The plan before; its targets may stay. */
  readonly previous?: Plan;
  /** Default: nothing waits for names any more. */
  readonly nowMs?: number;
  readonly keyIdOf?: (credential: string) => string;
  readonly owns?: (key: string) => boolean;
  readonly all?: readonly Resource[];
}

/** Plans a configuration with these snapshots. Where nothing else is said, every key has the id `k`. */
export function planOf(config: Config, known: Known = {}): Plan {
  const {
    had = {},
    previous = emptyPlan,
    nowMs = Number.POSITIVE_INFINITY,
    keyIdOf = () => 'k',
    all = resources,
  } = known;
  const snapshots = new Map<string, Snapshot>();
  const add = (key: string, more: Partial<Snapshot>) =>
    snapshots.set(key, { entries: undefined, keyId: 'k', hasEnded: true, sinceMs: 0, ...more });
  for (const [key, entries] of Object.entries(had)) add(key, { entries });
  for (const [key, more] of Object.entries(known.snapshots ?? {})) add(key, more);
  return plan({
    config,
    sections: plannedSections(config, all),
    keyIdOf,
    snapshots,
    owns: known.owns ?? (() => true),
    previous,
    nowMs,
  });
}

/** All polls of a plan. */
export function pollsIn(of: Plan, all: readonly Resource[] = resources): readonly Poll[] {
  return pollsInPlan(of, all);
}

/** A target of the application `id`, as the plan makes it. */
export function applicationTarget(id: string, more: Partial<TargetConfig> = {}): Target {
  const config = configOf([sectionConfig('application', [targetConfig({ app_id: id }, more)])]);
  const target = planOf(config).targets.get(`application/${id}`);
  if (!target) throw new Error(`no target ${id}`);
  return target;
}

/** Keeps `states` in step with one configuration after another, as the engine does. */
export function follower(states: TargetStates, polledOf: (target: Target) => Polled) {
  let known = emptyPlan;
  return (config: Config): ReadonlyMap<string, Target> => {
    const planned = planOf(config, { previous: known });
    const { added, updated, removed } = reconcile(known.targets, planned.targets);
    for (const target of added) states.add(target, polledOf(target));
    for (const { after } of updated) states.update(after, polledOf(after));
    for (const { key } of removed) states.remove(key);
    known = planned;
    return planned.targets;
  };
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
    redact: (text) => text,
    foundKeys: { learn: () => [], retain: () => undefined },
    owns: () => true,
    ...more,
  });
}
