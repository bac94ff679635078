/** The videos of a library with the state of their encoding. One in ten is under way, one in sixty has failed. */
import { listedIn, targetWithKey, videoPaging } from '../answers.ts';
import { hourMs, minuteMs } from '../days.ts';
import { hash } from '../entities.ts';
import { videoApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import type { VideoLibraries } from './video-library.ts';
import { itemOf, type Video, videosIn } from './video-storage.ts';

export const videoEncoding = {
  kind: 'video_encoding',
  section: 'video_encoding',
  ...videoApi,
  path: '/library/{library}/videos',
  traits: {
    field: 'items',
    ids: ['guid', 'videoLibraryId'],
    name: 'title',
    number: 'status',
    instants: true,
  },
  ...listedIn(videoPaging, videosIn, encoded),
  targets: ({ videoLibraries }: VideoLibraries) => videoLibraries.map(targetWithKey),
} as const satisfies Kind;

function encoded(video: Video, request: Request) {
  const { seed, index } = video;
  const { nowMs } = request;
  const turn = hash(seed, Math.floor(nowMs / hourMs), 0x9a);
  const about = itemOf(video, request);
  if (index % 10 === 2) {
    const dateUploaded = new Date(nowMs - (1 + (turn % 40)) * minuteMs).toISOString();
    return { ...about, status: 1 + (turn % 3), encodeProgress: turn % 100, dateUploaded };
  }
  return hash(seed, 0x9b) % 60 === 0 ? { ...about, status: 5, encodeProgress: 0 } : about;
}
