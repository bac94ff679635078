/** What is polled: targets and listings. Plain data, made by `plan.ts`. */
import type { TargetConfig } from '../config/config.ts';
import {
  type ApiName,
  type Ids,
  idText,
  type Listed,
  type Listing,
  type Resource,
} from '../resources/resource.ts';
import type { SnapshotEntry } from './listed-things.ts';

/** What a target and a listing have in common. */
interface SpecBase {
  /** Unique among all targets and listings. */
  readonly key: string;
  readonly kind: string;
  readonly api: ApiName;
  readonly credential: string;
  readonly intervalMs: number;
  /** Changes when the key of its credential does. */
  readonly keyId: string;
  /** Whose it is: the credential of the account. */
  readonly account: string;
  /** The listing that has the names: its first run comes first. */
  readonly namesKey: string | undefined;
  /** Where it is read. At another address it is another one. */
  readonly baseUrl: string;
}

/** One thing that a kind is read for. */
export interface Target extends SpecBase, TargetConfig {
  readonly type: 'target';
  readonly resource: Resource;
  /** The listing whose readings it gets; undefined if it is read alone. */
  readonly fedBy: string | undefined;
  /** The name that its listing gave; the configuration may have another. */
  readonly listedName?: string | undefined;
  /** Its parts that have a name. */
  readonly parts?: readonly Listed[] | undefined;
  readonly settings: unknown;
}

/** A listing that is read. Its kind is the one that it is named after. */
export interface ListingSpec extends SpecBase {
  readonly type: 'listing';
  readonly listing: Listing;
  /** The item of the parent listing that it is below. */
  readonly parent: SnapshotEntry | undefined;
  /** The same listing of the account before: its first run comes first, so that what both have is of that account. */
  readonly afterKey: string | undefined;
  /** Whether it feeds targets: then its polls count as polls of the kind. */
  readonly isRead: boolean;
}

export type Spec = Target | ListingSpec;

/** Whether a key came with a listing: no configuration can have such a name. There may be one for each of a thousand libraries. */
export function isFoundKey(credential: string): boolean {
  return credential.includes('/');
}

/** A key at an API. */
export function keyAtApi({ api, credential }: Pick<Spec, 'api' | 'credential'>): string {
  return `${api} ${credential}`;
}

/** What is requested: the path of its kind, or of its listing. */
export function operationOf(spec: Spec): string {
  return spec.type === 'target' ? spec.resource.path : spec.listing.path;
}

/** Whether its polls count in the metrics of its kind: not those of a listing that only finds targets. */
export function hasPollMetrics(spec: Spec): boolean {
  return spec.type === 'target' || spec.isRead;
}

/** The queue of its requests: the pacer of its API serves the queues in turn. */
export function queueOf(spec: Spec): string {
  return hasPollMetrics(spec) ? spec.kind : `${spec.kind} listing`;
}

/** Where its requests wait at the pacer. */
export function addressOf(spec: Spec) {
  const { account, credential, kind } = spec;
  return { account, credential, kind, queue: queueOf(spec) };
}

export function targetKey(kind: string, ids: Ids): string {
  return `${kind}/${idText(ids)}`;
}

/** Whether other values are read from now on, or with another key. Another name needs no request. */
export function mustReread(before: Spec, after: Spec): boolean {
  return before.keyId !== after.keyId || !hasSameSettings(before, after);
}

/** What a section wants stays the same object as long as it is the same, see `wantedBy`. */
export function hasSameSettings(before: Spec, after: Spec): boolean {
  return before.type === 'listing' || after.type === 'listing' || before.settings === after.settings;
}

/** What tells one listing from another: another key of the same credential lists the same things. */
export function listingKey(
  { kind, nouns }: Listing,
  credential: string,
  baseUrl: string,
  parent: SnapshotEntry | undefined,
): string {
  return `${kind} ${nouns}#${credential}@${baseUrl}${parent ? `#${idText(parent.ids)}` : ''}`;
}

/** The credential in the key of a listing. */
export function credentialIn(key: string): string | undefined {
  return /#([\w.-]+)@/.exec(key)?.[1];
}
