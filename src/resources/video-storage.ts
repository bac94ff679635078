/** The storage size breakdown of one video of a library (reference 4.5, 2.8). Sizes are bytes. */
import { count, gauge, shown } from './families.ts';
import {
  type Entries,
  entriesOf,
  instant,
  integer,
  object,
  text,
  unwrapData,
  type ValueOf,
} from './fields.ts';
import { defineListing } from './listing.ts';
import { defineResource } from './resource.ts';
import { videoLibraries } from './video-library.ts';

const maxEncodings = 50;

const storedBytes =
  'Stored bytes by component; the sum over the components is the size of the video, and too small while one of them is missing: encoded is, as long as the size of one encoding cannot be read';

function component(name: string) {
  return count('storage_bytes', storedBytes, { component: name });
}

const encoding = object({ codec: text, resolution: text, size: integer });
type Encodings = Entries<ValueOf<typeof encoding>>;

/** The bytes of all encodings together; unknown as long as that of one of them is. */
function totalBytes(encodings: Encodings): number | undefined {
  const known = encodings.flatMap(([, about]) => about?.size ?? []);
  return known.length < encodings.length ? undefined : known.reduce((sum, size) => sum + size, 0);
}

const encoded = shown(
  entriesOf(encoding),
  { name: 'storage_bytes', words: storedBytes, of: { component: 'encoded' }, series: totalBytes },
  {
    name: 'encoded_storage_bytes',
    words: `Stored bytes of each encoding, at most ${maxEncodings} of them in the order of their names`,
    labels: ['encoding', 'codec', 'resolution'],
    series: (encodings) =>
      encodings
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, maxEncodings)
        .flatMap(([name, { codec = '', resolution = '', size } = {}]) =>
          size === undefined ? [] : [{ labels: { encoding: name, codec, resolution }, value: size }],
        ),
  },
);

const storageInfo = object({
  originals: component('originals'),
  encoded,
  thumbnails: component('thumbnails'),
  previews: component('previews'),
  mp4Fallback: component('mp4_fallback'),
  miscellaneous: component('miscellaneous'),
  calculatedAt: gauge(
    'storage_calculated_timestamp_seconds',
    instant,
    'When the API calculated the sizes, as Unix time',
  ),
});

const listed = object({ guid: text, title: text });

/** Every video of a library, called by its title. */
const videos = defineListing({
  kind: 'video_storage',
  api: 'video',
  nouns: 'videos',
  parent: videoLibraries,
  path: ({ library_id }) => `/library/${library_id}/videos`,
  element: listed,
  ids: [
    { label: 'library_id', setting: 'library_id', form: 'integer' },
    { label: 'video_id', setting: 'video_id', form: 'guid' },
  ],
  identifier: 'guid',
  about: ({ title }) => ({ name: title }),
});

export const videoStorage = defineResource({
  kind: 'video_storage',
  product: 'Stream',
  reference: '4.5',
  noun: 'video',
  environment: 'BUNNYNET_VIDEOS',
  familyPrefix: 'bunnynet_video',
  defaultIntervalSeconds: 3600,
  isCostly: true,
  listing: videos,
  answer: storageInfo,
  info: 'The name of the video, from the configuration or else from the API',
  path: ({ library_id, video_id }) => `/library/${library_id}/videos/${video_id}/storage`,
  unwrap: unwrapData,
});
