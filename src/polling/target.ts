/** What is polled: targets, and the polls that read or list them. Plain data, made by `plan.ts`. */
import type { TargetConfig } from '../config/config.ts';
import { type Discovered, idText } from '../discovery/discovered.ts';
import {
  type ApiName,
  type Ids,
  isReadAlone,
  type Listed,
  type Listing,
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
  /** The name that its listing gave; the configuration may have another. */
  readonly listedName?: string | undefined;
  /** Its parts that have a name. */
  readonly parts?: readonly Listed[] | undefined;
  /** The same object as long as they are equal. */
  readonly settings: unknown;
  /** Where it is read. At another address it is another target. */
  readonly baseUrl: string;
  /** Changes when the key that it is read with does. */
  readonly keyId: string;
  /** The credential of the key that was found with it. */
  readonly keyName?: string | undefined;
}

interface PollBase {
  readonly key: string;
  readonly kind: string;
  readonly api: ApiName;
  /** Its queue at the pacer of its API. */
  readonly queue: string;
  readonly credential: string;
  readonly intervalMs: number;
  /** Changes when the key of its credential does. */
  readonly keyId: string;
}

/** Reads one target. */
export interface ReadPoll extends PollBase {
  readonly type: 'read';
  readonly resource: ReadResource;
  readonly target: Target;
}

/** Reads a listing. Its kind is the one that the listing is named after. */
export interface ListingPoll extends PollBase {
  readonly type: 'listing';
  readonly listing: Listing;
  /** The item of the parent listing that it is below. */
  readonly parent: Discovered | undefined;
  /** The credential of the outermost listing: whose account this is. */
  readonly account: string;
  /** Whether its readings are wanted: then this is the poll of all the targets in it. */
  readonly isRead: boolean;
  /** The key of the listing that has the names. */
  readonly namesKey: string | undefined;
}

export type Poll = ReadPoll | ListingPoll;

/** A listing that only finds targets does not count as a poll of its kind. */
export function isCounted(poll: Poll): boolean {
  return poll.type === 'read' || poll.isRead;
}

export function targetKey(kind: string, ids: Ids): string {
  return `${kind}/${idText(ids)}`;
}

/** Whether other values are read from now on, or with another key. Another name needs no request. */
export function mustReread(before: Target, after: Target): boolean {
  return before.keyId !== after.keyId || before.settings !== after.settings;
}

export function isSameTarget(before: Target, after: Target): boolean {
  return (
    before.name === after.name &&
    before.listedName === after.listedName &&
    before.keyName === after.keyName &&
    before.credential === after.credential &&
    before.intervalMs === after.intervalMs &&
    before.staleAfterMs === after.staleAfterMs &&
    before.pollKey === after.pollKey &&
    before.parts === after.parts &&
    before.baseUrl === after.baseUrl &&
    !mustReread(before, after)
  );
}

export function isSameListing(before: ListingPoll, after: ListingPoll): boolean {
  return (
    before.intervalMs === after.intervalMs &&
    before.isRead === after.isRead &&
    before.keyId === after.keyId &&
    before.account === after.account &&
    before.namesKey === after.namesKey &&
    before.parent?.name === after.parent?.name
  );
}

/** The poll of a target that is read alone; undefined if a listing reads it. */
export function readPollOf(target: Target, resource: Resource | undefined): ReadPoll | undefined {
  if (!resource || !isReadAlone(resource)) return undefined;
  const { kind, key, credential, intervalMs, keyId } = target;
  const { api } = resource;
  return { type: 'read', key, kind, api, queue: kind, credential, intervalMs, keyId, resource, target };
}

/** What tells one listing from another: another key of the same credential lists the same things. */
export function listingKey(
  { kind, nouns }: Listing,
  credential: string,
  baseUrl: string,
  parent: Discovered | undefined,
): string {
  return `${kind} ${nouns}#${credential}@${baseUrl}${parent ? `#${idText(parent.ids)}` : ''}`;
}
