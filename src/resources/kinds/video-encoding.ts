/** How far the videos of a library are with their encoding (`/library/{library}/videos`, every page). */
import { defineResource } from '../define.ts';
import { countedBy, lowestOf } from '../families.ts';
import { codeState, instant, object, textId, type ValueOf } from '../fields.ts';
import { paged, pagings } from '../pages.ts';
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
  ['other', 'JitSegmenting'],
  ['other', 'JitPlaylistsCreated'],
] as const;
/** Videos whose files wait for the encoder. A video that was only created may never get a file. */
const unfinished: readonly string[] = ['uploaded', 'processing', 'transcoding'];

const video = object({
  guid: textId,
  status: codeState(statuses),
  dateUploaded: instant,
}).ignoring(`videoLibraryId title views length encodeProgress storageSize collectionId averageWatchTime totalWatchTime
  transcodingMessages[]`);

export const videoEncoding = defineResource({
  kind: 'video_encoding',
  api: 'video',
  noun: 'video encoding',
  defaultIntervalSeconds: 1800,
  listing: videoLibraries,
  path: '/library/{libraryId}/videos',
  answer: paged(pagings.video, 'videos', video),
  families: () => [
    {
      name: 'videos',
      words: 'Number of videos by encoding status',
      fields: ['status'],
      ...countedBy(
        statuses.map((status) => (typeof status === 'string' ? status : status[0])),
        ({ status }: ValueOf<typeof video>) => status,
      ),
    },
    {
      name: 'oldest_unfinished_timestamp_seconds',
      words:
        'When the video was uploaded that has waited longest for its encoding, as Unix time; nothing while none waits (%s)',
      fields: ['dateUploaded'],
      series(videos) {
        const waiting = videos.filter((one) => unfinished.includes(one.status ?? ''));
        return lowestOf(waiting.map(({ dateUploaded }) => dateUploaded));
      },
    },
  ],
});
