/** What the account has beside its kinds, and lists: video libraries. */
import { hexadecimal, nth } from './entities.ts';
import { problemDetails } from './forms.ts';
import { jsonInteger } from './json.ts';
import type { Source } from './kind.ts';
import { pullZoneOfLibrary } from './kinds/pull-zone.ts';
import type { Libraries } from './kinds/video-storage.ts';
import { coreObjectPaging, pagesOf } from './paging.ts';
import { hash, text } from './random.ts';

interface VideoLibrary {
  readonly libraryId: string;
  readonly name: string;
  readonly pullZoneId: string;
}

function securityKey(seed: number, name: string): string {
  return `sim-${name}-key-${text(seed, 32, hexadecimal)}`;
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
export const sources = [videoLibraries] as const;
