/**
 * The hostnames of the pull zones for Prometheus' HTTP service discovery, so that something else can probe them. Prometheus
 * drops every target that a list lacks, and keeps what it has when it gets none. So no answer is better than one with gaps.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerText } from '../http/answer.ts';
import { mapParts, send } from '../http/send.ts';
import type { ListingStatus } from '../polling/listing-status.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import { pullZone, type ZoneHostnames } from '../resources/kinds/pull-zone.ts';
import { expectedOf, quote } from '../text.ts';
import { renderList } from './json.ts';
import type { StatusSources } from './view.ts';

export interface HostnamesOptions extends Pick<StatusSources, 'targets' | 'listings' | 'accounts'> {
  /** Replaces all known keys in a text. */
  readonly hide: (text: string) => string;
  /** Whether everything was polled once, or has had its time; it stays so. */
  readonly isReady: () => boolean;
  /** The accounts of the configuration that are not read, because they have the key of another one. */
  readonly leftOut: () => readonly string[];
  /** Whether the configuration has a section of this kind. */
  readonly isOn: (kind: string) => boolean;
}

export async function answerHostnames(
  options: HostnamesOptions,
  { method }: IncomingMessage,
  response: ServerResponse,
  params: URLSearchParams,
): Promise<void> {
  const { kind, section } = pullZone;
  if (!options.isOn(kind))
    return answerText(response, 404, `${section} is off: add it to the configuration to list the hostnames`);
  const account = params.get('account') || undefined;
  const accounts = options.accounts();
  if (account !== undefined && !accounts.includes(account))
    return answerText(
      response,
      404,
      `account: expected ${expectedOf(account, accounts)}; got ${quote(account)}`,
    );
  const isAsked = (one: { readonly account: string }) => account === undefined || one.account === account;
  const zones = options.targets().filter(({ target }) => target.kind === kind && isAsked(target));
  const lists = options.listings().filter(({ poll }) => poll.kind === kind && poll.isRead && isAsked(poll));
  const isLeftOut = account !== undefined && options.leftOut().includes(account);
  if (lists.length === 0 ? isLeftOut || !options.isReady() : !areKnown(options, lists, zones)) {
    const of = account === undefined ? '' : ` of ${account}`;
    return answerText(response, 503, `not known yet: wait for a complete listing of the pull zones${of}`);
  }
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (method === 'HEAD') return void response.end();
  const parts = renderList(zones.flatMap(hostnamesOf), describeHostname);
  await send(response, mapParts(parts, options.hide));
}

/**
 * One account whose list fails must not hide the hostnames of the others: a first run has ended well or not, and after a while
 * nobody waits for it. Where nothing at all is known, an empty answer would still be wrong.
 */
function areKnown(
  { isReady }: HostnamesOptions,
  lists: readonly ListingStatus[],
  zones: readonly TargetStatus[],
): boolean {
  // What it lacks, its next run tells soon.
  if (lists.some(({ areAll, entries, state }) => entries && !areAll && state !== 'failing')) return false;
  const isGone = ({ state }: TargetStatus) => state === 'absent';
  const isAnyComplete = lists.some(({ lastSuccessMs }) => lastSuccessMs !== undefined);
  const isAnyKnown =
    zones.some(({ extract }) => extract !== undefined) || (isAnyComplete && zones.every(isGone));
  if (!isAnyKnown || isReady()) return isAnyKnown;
  const ofWhom = new Set(
    lists.flatMap(({ poll, lastSuccessMs }) => (lastSuccessMs === undefined ? [] : [poll.account])),
  );
  return (
    lists.every(({ state }) => state !== 'pending') &&
    zones.every((zone) => zone.extract !== undefined || isGone(zone) || !ofWhom.has(zone.target.account))
  );
}

function hostnamesOf({ target, extract }: TargetStatus) {
  const { name = '', hostnames = [] } = (extract ?? {}) as Partial<ZoneHostnames>;
  return hostnames.map((one) => ({
    ...one,
    ids: target.ids,
    name: target.name ?? name,
    account: target.account,
  }));
}

/** A target group of Prometheus. */
function describeHostname({
  hostname,
  certificate,
  ids,
  name,
  account,
}: ReturnType<typeof hostnamesOf>[number]) {
  const idLabels: Readonly<Record<string, string>> = Object.fromEntries(
    Object.entries(ids).map(([label, id]) => [`__meta_bunnynet_${label}`, id]),
  );
  return {
    targets: [hostname],
    labels: {
      ...idLabels,
      __meta_bunnynet_pull_zone_name: name,
      __meta_bunnynet_certificate: certificate,
      __meta_bunnynet_account: account,
    },
  };
}
