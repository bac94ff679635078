/** How far the videos of a library are with their encoding (`/library/{library}/videos`, every page). */
import { countSamples, type Shown } from './families.ts';
import { code, enumeratedFieldsOf, instant, object, text, type ValueOf } from './fields.ts';
import { readVideoPages, videoPageFields } from './pages.ts';
import { defineResource } from './resource.ts';
import { videoLibraries } from './video-library.ts';

/** By their codes. What is segmented when it is watched has been encoded otherwise. */
const statuses = [
  'created',
  'uploaded',
  'processing',
  'transcoding',
  'finished',
  'error',
  'upload_failed',
  'other',
  'other',
] as const;
const told = [...new Set<string>(statuses)];
/** Those whose files wait for the encoder; of what was only created, no file may ever come. */
const unfinished: readonly string[] = ['uploaded', 'processing', 'transcoding'];

const video = object({ guid: text, status: code([...statuses.keys()]), dateUploaded: instant });
type Videos = readonly ValueOf<typeof video>[];

function statusOf({ status }: ValueOf<typeof video>): string | undefined {
  return status === undefined ? undefined : (statuses[status] ?? 'other');
}

const families: readonly Shown<Videos>[] = [
  {
    name: 'videos',
    words: 'Number of videos of the library by the state of their encoding',
    fields: ['status'],
    labels: ['status'],
    series: (videos) => countSamples('status', told, videos.map(statusOf)),
  },
  {
    name: 'oldest_unfinished_timestamp_seconds',
    words:
      'When the video was uploaded that has waited longest for its encoding, as Unix time; nothing while none waits (%s)',
    fields: ['dateUploaded'],
    series(videos) {
      const waiting = videos.filter((one) => unfinished.includes(statusOf(one) ?? ''));
      const since = waiting.flatMap(({ dateUploaded }) => dateUploaded ?? []);
      return since.length > 0 ? Math.min(...since) : undefined;
    },
  },
];

export const videoEncoding = defineResource<Videos>({
  kind: 'video_encoding',
  product: 'Stream',
  api: 'video',
  reference: 'GET /library/{libraryId}/videos',
  noun: 'encoding of the video library',
  defaultIntervalSeconds: 1800,
  listing: videoLibraries,
  fields: [...video.names, ...videoPageFields],
  enumeratedFields: enumeratedFieldsOf(video),
  families,

  async read(get, { library_id }, diagnostics) {
    const path = `/library/${library_id}/videos`;
    const found = await readVideoPages(
      { path, nouns: 'videos', perPage: 1000, element: video, identifier: 'guid', isReading: true },
      get,
      diagnostics,
    );
    return [...found.values()];
  },
});
