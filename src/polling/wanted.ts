/**
 * What the current configuration wants: sections, the listings that they follow, and a pool for each kind. What is new is added
 * first, and what only the previous configuration wanted is removed last.
 */
import type { Config } from '../config/config.ts';
import { type ListingLoops, Providers, type Whereabouts } from '../discovery/provider.ts';
import { isReadAlone, type Resource } from '../resources/resource.ts';
import { Turns } from '../turns.ts';
import { Pool, type TargetLoops } from './pool.ts';
import { Section } from './section.ts';
import type { Poll, Target } from './target.ts';

export interface WantedOptions {
  readonly resources: readonly Resource[];
  /** Whether the target of a key belongs to this shard. */
  readonly owns: (key: string) => boolean;
  readonly keyIdOf: Whereabouts['keyIdOf'];
  readonly loops: ListingLoops & TargetLoops;
}

export class Wanted {
  readonly providers: Providers;
  readonly turns = new Turns();
  readonly #options: WantedOptions;
  /** By kind. */
  readonly #pools = new Map<string, Pool>();
  #sections: readonly Section[] = [];

  constructor(options: WantedOptions) {
    this.#options = options;
    this.providers = new Providers(options.loops);
  }

  /** Whether nothing of the previous configuration is left. */
  get isSettled(): boolean {
    return ![...this.#pools.values()].some(({ hasRetired }) => hasRetired);
  }

  get sizes(): Readonly<Record<string, number>> {
    const sizes: Record<string, number> = { listings: this.providers.size };
    for (const pool of this.#pools.values())
      for (const [what, size] of Object.entries(pool.sizes)) sizes[what] = (sizes[what] ?? 0) + size;
    return sizes;
  }

  /** The targets that a poll reads. */
  targetsOf(poll: Poll): readonly Target[] {
    if (poll.type === 'read') return [poll.target];
    if (!poll.isRead) return [];
    const kinds = this.#options.resources.filter((resource) => !isReadAlone(resource));
    return kinds.flatMap(({ kind }) => [...(this.#pools.get(kind)?.readBy(poll.key) ?? [])]);
  }

  async apply(config: Config): Promise<void> {
    const before = this.#sections;
    for (const pool of this.#pools.values()) pool.retire();
    this.#sections = this.#sectionsOf(config);
    for (const section of this.#sections) await section.start();
    await this.settle();
    for (const [kind, pool] of this.#pools) {
      const section = this.#sections.find((one) => one.kind === kind);
      if (section) await pool.adopt((target) => section.adopt(target));
    }
    for (const section of before) section.end();
  }

  /** Removes what is left of the previous configuration, of each kind whose listings have been read. */
  async settle(): Promise<void> {
    for (const [kind, pool] of this.#pools) {
      if (!pool.hasRetired) continue;
      const isSettled = this.#sections.every((section) => section.kind !== kind || section.isSettled);
      if (isSettled) await pool.release();
    }
  }

  #sectionsOf({ apis, credentials, discovery, sections }: Config): readonly Section[] {
    const { resources, owns, keyIdOf, loops } = this.#options;
    const { providers, turns } = this;
    // As they are now: another key would be another configuration.
    const keyIds = new Map(Object.keys(credentials).map((name) => [name, keyIdOf(name)]));
    return sections.map((section) => {
      const { kind } = section;
      const resource = resources.find((one) => one.kind === kind);
      if (!resource) throw new Error(`no resource of the kind ${kind}`);
      const pool = this.#pools.get(kind) ?? new Pool(loops, turns);
      this.#pools.set(kind, pool);
      return new Section({
        section,
        resource,
        providers,
        pool,
        discoveryIntervalMs: discovery.intervalMs,
        owns,
        keyIdOf: (credential) => keyIds.get(credential) ?? '',
        baseUrlOf: (api) => apis[api].baseUrl,
        turns,
      });
    });
  }
}
