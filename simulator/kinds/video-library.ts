/** Video libraries: their listing with the keys that open them, and the figures of each as a whole. */
import { corePaging, listed } from '../answers.ts';
import { daily, dayMs, monthSoFar, secondOf } from '../days.ts';
import { entities, hash, magnitude, nth, ownName, secret, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';
import { pullZoneOfLibrary } from './pull-zone.ts';
import { type Videos, videosIn } from './video-storage.ts';

export type VideoLibrary = ReturnType<typeof librariesOf>[number];

export interface VideoLibraries {
  readonly videoLibraries: readonly VideoLibrary[];
}

export const videoLibrary = {
  kind: 'video_library',
  section: 'video_libraries',
  create: (seed, _sizes, dataset: Videos) => ({ videoLibraries: librariesOf(seed, dataset) }),
  ...coreApi,
  path: '/videolibrary',
  traits: { field: 'Items', ids: ['Id', 'ApiKey'], name: 'Name', integer: 'VideoCount', instants: true },
  ...listed('videoLibraries', corePaging, itemOf),
} as const satisfies Kind;

function librariesOf(datasetSeed: number, dataset: Videos) {
  return entities(datasetSeed, 8, dataset.libraryIds.length, (seed, index) => {
    const id = dataset.libraryIds[index] as string;
    const videos = videosIn(dataset, id);
    const sizes = videos.flatMap(({ originalBytes, renditions }) => [
      originalBytes,
      ...renditions.map(({ size }) => size),
    ]);
    return {
      id,
      name: ownName(datasetSeed, nth(['marketing', 'training', 'support', 'events', 'product'], index)),
      pullZoneId: pullZoneOfLibrary(datasetSeed, index),
      videos: videos.length,
      storedBytes: sizes.reduce((sum, size) => sum + size, 0),
      viewsPerDay: magnitude(300, 40_000, unit(seed, 0x81)),
      hasTranscribing: index % 3 !== 2,
      hasDrm: index % 2 === 0,
    };
  });
}

/** How many views each day has; today, up to `nowMs`. */
export function viewsOf(library: VideoLibrary, nowMs: number) {
  return daily(library, 0x84, library.viewsPerDay, nowMs);
}

/** How many seconds of video are transcribed on each day; of today, up to `nowMs`. */
export function transcribedSeconds(library: VideoLibrary, nowMs: number) {
  return daily(library, 0x85, 3_600, nowMs, 0, 1);
}

function itemOf(library: VideoLibrary, { keys, nowMs, nameOf }: Request) {
  const { seed, index, id, hasTranscribing, hasDrm } = library;
  const views = viewsOf(library, nowMs);
  return {
    Id: jsonInteger(id),
    Name: nameOf(id, library.name),
    VideoCount: library.videos,
    TrafficUsage: monthSoFar(nowMs, (day) => views(day) * 48e6),
    StorageUsage: library.storedBytes,
    DateCreated: '2024-03-01T09:30:00',
    ReplicationRegions: ['UK', 'NY', 'SG', 'LA'].slice(0, 1 + (index % 4)),
    ApiKey: keys.libraries[id],
    ReadOnlyApiKey: keys.readOnlyLibraries[id],
    ApiAccessKey: secret(`access-${id}`, hash(seed, 0x83)),
    PullZoneId: jsonInteger(library.pullZoneId),
    StorageZoneId: 612_300 + 11 * index,
    EnableDRM: hasDrm,
    AppleFairPlayDrm: hasDrm ? certificate(hash(seed, 0x82), nowMs) : null,
    GoogleWidevineDrm: { Enabled: hasDrm, CertificateExpirationDate: null },
    EnableTranscribing: hasTranscribing,
    MonthlyChargesPremiumEncoding: monthSoFar(nowMs, () => 0.25),
    MonthlyChargesEnterpriseDrm: 0,
    // 0.1 dollars a minute.
    MonthlyChargesTranscribing: hasTranscribing
      ? monthSoFar(nowMs, transcribedSeconds(library, nowMs)) / 600
      : 0,
  };
}

/** A certificate that is renewed every year, on its last day. */
function certificate(seed: number, nowMs: number) {
  const yearMs = 365 * dayMs;
  const offsetMs = (seed % 365) * dayMs;
  const expiresMs = (Math.floor((nowMs - offsetMs) / yearMs) + 1) * yearMs + offsetMs;
  return { Enabled: true, CertificateExpirationDate: secondOf(expiresMs) };
}
