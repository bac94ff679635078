/** The storage size breakdown of one video of a library (`/library/{libraryId}/videos/{videoId}/storage`). Sizes are bytes. */
import { defineListing, defineResource } from '../define.ts';
import { enveloped } from '../envelope.ts';
import { count, label, shown, sumOf, timestamp } from '../families.ts';
import { entriesOf, integer, object, text, textId } from '../fields.ts';
import { videoLibraries } from './video-library.ts';

const maxEncodings = 50;

const storedBytes =
  'Stored bytes by component; the sum over the components is the size of the video, and too small while one of them is missing: encoded is, as long as the size of one encoding cannot be read';

function component(name: string) {
  return count('storage_bytes', storedBytes, { component: name });
}

const encoding = object({ codec: text, resolution: text, size: integer });

const encoded = shown(
  entriesOf(encoding),
  {
    name: 'storage_bytes',
    words: storedBytes,
    fixed: { component: 'encoded' },
    series: (encodings) => sumOf(encodings.map(([, about]) => about?.size)),
  },
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
  calculatedAt: timestamp('storage_calculated_timestamp_seconds', 'When the API calculated the sizes'),
});

const videos = defineListing({
  kind: 'video_storage',
  product: 'Stream',
  api: 'video',
  nouns: 'videos',
  parent: videoLibraries,
  path: '/library/{libraryId}/videos?orderBy=date',
  element: object({ guid: textId, title: label('name') }),
  ids: [
    { label: 'library_id', setting: 'library_id', form: 'integer' },
    { label: 'video_id', setting: 'video_id', form: 'guid' },
  ],
});

export const videoStorage = defineResource({
  kind: 'video_storage',
  noun: 'video',
  environment: 'BUNNYNET_VIDEOS',
  familyPrefix: 'bunnynet_video',
  defaultIntervalSeconds: 3600,
  isCostly: true,
  needsFullKey: true,
  listing: videos,
  answer: enveloped(storageInfo, 'success message statusCode'),
  info: 'The name of the video, from the configuration or else from the API',
  path: '/library/{libraryId}/videos/{videoId}/storage',
});
