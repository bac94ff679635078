/**
 * The hostnames of the pull zones for Prometheus' HTTP service discovery, so that something else can probe them. Prometheus
 * drops every target that a list lacks, and keeps what it has when it gets none. So no answer is better than one with gaps.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerText } from '../http/answer.ts';
import { mapParts, send } from '../http/send.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import { pullZone, type ZoneHostnames } from '../resources/kinds/pull-zone.ts';
import { renderList } from './json.ts';
import type { StatusSources } from './view.ts';

export interface HostnamesOptions extends Pick<StatusSources, 'targets' | 'listings'> {
  /** Replaces all known keys in a text. */
  readonly hide: (text: string) => string;
  /** Whether everything was polled once. */
  readonly isReady: () => boolean;
  /** Whether the configuration has a section of this kind. */
  readonly isOn: (kind: string) => boolean;
}

export async function answerHostnames(
  options: HostnamesOptions,
  { method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { kind, section } = pullZone;
  if (!options.isOn(kind))
    return answerText(response, 404, `${section} is off: add it to the configuration to list the hostnames`);
  const zones = options.targets().filter(({ target }) => target.kind === kind);
  if (!areKnown(options, zones))
    return answerText(response, 503, 'not known yet: wait for a complete listing of the pull zones');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (method === 'HEAD') return void response.end();
  const parts = renderList(zones.flatMap(hostnamesOf), describeHostname);
  await send(response, mapParts(parts, options.hide));
}

/** Whether every listing that reads pull zones was complete once, and every zone that it has was read. */
function areKnown({ listings, isReady }: HostnamesOptions, zones: readonly TargetStatus[]): boolean {
  const ofZones = listings().filter(({ poll }) => poll.kind === pullZone.kind && poll.isRead);
  if (ofZones.length === 0) return isReady();
  return (
    ofZones.every(({ lastSuccessMs }) => lastSuccessMs !== undefined) &&
    zones.every(({ kept, state }) => kept !== undefined || state === 'absent')
  );
}

function hostnamesOf({ target, kept }: TargetStatus) {
  const { name = '', hostnames = [] } = (kept ?? {}) as Partial<ZoneHostnames>;
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
