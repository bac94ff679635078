/** Video libraries, their videos and the storage of each (reference 2.8, 4.5). */
import { hourMs } from '../days.ts';
import { count, grouped, guid, nth, streams } from '../entities.ts';
import { videoApi, videoEnvelope } from '../forms.ts';
import { type Answer, type Kind, ok, type Request } from '../kind.ts';
import { listing, videoPaging } from '../paging.ts';
import { hash, magnitude, unit } from '../random.ts';

export type Video = ReturnType<typeof createVideo>;

export interface Libraries {
  readonly libraryIds: readonly string[];
  readonly videos: readonly Video[];
}

export const videoStorage = {
  kind: 'video_storage',
  sizes: {
    small: { libraries: 2, videosPerLibrary: 5 },
    medium: { libraries: 4, videosPerLibrary: 250 },
    full: { libraries: 20, videosPerLibrary: 500 },
  },
  create: (seed, { libraries, videosPerLibrary }) => {
    const libraryIds = count(libraries, (index) => String(248_113 + 3_794 * index));
    return {
      libraryIds,
      videos: libraryIds.flatMap((libraryId, library) =>
        count(videosPerLibrary, (order) => createVideo(seed, library * videosPerLibrary + order, libraryId)),
      ),
    };
  },
  ...videoApi,
  path: '/library/{library}/videos/{video}/storage',
  traits: { field: 'data', number: 'originals', wholeNumbers: true, instants: ['calculatedAt'] },
  answers: ({ videos }) => {
    const keyOf = (libraryId: string, videoId: string) => `${libraryId}/${videoId.toLowerCase()}`;
    const known = new Map(videos.map((one) => [keyOf(one.libraryId, one.videoId), one]));
    return ({ ids: [libraryId = '', id = ''], nowMs, isRemoved }) => {
      const isGone = isRemoved(id) || isRemoved(libraryId);
      const one = isGone ? undefined : known.get(keyOf(libraryId, id));
      return one ? storage(one, nowMs) : videoEnvelope.notFound;
    };
  },
  listing: {
    ...videoApi,
    path: '/library/{library}/videos?orderBy=date',
    traits: {
      field: 'items',
      list: true,
      ids: ['guid', 'videoLibraryId'],
      names: ['title'],
      number: 'storageSize',
      wholeNumbers: true,
      instants: ['dateUploaded'],
    },
    pages: ({ videos }) => {
      const ofEach = grouped(videos, ({ libraryId }) => libraryId);
      return (request) => listing(videoPaging, ofEach.get(request.ids[0] ?? '') ?? [], idOf, listed)(request);
    },
  },
  section: 'video_storage',
  targets: ({ videos }) =>
    videos.map(({ libraryId, videoId, name }) => ({
      ids: { library_id: libraryId, video_id: videoId },
      name,
      library: libraryId,
    })),
} as const satisfies Kind<{ libraries: number; videosPerLibrary: number }, Libraries>;

export const idOf = ({ videoId }: Video) => videoId;
const videoNames = (
  'Spring collection trailer, How a boot is made, Store opening in Ljubljana, Care guide: leather, ' +
  'Onboarding 1: the till, Onboarding 2: returns, Safety in the warehouse, Quarterly all-hands'
).split(', ');

const ladder = [
  { name: '240p', resolution: '426x240', share: 0.04 },
  { name: '360p', resolution: '640x360', share: 0.08 },
  { name: '480p', resolution: '854x480', share: 0.13 },
  { name: '720p', resolution: '1280x720', share: 0.24 },
  { name: '1080p', resolution: '1920x1080', share: 0.42 },
] as const;

function createVideo(datasetSeed: number, index: number, libraryId: string) {
  const seed = hash(datasetSeed, streams.video, index);
  const originalBytes = Math.round(magnitude(4e6, 9e9, unit(seed, 1)));
  const codec = index % 5 === 3 ? 'av1' : index % 5 === 4 ? 'vp9' : 'h264';
  const steps = 2 + (hash(seed, 2) % 4);
  return {
    seed,
    index,
    libraryId,
    videoId: guid(seed),
    name: nth(videoNames, index, (turn) => `, part ${turn + 2}`),
    originalBytes,
    renditions: ladder.slice(0, steps).map((step, order) => ({
      name: step.name,
      codec: index % 6 === 5 && order === 0 ? null : codec,
      resolution: index % 9 === 8 && order === 0 ? null : step.resolution,
      bytes: Math.round(originalBytes * step.share * (0.9 + 0.2 * unit(seed, 3, order))),
    })),
  };
}

/** A video as its library lists it. */
export function listed({ seed, libraryId, videoId, name, originalBytes }: Video, { nameOf }: Request) {
  return {
    videoLibraryId: Number(libraryId),
    guid: videoId,
    title: nameOf(videoId, name),
    dateUploaded: new Date(Date.UTC(2025, 0, 1) + (hash(seed, 0x68) % 400) * 24 * hourMs).toISOString(),
    views: hash(seed, 0x69) % 50_000,
    length: 20 + (hash(seed, 0x6a) % 3_000),
    status: 4,
    encodeProgress: 100,
    storageSize: originalBytes,
    collectionId: '',
  };
}

/** The storage as it was when it was last computed. */
function storage(video: Video, nowMs: number): Answer {
  const { seed, index } = video;
  const everyMs = (6 + (hash(seed, 0x61) % 42)) * hourMs;
  const offsetMs = hash(seed, 0x62) % everyMs;
  const turn = Math.floor((nowMs - offsetMs) / everyMs);
  const moved = (bytes: number, figure: number) =>
    Math.round(bytes * (0.97 + 0.06 * unit(seed, turn, figure)));
  const encoded: Record<string, unknown> = {};
  for (const { name, codec, resolution, bytes } of video.renditions) {
    encoded[name] = { codec, resolution, size: bytes };
  }
  return ok({
    success: true,
    message: null,
    statusCode: 200,
    data: {
      // A few are still being encoded.
      encoded: index % 40 === 7 ? null : encoded,
      thumbnails: moved(180_000 + (hash(seed, 0x63) % 400_000), 0x64),
      previews: moved(video.originalBytes * 0.004, 0x65),
      originals: video.originalBytes,
      mp4Fallback: index % 3 === 0 ? 0 : Math.round(video.originalBytes * 0.31),
      miscellaneous: moved(24_000 + (hash(seed, 0x66) % 30_000), 0x67),
      calculatedAt: new Date(turn * everyMs + offsetMs).toISOString(),
    },
  });
}
