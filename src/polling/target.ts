/** What is polled: a target, and the poll that reads it. */
import type { TargetConfig } from '../config/config.ts';
import { idText } from '../discovery/discovered.ts';
import type { ListingPoll } from '../discovery/provider.ts';
import type { ApiName, Ids, Listed, ReadResource } from '../resources/resource.ts';

/** One thing that a kind is read for. */
export interface Target extends TargetConfig {
  /** Unique among all targets: the kind and the ids. */
  readonly key: string;
  readonly kind: string;
  /** The poll that reads it: its own, or that of a listing. */
  readonly pollKey: string;
  /** Its parts that have a name. */
  readonly parts?: readonly Listed[] | undefined;
  readonly settings: unknown;
  /** Where it is read; values read elsewhere are not its own. */
  readonly baseUrl: string;
  /** Tells the keys of its credential apart. */
  readonly keyId?: string | undefined;
  /** The credential that the key is known by that was found with it. */
  readonly keyName?: string | undefined;
}

/** Reads one target. */
export interface ReadPoll {
  readonly type: 'read';
  readonly key: string;
  /** The kind read. */
  readonly kind: string;
  readonly api: ApiName;
  /** Its queue at the pacer of its API. */
  readonly queue: string;
  readonly credential: string;
  readonly intervalMs: number;
  readonly resource: ReadResource;
  readonly target: Target;
}

export type Poll = ReadPoll | ListingPoll;

export function targetKey(kind: string, ids: Ids): string {
  return `${kind}/${idText(ids)}`;
}

/** The poll of a target that is read alone. */
export function readPollOf(resource: ReadResource, target: Target): ReadPoll {
  const { kind, api } = resource;
  const { key, credential, intervalMs } = target;
  return { type: 'read', key, kind, api, queue: kind, credential, intervalMs, resource, target };
}
