/** Where the simulator's targets are, and with which key. */
import type { Operation } from '../../src/simulator/request.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { at } from './ask.ts';

export function urls({ baseUrls }: Simulator) {
  return {
    application: (id: string) => `${baseUrls.application}/apps/${id}/summary`,
    zones: (query = '') => `${baseUrls.shield}/shield/shield-zones${query}`,
    guardian: (zone: string, endpoint: string) =>
      `${baseUrls.shield}/shield/metrics/shield-zone/${zone}/api-guardian/endpoint/${endpoint}`,
    rateLimits: (zone: string) => `${baseUrls.shield}/shield/metrics/rate-limits/${zone}`,
    video: (library: string, video: string) => `${baseUrls.video}/library/${library}/videos/${video}/storage`,
  };
}

export function libraryKey({ keys }: Simulator, libraryId: string): string {
  const key = keys.libraries[libraryId];
  if (key === undefined) throw new Error(`Library ${libraryId} has no key.`);
  return key;
}

export interface Address {
  readonly operation: Operation;
  readonly url: string;
  /** The right one. */
  readonly key: string;
}

/** The address of one target of each operation. */
export function oneOfEach(simulator: Simulator): Address[] {
  const url = urls(simulator);
  const endpoint = at(simulator.endpoints, 0);
  const video = at(simulator.videos, 0);
  const key = simulator.keys.account;
  return [
    { operation: 'application', url: url.application(at(simulator.applications, 0).id), key },
    { operation: 'shield_zone', url: url.zones(), key },
    { operation: 'api_guardian', url: url.guardian(endpoint.shieldZoneId, endpoint.endpointId), key },
    { operation: 'rate_limit', url: url.rateLimits(at(simulator.rateLimitZones, 0).shieldZoneId), key },
    {
      operation: 'video_storage',
      url: url.video(video.libraryId, video.videoId),
      key: libraryKey(simulator, video.libraryId),
    },
  ];
}
