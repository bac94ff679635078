import type { Config, SectionConfig, TargetConfig } from '../../src/config/config.ts';
import { type Discoveries, type Poll, plan, readPollOf, type Target } from '../../src/polling/plan.ts';
import type { TargetStates } from '../../src/polling/target-states.ts';
import { WantedTargets } from '../../src/polling/wanted-targets.ts';
import { resources } from '../../src/resources/index.ts';
import { isReadAlone, type Listed, type Resource } from '../../src/resources/resource.ts';

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
    discovery: { intervalMs: 600_000 },
    limits: { maxSeries: 1_000_000 },
  };
}

export function resourceOf(kind: string): Resource {
  const resource = resources.find((one) => one.kind === kind);
  if (!resource) throw new Error(`no resource ${kind}`);
  return resource;
}

export interface Planned {
  readonly targets: ReadonlyMap<string, Target>;
  readonly polls: readonly Poll[];
}

/** Plans one configuration after the other, as the engine does, and tells the states, where there are any, what changed. */
export function planner({
  owns = () => true,
  all = resources,
  states,
  awaited = () => false,
}: {
  owns?: (key: string) => boolean;
  all?: readonly Resource[];
  states?: TargetStates;
  awaited?: (key: string) => boolean;
} = {}) {
  const wanted = new WantedTargets(owns);
  const targets = new Map<string, Target>();
  const changed: string[] = [];
  return {
    /** The keys of the targets that the last plan changed. */
    changed,
    plan(config: Config, found: ReadonlyMap<string, readonly Listed[]> = new Map()): Planned {
      changed.length = 0;
      const discovered: Discoveries = { get: (key) => found.get(key), isAwaited: awaited };
      const { groups, listings } = plan(config, all, discovered, owns);
      const polls: Poll[] = [...listings.values()];
      for (const change of wanted.changesTo(groups)) {
        if (!change) continue;
        const { before, after } = change;
        const key = (after ?? before)?.key ?? '';
        changed.push(key);
        if (after) targets.set(key, after);
        else targets.delete(key);
        if (!after) states?.remove(key);
        else if (before) states?.update(after);
        else states?.add(after);
      }
      for (const target of targets.values()) {
        const resource = all.find(({ kind }) => kind === target.kind);
        if (resource && isReadAlone(resource)) polls.push(readPollOf(resource, target));
      }
      return { targets: new Map(targets), polls };
    },
  };
}

/** The key of the listing of zones. */
export function zonesKey(credential = 'account', baseUrl = api.baseUrl): string {
  return `shield_zone Shield Zones#${credential}@${baseUrl}`;
}

/** What a listing of zones has found. */
export function zonesFound(...ids: readonly string[]) {
  return ids.map((id) => ({ ids: { shield_zone_id: id } }));
}
