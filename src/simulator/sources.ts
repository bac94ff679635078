/** What the account has beside its kinds, and lists: pull zones, after which Shield Zones are called. */
import { hexadecimal, streams } from './entities.ts';
import { problemDetails } from './forms.ts';
import { jsonInteger } from './json.ts';
import type { Source } from './kind.ts';
import type { Zones } from './kinds/shield-zone.ts';
import type { VideoLibraries } from './kinds/video-library.ts';
import { corePaging, pagesOf } from './paging.ts';
import { hash, text } from './random.ts';

interface PullZone {
  readonly pullZoneId: string;
  readonly name: string;
  /** A secret: it signs the addresses of what the zone guards. */
  readonly securityKey: string;
}

function securityKey(seed: number, name: string): string {
  return `sim-${name}-key-${text(seed, 32, hexadecimal)}`;
}

/** One pull zone for each Shield Zone, and one for each video library. */
const pullZones = {
  create: (seed, { zones, videoLibraries }) => ({
    pullZones: [
      ...zones.map(({ pullZoneId, name }) => ({ pullZoneId, name })),
      ...videoLibraries.map(({ libraryId, pullZoneId }, index) => ({
        pullZoneId,
        name: `vz-${text(hash(seed, streams.library, index), 8, hexadecimal)}-${libraryId.slice(-3)}`,
      })),
    ].map((one, index) => ({
      ...one,
      securityKey: securityKey(hash(seed, streams.pullZone, index), `zone-security-${one.pullZoneId}`),
    })),
  }),
  operations: [
    {
      name: 'pull_zone',
      api: 'core',
      path: '/pullzone',
      key: 'account',
      form: problemDetails,
      traits: {
        field: 'Items',
        list: true,
        ids: ['Id'],
        names: ['Name'],
        number: 'MonthlyBandwidthUsed',
      },
      pages:
        ({ pullZones: all }) =>
        (request) =>
          pagesOf(
            corePaging,
            all.filter(({ pullZoneId }) => !request.isRemoved(pullZoneId)),
            ({ pullZoneId, name, securityKey: ZoneSecurityKey }) => ({
              Id: jsonInteger(pullZoneId),
              Name: request.nameOf(pullZoneId, name),
              OriginUrl: `https://origin.example/${pullZoneId}`,
              Enabled: true,
              Suspended: false,
              Hostnames: [],
              StorageZoneId: 0,
              ZoneSecurityKey,
              MonthlyBandwidthLimit: 0,
              MonthlyBandwidthUsed: 1_000 * (hash(Number(pullZoneId), 1) % 1_000_000),
              MonthlyCharges: 0.01 * (hash(Number(pullZoneId), 2) % 10_000),
              Type: 0,
            }),
            request,
          ),
    },
  ],
} as const satisfies Source<{ pullZones: readonly PullZone[] }, Zones & VideoLibraries>;

/** Each may build on the dataset of the kinds. */
export const sources = [pullZones] as const;
