/** Video libraries: their listing with the keys that open them, and the figures of each as a whole. */
import { dayMs, doneOf, monthSoFar, weekdayShare } from '../days.ts';
import { hexadecimal, nth, streams } from '../entities.ts';
import { coreApi, ofEach } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request, type Target } from '../kind.ts';
import { coreObjectPaging, listing } from '../paging.ts';
import { hash, magnitude, text, unit } from '../random.ts';
import { pullZoneOfLibrary } from './pull-zone.ts';
import type { Libraries } from './video-storage.ts';

export type VideoLibrary = ReturnType<typeof createLibrary>;

export interface VideoLibraries {
  readonly videoLibraries: readonly VideoLibrary[];
}

export const videoLibrary = {
  kind: 'video_library',
  create: (seed, _sizes, { libraryIds }) => ({
    videoLibraries: libraryIds.map((libraryId, index) => createLibrary(seed, index, libraryId)),
  }),
  ...coreApi,
  path: '/videolibrary',
  traits: {
    field: 'Items',
    list: true,
    ids: ['Id', 'ApiKey'],
    names: ['Name'],
    number: 'VideoCount',
    wholeNumbers: true,
    instants: ['DateCreated', 'AppleFairPlayDrm.CertificateExpirationDate'],
  },
  pages: ({ videoLibraries, videos }, keys) => {
    const sizes = new Map<string, { videos: number; bytes: number }>();
    for (const { libraryId, originalBytes, renditions } of videos) {
      const size = sizes.get(libraryId) ?? { videos: 0, bytes: 0 };
      const encoded = renditions.reduce((sum, { bytes }) => sum + bytes, 0);
      sizes.set(libraryId, { videos: size.videos + 1, bytes: size.bytes + originalBytes + encoded });
    }
    return listing(coreObjectPaging, videoLibraries, idOf, (library, { nowMs, nameOf }) => {
      const { seed, index, libraryId, name, pullZoneId, hasTranscribing, hasDrm } = library;
      return {
        Id: jsonInteger(libraryId),
        Name: nameOf(libraryId, name),
        VideoCount: sizes.get(libraryId)?.videos ?? 0,
        TrafficUsage: monthSoFar(nowMs, (day) => viewsOf(library, day, nowMs) * 48e6),
        StorageUsage: sizes.get(libraryId)?.bytes ?? 0,
        DateCreated: '2024-03-01T09:30:00',
        ReplicationRegions: ['UK', 'NY', 'SG', 'LA'].slice(0, 1 + (index % 4)),
        ApiKey: keys.libraries[libraryId],
        ReadOnlyApiKey: keys.readOnlyLibraries[libraryId],
        PullZoneId: jsonInteger(pullZoneId),
        StorageZoneId: 612_300 + 11 * index,
        EnableDRM: hasDrm,
        AppleFairPlayDrm: hasDrm ? certificate(hash(seed, 0x82), nowMs) : null,
        GoogleWidevineDrm: { Enabled: hasDrm, CertificateExpirationDate: null },
        ApiAccessKey: `sim-access-${libraryId}-key-${text(hash(seed, 0x83), 32, hexadecimal)}`,
        EnableTranscribing: hasTranscribing,
        MonthlyChargesPremiumEncoding: monthSoFar(nowMs, () => 0.25),
        MonthlyChargesEnterpriseDrm: 0,
        // 0.1 dollars a minute.
        MonthlyChargesTranscribing: hasTranscribing
          ? monthSoFar(nowMs, (day) => transcribedSeconds(library, day, nowMs)) / 600
          : 0,
      };
    });
  },
  section: 'video_libraries',
  targets: ({ videoLibraries }) => videoLibraries.map(targetOf),
} as const satisfies Kind<unknown, VideoLibraries, Libraries>;

const idOf = ({ libraryId }: VideoLibrary) => libraryId;
const libraryNames = ['marketing', 'training', 'support', 'events', 'product'] as const;

/** A library as a target of every kind that is about one. */
export function targetOf({ libraryId: id, name }: VideoLibrary): Target {
  return { ids: { id }, name };
}

/** Answers for the library that is the first id of a request. */
export function ofLibrary(
  videoLibraries: readonly VideoLibrary[],
  answer: (library: VideoLibrary, request: Request) => unknown,
) {
  return ofEach(videoLibraries, idOf, (library, request) => ok(answer(library, request)));
}

function createLibrary(datasetSeed: number, index: number, libraryId: string) {
  const seed = hash(datasetSeed, streams.library, index);
  return {
    seed,
    index,
    libraryId,
    name: nth(libraryNames, index),
    pullZoneId: pullZoneOfLibrary(index),
    viewsPerDay: magnitude(300, 40_000, unit(seed, 0x81)),
    hasTranscribing: index % 3 !== 2,
    hasDrm: index % 2 === 0,
  };
}

/** Views of a day, counted from the epoch, by this time. */
export function viewsOf({ seed, viewsPerDay }: VideoLibrary, day: number, nowMs: number): number {
  const views = viewsPerDay * weekdayShare(day) * (0.75 + 0.5 * unit(seed, day, 0x84));
  return Math.floor(views * doneOf(day, nowMs));
}

/** Seconds of video that were transcribed on a day, counted from the epoch, by this time. */
export function transcribedSeconds({ seed }: VideoLibrary, day: number, nowMs: number): number {
  return Math.floor(weekdayShare(day) * 3_600 * unit(seed, day, 0x85) * doneOf(day, nowMs));
}

/** A certificate that is renewed every year, on its last day. */
function certificate(seed: number, nowMs: number) {
  const yearMs = 365 * dayMs;
  const offsetMs = (seed % 365) * dayMs;
  const expiresMs = (Math.floor((nowMs - offsetMs) / yearMs) + 1) * yearMs + offsetMs;
  return { Enabled: true, CertificateExpirationDate: new Date(expiresMs).toISOString().slice(0, 19) };
}
