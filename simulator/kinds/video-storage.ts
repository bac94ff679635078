/** Video libraries, their videos and the storage of each (`/library/{libraryId}/videos/{videoId}/storage`). */
import { listedIn, videoPaging } from '../answers.ts';
import { dayMs, hourMs } from '../days.ts';
import { count, entities, guid, hash, magnitude, nth, numberedId, unit } from '../entities.ts';
import { videoApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';

export type Video = ReturnType<typeof videosOf>[number];

export interface Videos {
  readonly libraryIds: readonly string[];
  readonly videos: readonly Video[];
}

interface Sizes {
  readonly libraries: number;
  readonly videosPerLibrary: number;
}

export const videoStorage = {
  kind: 'video_storage',
  section: 'video_storage',
  sizes: { libraries: [2, 4, 10], videosPerLibrary: [5, 250, 250] },
  create: (seed, { libraries, videosPerLibrary }: Sizes): Videos => {
    const libraryIds = count(libraries, (index) => numberedId(seed, 248_113 + 3_794 * index));
    return { libraryIds, videos: videosOf(seed, libraryIds, videosPerLibrary) };
  },
  ...videoApi,
  path: '/library/{library}/videos/{video}/storage',
  traits: { field: 'data', integer: 'originals', instants: true },
  answers: ({ videos }: Videos) => {
    const known = new Map(videos.map((one) => [one.id, one]));
    return ({ ids: [library = '', id = ''], nowMs, isRemoved }) => {
      const one = known.get(id.toLowerCase());
      const isThere = one?.libraryId === library && !isRemoved(library) && !isRemoved(one.id);
      return isThere ? storage(one, nowMs) : undefined;
    };
  },
  targets: ({ videos }: Videos) =>
    videos.map(({ libraryId, id, name }) => ({
      ids: { library_id: libraryId, video_id: id },
      name,
      library: libraryId,
    })),
  listing: {
    ...videoApi,
    path: '/library/{library}/videos?orderBy=date',
    traits: {
      field: 'items',
      ids: ['guid', 'videoLibraryId'],
      name: 'title',
      integer: 'storageSize',
      instants: true,
    },
    ...listedIn(videoPaging, videosIn, itemOf),
  },
} as const satisfies Kind;

export function videosIn({ videos }: Videos, library: string): readonly Video[] {
  return videos.filter(({ libraryId }) => libraryId === library);
}

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

const codecs = ['h264', 'h264', 'h264', 'av1', 'vp9'] as const;

function videosOf(datasetSeed: number, libraryIds: readonly string[], perLibrary: number) {
  return entities(datasetSeed, 5, libraryIds.length * perLibrary, (seed, index) => {
    const originalBytes = Math.round(magnitude(4e6, 9e9, unit(seed, 1)));
    return {
      id: guid(seed),
      libraryId: libraryIds[Math.floor(index / perLibrary)] as string,
      name: nth(videoNames, index, (turn) => `, part ${turn + 2}`),
      originalBytes,
      renditions: ladder.slice(0, 2 + (hash(seed, 2) % 4)).map((step, order) => ({
        name: step.name,
        codec: index % 6 === 5 && order === 0 ? null : codecs[index % 5],
        resolution: index % 9 === 8 && order === 0 ? null : step.resolution,
        size: Math.round(originalBytes * step.share * (0.9 + 0.2 * unit(seed, 3, order))),
      })),
    };
  });
}

/** A video as its library lists it. */
export function itemOf({ seed, libraryId, id, name, originalBytes }: Video, { nameOf }: Request) {
  return {
    videoLibraryId: Number(libraryId),
    guid: id,
    title: nameOf(id, name),
    dateUploaded: new Date(Date.UTC(2025, 0, 1) + (hash(seed, 0x68) % 400) * dayMs).toISOString(),
    views: hash(seed, 0x69) % 50_000,
    length: 20 + (hash(seed, 0x6a) % 3_000),
    status: 4,
    encodeProgress: 100,
    storageSize: originalBytes,
  };
}

/** The storage as it was when it was last computed. */
function storage({ seed, index, originalBytes, renditions }: Video, nowMs: number) {
  const everyMs = (6 + (hash(seed, 0x61) % 42)) * hourMs;
  const offsetMs = hash(seed, 0x62) % everyMs;
  const turn = Math.floor((nowMs - offsetMs) / everyMs);
  const moved = (bytes: number, figure: number) =>
    Math.round(bytes * (0.97 + 0.06 * unit(seed, turn, figure)));
  const encoded = Object.fromEntries(renditions.map(({ name, ...about }) => [name, about]));
  return ok({
    success: true,
    message: null,
    statusCode: 200,
    data: {
      // A few are still being encoded.
      encoded: index % 40 === 7 ? null : encoded,
      thumbnails: moved(180_000 + (hash(seed, 0x63) % 400_000), 0x64),
      previews: moved(originalBytes * 0.004, 0x65),
      originals: originalBytes,
      mp4Fallback: index % 3 === 0 ? 0 : Math.round(originalBytes * 0.31),
      miscellaneous: moved(24_000 + (hash(seed, 0x66) % 30_000), 0x67),
      calculatedAt: new Date(turn * everyMs + offsetMs).toISOString(),
    },
  });
}
