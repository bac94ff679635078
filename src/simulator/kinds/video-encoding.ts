/** The videos of a library with the state of their encoding. One in ten is under way, one in sixty has failed. */
import { hourMs, minuteMs } from '../days.ts';
import { grouped } from '../entities.ts';
import { videoApi } from '../forms.ts';
import type { Kind, Request } from '../kind.ts';
import { listing, videoPaging } from '../paging.ts';
import { hash } from '../random.ts';
import { targetOf, type VideoLibraries } from './video-library.ts';
import { idOf, type Libraries, listed, type Video } from './video-storage.ts';

export const videoEncoding = {
  kind: 'video_encoding',
  ...videoApi,
  path: '/library/{library}/videos',
  traits: {
    field: 'items',
    list: true,
    ids: ['guid', 'videoLibraryId'],
    names: ['title'],
    number: 'status',
    instants: ['dateUploaded'],
  },
  pages: ({ videos }) => {
    const ofEach = grouped(videos, ({ libraryId }) => libraryId);
    return (request) => listing(videoPaging, ofEach.get(request.ids[0] ?? '') ?? [], idOf, encoded)(request);
  },
  section: 'video_encoding',
  targets: ({ videoLibraries }) =>
    videoLibraries.map((library) => ({ ...targetOf(library), library: library.libraryId })),
} as const satisfies Kind<unknown, object, Libraries & VideoLibraries>;

function encoded(video: Video, request: Request): object {
  const { seed, index } = video;
  const { nowMs } = request;
  const turn = hash(seed, Math.floor(nowMs / hourMs), 0x9a);
  const about = listed(video, request);
  if (index % 10 === 2) {
    const dateUploaded = new Date(nowMs - (1 + (turn % 40)) * minuteMs).toISOString();
    return { ...about, status: 1 + (turn % 3), encodeProgress: turn % 100, dateUploaded };
  }
  return hash(seed, 0x9b) % 60 === 0 ? { ...about, status: 5, encodeProgress: 0 } : about;
}
