import { isDeepStrictEqual } from 'node:util';
import type { Config, SectionConfig, TargetConfig } from '../../src/config/config.ts';
import type { Discovered } from '../../src/discovery/discovered.ts';
import { type Poll, readPollOf, type Target, targetKey } from '../../src/polling/target.ts';
import type { TargetStates } from '../../src/polling/target-states.ts';
import { Wanted } from '../../src/polling/wanted.ts';
import { resources } from '../../src/resources/index.ts';
import { isReadAlone, type Resource } from '../../src/resources/resource.ts';

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

function pollOf(resource: Resource, target: Target): Poll {
  if (isReadAlone(resource)) return readPollOf(resource, target);
  const { listing } = resource;
  const { kind, api } = listing;
  const { credential, intervalMs, pollKey: key } = target;
  const of = { listing, credential, parent: undefined, account: credential };
  return { ...of, type: 'listing', key, kind, api, queue: kind, intervalMs, isRead: true };
}

/** Plans the named targets of one configuration after the other, with their polls, and updates `states` if given. */
export function planner({
  all = resources,
  states,
}: {
  all?: readonly Resource[];
  states?: TargetStates;
} = {}) {
  let known = new Map<string, Target>();
  return {
    plan({ sections }: Config): Planned {
      const targets = new Map<string, Target>();
      const polls: Poll[] = [];
      for (const { kind, settings, targets: named } of sections) {
        const resource = all.find((one) => one.kind === kind) ?? resourceOf(kind);
        for (const of of named === 'all' ? [] : named) {
          const key = targetKey(kind, of.ids);
          const pollKey = isReadAlone(resource) ? key : kind;
          const target = { ...of, key, kind, settings, baseUrl: api.baseUrl, pollKey };
          const before = known.get(key);
          targets.set(key, isDeepStrictEqual(before, target) && before ? before : target);
          polls.push(pollOf(resource, target));
        }
      }
      for (const [key, target] of targets) {
        if (!known.has(key)) states?.add(target);
        else if (known.get(key) !== target) states?.update(target);
      }
      for (const key of known.keys()) if (!targets.has(key)) states?.remove(key);
      known = targets;
      return { targets, polls };
    },
  };
}

/** The key of the listing of Shield Zones. */
export function zonesKey(credential = 'account', baseUrl = api.baseUrl): string {
  return `shield_zone Shield Zones#${credential}@${baseUrl}`;
}

/** Found Shield Zones with these ids. */
export function zonesFound(...ids: readonly string[]) {
  return ids.map((id) => ({ ids: { shield_zone_id: id } }));
}

/** What configurations want. The test says what the listings find; nothing is polled. */
export function follower({
  all = resources,
  owns = () => true,
}: {
  all?: readonly Resource[];
  owns?: (key: string) => boolean;
} = {}) {
  const targets = new Map<string, Target>();
  const changes: string[] = [];
  const nothing = () => undefined;
  const wanted = new Wanted({
    resources: all,
    owns,
    keyIdOf: () => '',
    loops: {
      add: nothing,
      change: nothing,
      remove: nothing,
      start(target) {
        targets.set(target.key, target);
        changes.push(`+${target.key}`);
      },
      update(target) {
        targets.set(target.key, target);
        changes.push(`~${target.key}`);
      },
      stop({ key }) {
        targets.delete(key);
        changes.push(`-${key}`);
      },
    },
  });
  return {
    /** The wanted targets by key. */
    targets,
    /** What came (`+`), changed (`~`) and left (`-`) since the last call. */
    changes: () => changes.splice(0),
    apply: (config: Config) => wanted.apply(config),
    /** A complete listing finds these. */
    async find(key: string, found: readonly Discovered[]) {
      await wanted.providers.get(key)?.succeed(found);
      await wanted.settle();
    },
    /** The polled listings. */
    listings: () => Array.from(wanted.providers.all(), ({ poll }) => poll),
    /** All polls: of listings, then of targets that are read one by one. */
    polls(): Poll[] {
      const read = [...targets.values()].flatMap((target): Poll[] => {
        const resource = all.find(({ kind }) => kind === target.kind) ?? resourceOf(target.kind);
        return isReadAlone(resource) ? [readPollOf(resource, target)] : [];
      });
      return [...Array.from(wanted.providers.all(), ({ poll }) => poll), ...read];
    },
  };
}
