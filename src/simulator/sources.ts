/** What the account has beside its kinds, and lists: pull zones, after which Shield Zones are called, and video libraries. */
import { hexadecimal, nth, streams } from './entities.ts';
import { problemDetails } from './forms.ts';
import { jsonInteger } from './json.ts';
import type { Source } from './kind.ts';
import type { Zones } from './kinds/shield-zone.ts';
import type { Libraries } from './kinds/video-storage.ts';
import { coreObjectPaging, corePaging, pagesOf } from './paging.ts';
import { hash, text } from './random.ts';

interface PullZone {
  readonly pullZoneId: string;
  readonly name: string;
  /** A secret: it signs the addresses of what the zone guards. */
  readonly securityKey: string;
}

interface VideoLibrary {
  readonly libraryId: string;
  readonly name: string;
  readonly pullZoneId: string;
}

function securityKey(seed: number, name: string): string {
  return `sim-${name}-key-${text(seed, 32, hexadecimal)}`;
}

/** One pull zone for each Shield Zone, and one for each video library. */
const pullZones = {
  create: (seed, { zones, libraryIds }) => ({
    pullZones: [
      ...zones.map(({ pullZoneId, name }) => ({ pullZoneId, name })),
      ...libraryIds.map((libraryId, index) => ({
        pullZoneId: pullZoneOfLibrary(index),
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
              StorageZoneId: -1,
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
} as const satisfies Source<{ pullZones: readonly PullZone[] }, Zones & Libraries>;

function pullZoneOfLibrary(index: number): string {
  return String(3_904_551 + 17 * index);
}

const libraryNames = ['marketing', 'training', 'support', 'events', 'product'] as const;

const videoLibraries = {
  create: (_seed, { libraryIds }) => ({
    videoLibraries: libraryIds.map((libraryId, index) => ({
      libraryId,
      name: nth(libraryNames, index),
      pullZoneId: pullZoneOfLibrary(index),
    })),
  }),
  operations: [
    {
      name: 'video_library',
      api: 'core',
      path: '/videolibrary',
      key: 'account',
      form: problemDetails,
      traits: {
        field: 'Items',
        list: true,
        ids: ['Id', 'ApiKey'],
        names: ['Name'],
        number: 'VideoCount',
        wholeNumbers: true,
        instants: ['DateCreated'],
      },
      pages:
        ({ videoLibraries: all, videos }, keys) =>
        (request) =>
          pagesOf(
            coreObjectPaging,
            all.filter(({ libraryId }) => !request.isRemoved(libraryId)),
            ({ libraryId, name, pullZoneId }) => ({
              Id: jsonInteger(libraryId),
              Name: request.nameOf(libraryId, name),
              VideoCount: videos.filter((video) => video.libraryId === libraryId).length,
              TrafficUsage: hash(Number(libraryId), 1),
              StorageUsage: hash(Number(libraryId), 2),
              DateCreated: '2024-03-01T09:30:00',
              ReplicationRegions: ['UK', 'NY'],
              ApiKey: keys.libraries[libraryId],
              ReadOnlyApiKey: keys.readOnlyLibraries[libraryId],
              PullZoneId: jsonInteger(pullZoneId),
              ApiAccessKey: securityKey(hash(Number(libraryId), 3), `access-${libraryId}`),
            }),
            request,
          ),
    },
  ],
} as const satisfies Source<{ videoLibraries: readonly VideoLibrary[] }, Libraries>;

/** Each may build on the dataset of the kinds. */
export const sources = [pullZones, videoLibraries] as const;
