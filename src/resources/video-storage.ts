/** The storage size breakdown of one video of a library (reference 4.5, 2.8). Sizes are bytes. */
import { entriesOf, instant, integer, object, readFields, text, unwrapData, type ValueOf } from './fields.ts';
import { mapEach, readVideoPages, videoPageFields } from './pages.ts';
import { defineResource, familiesOf, type Listing } from './resource.ts';
import { videoLibraries } from './video-library.ts';

const maxEncodings = 50;

const storageInfo = object({
  encoded: entriesOf(object({ codec: text, resolution: text, size: integer })),
  thumbnails: integer,
  previews: integer,
  originals: integer,
  mp4Fallback: integer,
  miscellaneous: integer,
  calculatedAt: instant,
});

export type VideoStorageReading = ValueOf<typeof storageInfo>;

/** The bytes of all encodings together; unknown as long as that of one of them is. */
function encodedBytes({ encoded }: VideoStorageReading): number | undefined {
  if (!encoded) return undefined;
  let sum = 0;
  for (const [, encoding] of encoded) {
    if (typeof encoding?.size !== 'number') return undefined;
    sum += encoding.size;
  }
  return sum;
}

type BytesOf = (reading: VideoStorageReading) => number | null | undefined;

function component(name: string, bytesOf: BytesOf) {
  return { labels: Object.freeze({ component: name }), bytesOf };
}

const components = [
  component('originals', ({ originals }) => originals),
  component('encoded', encodedBytes),
  component('thumbnails', ({ thumbnails }) => thumbnails),
  component('previews', ({ previews }) => previews),
  component('mp4_fallback', ({ mp4Fallback }) => mp4Fallback),
  component('miscellaneous', ({ miscellaneous }) => miscellaneous),
];

const { gauge, info } = familiesOf<VideoStorageReading>('bunnynet_video');

const listedVideo = object({ guid: text, title: text });

/** Every video of a library, called by its title. */
const videos: Listing = {
  kind: 'video_storage',
  api: 'video',
  nouns: 'videos',
  parent: videoLibraries,
  fields: [...listedVideo.names, ...videoPageFields],
  async discover(get, parent, diagnostics) {
    const libraryId = parent?.['library_id'] ?? '';
    const found = await readVideoPages(
      {
        path: `/library/${libraryId}/videos`,
        nouns: 'videos',
        perPage: 1000,
        element: listedVideo,
        identifier: 'guid',
      },
      get,
      diagnostics,
    );
    return mapEach(found, ([videoId, { title }]) => ({
      ids: { library_id: libraryId, video_id: videoId },
      name: title ?? undefined,
    }));
  },
};

export const videoStorage = defineResource({
  kind: 'video_storage',
  api: 'video',
  reference: '4.5',
  noun: 'video',
  section: 'video_storage',
  environment: 'BUNNYNET_VIDEOS',
  ids: [
    { label: 'library_id', setting: 'library_id', form: 'integer' },
    { label: 'video_id', setting: 'video_id', form: 'guid' },
  ],
  defaultIntervalSeconds: 3600,
  isCostly: true,
  fields: storageInfo.names,
  listing: videos,

  async read(get, ids, diagnostics): Promise<VideoStorageReading> {
    const body = await get(`/library/${ids['library_id']}/videos/${ids['video_id']}/storage`);
    return readFields(storageInfo, unwrapData(body), diagnostics);
  },

  families: [
    info('The name of the video, from the configuration or else from the API.', ['name'], (_, { name }) => ({
      name,
    })),
    gauge(
      'storage_bytes',
      'Stored bytes by component; the sum over the components is the size of the video, and too small while one of them is missing: encoded is, as long as the size of one encoding cannot be read (API fields originals, encoded, thumbnails, previews, mp4Fallback, miscellaneous).',
      (reading) =>
        components.flatMap(({ labels, bytesOf }) => {
          const value = bytesOf(reading);
          return typeof value === 'number' ? [{ labels, value }] : [];
        }),
      ['component'],
    ),
    gauge(
      'encoded_storage_bytes',
      'Stored bytes of each encoding, at most 50 of them in the order of their names (API field encoded).',
      ({ encoded }) =>
        (encoded ?? [])
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .slice(0, maxEncodings)
          .flatMap(([encoding, about]) =>
            typeof about?.size === 'number'
              ? [
                  {
                    labels: { encoding, codec: about.codec ?? '', resolution: about.resolution ?? '' },
                    value: about.size,
                  },
                ]
              : [],
          ),
      ['encoding', 'codec', 'resolution'],
    ),
    gauge(
      'storage_calculated_timestamp_seconds',
      'When the API calculated the sizes, as Unix time (API field calculatedAt).',
      ({ calculatedAt }) => calculatedAt ?? undefined,
    ),
  ],
});
