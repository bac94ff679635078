/** Targets, the polls that read them, and how a section of the configuration makes targets. */
import type { SectionConfig, TargetConfig } from '../config/config.ts';
import { type Discovered, idText } from '../discovery/discovered.ts';
import { type ListingPoll, listingKey, type Whereabouts } from '../discovery/provider.ts';
import {
  type ApiName,
  type Ids,
  isReadAlone,
  type Listed,
  type ReadResource,
  type Resource,
} from '../resources/resource.ts';

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
  /** Where it is read. At another address it is another target. */
  readonly baseUrl: string;
  /** Changes when the key of its credential does. */
  readonly keyId?: string | undefined;
  /** The credential of the key that was found with it. */
  readonly keyName?: string | undefined;
}

export interface ReadPoll {
  readonly type: 'read';
  readonly key: string;
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

/** A listing that only finds targets does not count as a poll of its kind. */
export function isCounted(poll: Poll): boolean {
  return poll.type === 'read' || poll.isRead;
}

export function targetKey(kind: string, ids: Ids): string {
  return `${kind}/${idText(ids)}`;
}

export function readPollOf(resource: ReadResource, target: Target): ReadPoll {
  const { kind, api } = resource;
  const { key, credential, intervalMs } = target;
  return { type: 'read', key, kind, api, queue: kind, credential, intervalMs, resource, target };
}

/** What decides how the targets of a section are read. */
export interface TargetRules extends Whereabouts {
  readonly section: SectionConfig;
  readonly resource: Resource;
}

export type FoundBy = Pick<ListingPoll, 'api' | 'credential' | 'key'>;

/** The credential from the configuration, else that of the key which was found with it, else that of the listing. */
export function credentialFor(
  section: SectionConfig,
  api: ApiName,
  foundBy: FoundBy,
  found: Discovered,
): string {
  if (api === foundBy.api) return foundBy.credential;
  return section.isCredentialNamed ? section.credential : (found.keyName ?? foundBy.credential);
}

/** The target for something that a listing found. */
export function listedTarget(
  rules: TargetRules,
  entry: Discovered,
  foundBy: FoundBy,
  parts?: readonly Listed[],
): Target {
  const { section, resource } = rules;
  const { ids, name, keyName } = entry;
  const override = section.overrides?.get(idText(ids));
  const of = {
    ids,
    name: override?.name ?? name,
    credential: credentialFor(section, resource.api, foundBy, entry),
    intervalMs: override?.intervalMs ?? section.intervalMs,
    staleAfterMs: override?.staleAfterMs ?? section.staleAfterMs,
  };
  return { ...targetOf(rules, of, isReadAlone(resource) ? undefined : foundBy.key), parts, keyName };
}

/** The target for an entry of the configuration. */
export function namedTarget(rules: TargetRules, of: TargetConfig, parts?: readonly Listed[]): Target {
  const { resource } = rules;
  const { credential } = of;
  const listing = isReadAlone(resource) ? undefined : resource.listing;
  const readWith = listing && { listing, credential, parent: undefined, account: credential };
  return { ...targetOf(rules, of, readWith && listingKey(readWith, rules)), parts };
}

function targetOf(
  { section, resource: { kind, api }, baseUrlOf, keyIdOf }: TargetRules,
  of: TargetConfig,
  pollKey: string | undefined,
): Target {
  const key = targetKey(kind, of.ids);
  const { settings } = section;
  const keyId = keyIdOf(of.credential);
  return { ...of, key, kind, keyId, settings, baseUrl: baseUrlOf(api), pollKey: pollKey ?? key };
}
